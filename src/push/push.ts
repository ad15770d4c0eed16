import { createECDH, createHash } from "node:crypto";
import { generateRequestDetails, generateVAPIDKeys } from "web-push";
import type { AppContext } from "../context.ts";
import { BerthError } from "../contract/errors.ts";
import { isUuid } from "../contract/ids.ts";
import type { CreatePushSubscription } from "../contract/push.ts";
import type { Attempt } from "../core/http/attempt.ts";
import type { Caller } from "../core/http/caller.ts";
import { CallFailed } from "../outbound/outbound.ts";
import { providerKeys } from "../sign-in/provider-key-store.ts";
import type { PushSubscriptionState } from "./store.ts";

/** How long a push service keeps a message for a browser that is away, in seconds. */
const keptSeconds = 24 * 60 * 60;
/** The most bytes of a message: push services take 4,096 encrypted (RFC 8030, 7.2), and padding takes some. */
const maximumBytes = 3_000;

/** A notification in a browser. `url` is a path of the dashboard. A later one with the same tag replaces it. */
export interface PushMessage {
  title: string;
  body: string;
  url: string;
  tag: string;
}

/** The server's keys for push services (VAPID, RFC 8292), in base64url. */
interface ServerKeys {
  publicKey: string;
  privateKey: string;
}

/** Web Push: the browsers that show people's notifications. */
export class Push {
  readonly #context: AppContext;
  #keys: Promise<ServerKeys> | null = null;

  constructor(context: AppContext) {
    this.#context = context;
  }

  /** The key that browsers subscribe with. */
  async publicKey(): Promise<string> {
    return (await this.#serverKeys()).publicKey;
  }

  /** Newest first. */
  async list({ personId }: Caller): Promise<PushSubscriptionState[]> {
    return this.#context.stores.push.list(personId!, await this.publicKey());
  }

  /** Whether a browser shows the person's notifications. */
  async reaches(personId: string): Promise<boolean> {
    return (await this.#context.stores.push.list(personId, await this.publicKey())).length > 0;
  }

  /** Throws `request_invalid`. */
  async subscribe(
    { personId }: Caller,
    asked: CreatePushSubscription,
    { resourceId }: Attempt,
  ): Promise<PushSubscriptionState> {
    await this.#context.outbound.requireAllowed(asked.endpoint, "endpoint");
    requirePoint(asked.keys.p256dh);
    const endpoint = new URL(asked.endpoint).href;
    return this.#context.stores.push.put(personId!, resourceId, await this.publicKey(), { ...asked, endpoint });
  }

  /** Throws `push_subscription_not_found`. */
  async unsubscribe({ personId }: Caller, id: string): Promise<void> {
    if (isUuid(id) && (await this.#context.stores.push.remove(personId!, id))) return;
    throw new BerthError("push_subscription_not_found", "There is no push subscription with this id.");
  }

  /**
   * Sends a message to all browsers of a person. Returns how many took it, and whether it should be sent again: none did,
   * and for one the reason may pass.
   */
  async send(personId: string, message: PushMessage): Promise<{ sent: number; again: boolean }> {
    const keys = await this.#serverKeys();
    const subscriptions = await this.#context.stores.push.list(personId, keys.publicKey);
    const results = await Promise.all(subscriptions.map((each) => this.#sendTo(each, personId, message, keys)));
    const sent = results.filter((result) => result === "sent").length;
    return { sent, again: sent === 0 && results.includes("later") };
  }

  async #sendTo(
    { id, endpoint, p256dh, auth }: PushSubscriptionState,
    personId: string,
    message: PushMessage,
    { publicKey, privateKey }: ServerKeys,
  ): Promise<"sent" | "never" | "later"> {
    const { outbound, stores, address } = this.#context;
    try {
      const { headers, body } = generateRequestDetails({ endpoint, keys: { p256dh, auth } }, shortened(message), {
        vapidDetails: { subject: subjectOf(address.public), publicKey, privateKey },
        TTL: keptSeconds,
        urgency: "high",
        topic: createHash("sha256").update(message.tag).digest("base64url").slice(0, 32),
      });
      const { status } = await outbound.post({
        accountId: personId,
        url: endpoint,
        headers: textOf(headers),
        body: body!,
      });
      if (status >= 200 && status < 300) {
        await stores.push.noteSent(id);
        return "sent";
      }
      // The browser has unsubscribed (RFC 8030, 7.3).
      if (status === 404 || status === 410) await stores.push.remove(personId, id);
      else await stores.push.noteFailed(id, `The push service answered ${status}.`);
      return status === 429 || status >= 500 ? "later" : "never";
    } catch (error) {
      if (!(error instanceof CallFailed)) throw error;
      await stores.push.noteFailed(id, error.message);
      return error.fault === "refused" ? "never" : "later";
    }
  }

  /** A failure is forgotten: the next use reads them again. */
  #serverKeys(): Promise<ServerKeys> {
    const { database, sealer } = this.#context;
    this.#keys ??= providerKeys(database, sealer, "push", async () => generateVAPIDKeys()).then(
      ([newest]) => newest!,
      (error: unknown) => {
        this.#keys = null;
        throw error;
      },
    );
    return this.#keys;
  }
}

/** Throws `request_invalid` for bytes that are no point of the curve: nothing could be encrypted for them. */
function requirePoint(p256dh: string): void {
  const own = createECDH("prime256v1");
  own.generateKeys();
  try {
    own.computeSecret(Buffer.from(p256dh, "base64url"));
  } catch {
    throw new BerthError("request_invalid", "keys.p256dh: This is not a public key of the curve P-256.");
  }
}

/** The contact of the sender for push services: an https address or a mail address (RFC 8292, 2.1). */
function subjectOf(publicUrl: string): string {
  return publicUrl.startsWith("https:") ? publicUrl : "mailto:berth@berth.invalid";
}

/** As JSON, with a shorter body if it would be too long. */
function shortened(message: PushMessage): string {
  const text = JSON.stringify(message);
  const extra = Buffer.byteLength(text) - maximumBytes;
  if (extra <= 0) return text;
  // A character of JSON has up to six bytes, as in \u001f.
  const characters = [...message.body];
  const left = Math.max(0, characters.length - extra);
  return JSON.stringify({ ...message, body: `${characters.slice(0, left).join("")}…` });
}

function textOf(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]));
}
