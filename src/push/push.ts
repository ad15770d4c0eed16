import { createECDH, createHash } from "node:crypto";
import webPush from "web-push";
import type { AppContext } from "../context.ts";
import { BerthError } from "../contract/errors.ts";
import { isUuid } from "../contract/ids.ts";
import type { CreatePushSubscription } from "../contract/push.ts";
import type { Attempt } from "../core/http/attempt.ts";
import type { Caller } from "../core/http/caller.ts";
import { inParallel } from "../core/in-parallel.ts";
import { type Channel, failureOfCall, type Notification, type SendFailure } from "../notifications/channel.ts";
import type { ProfileState } from "../notifications/profile.ts";
import { providerKeys } from "../sign-in/provider-key-store.ts";
import { messageOf } from "./message.ts";
import type { PushSubscriptionState } from "./store.ts";

/** How long a push service keeps a message for a browser that is away, in seconds. */
const keptSeconds = 24 * 60 * 60;
/** The most browsers of a person that are sent to at once: the calls of one owner are bounded. */
const maximumAtOnce = 4;

/** The server's keys for push services (VAPID, RFC 8292), in base64url. */
interface ServerKeys {
  publicKey: string;
  privateKey: string;
}

/** The browsers that show people's notifications, by Web Push (RFC 8030). */
export class Push implements Channel {
  readonly name = "push";
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

  async missing({ personId }: ProfileState): Promise<string | null> {
    const subscriptions = await this.#context.stores.push.list(personId, await this.publicKey());
    return subscriptions.length > 0 ? null : "No browser shows notifications. Turn them on in the dashboard.";
  }

  /** Sends to all browsers. It fails if none takes it. */
  async send({ personId }: ProfileState, notification: Notification, signal: AbortSignal): Promise<SendFailure> {
    const keys = await this.#serverKeys();
    const subscriptions = await this.#context.stores.push.list(personId, keys.publicKey);
    const results = await inParallel(subscriptions, maximumAtOnce, (each) =>
      this.#sendTo(each, personId, notification, keys, signal),
    );
    if (results.includes(null)) return null;
    return results.find((failure) => !failure!.isFinal) ?? results[0] ?? goneFailure;
  }

  async #sendTo(
    { id, endpoint, p256dh, auth }: PushSubscriptionState,
    personId: string,
    notification: Notification,
    { publicKey, privateKey }: ServerKeys,
    signal: AbortSignal,
  ): Promise<SendFailure> {
    const { outbound, stores, address } = this.#context;
    const subscription = { endpoint, keys: { p256dh, auth } };
    const { headers, body } = webPush.generateRequestDetails(subscription, messageOf(notification), {
      vapidDetails: { subject: subjectOf(address.public), publicKey, privateKey },
      TTL: keptSeconds,
      urgency: notification.isUrgent ? "high" : "normal",
      topic: createHash("sha256").update(notification.tag).digest("base64url").slice(0, 32),
    });
    const call = { accountId: personId, url: endpoint, headers: textOf(headers), body: body!, signal };
    const failure = await outbound.post(call).then(
      ({ status }) => failureOf(status),
      (error: unknown) => failureOfCall(error, signal),
    );
    // The browser has unsubscribed (RFC 8030, 7.3).
    if (failure === goneFailure) await stores.push.remove(personId, id);
    else if (failure === null) await stores.push.noteSent(id);
    else await stores.push.noteFailed(id, failure.message);
    return failure;
  }

  /** A failure is forgotten: the next use reads them again. */
  #serverKeys(): Promise<ServerKeys> {
    const { database, sealer } = this.#context;
    this.#keys ??= providerKeys(database, sealer, "push", async () => webPush.generateVAPIDKeys()).then(
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

const goneFailure: SendFailure = { message: "The browser has unsubscribed.", isFinal: true };

function failureOf(status: number): SendFailure {
  if (status >= 200 && status < 300) return null;
  if (status === 404 || status === 410) return goneFailure;
  return { message: `The push service answered ${status}.`, isFinal: status < 500 && status !== 429 };
}

function textOf(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]));
}
