import { randomUUID } from "node:crypto";
import { createLink, hashLinkToken } from "../accounts/links.ts";
import type { AppContext } from "../context.ts";
import { BerthError } from "../contract/errors.ts";
import type { AgentNotify, ChangeProfile, Notify, Profile, TestResult } from "../contract/notifications.ts";
import { routes } from "../contract/routes.ts";
import type { Caller } from "../core/http/caller.ts";
import type { Channel } from "./channel.ts";
import { testNotification } from "./compose.ts";
import { Mail } from "./mail.ts";
import { MailLimits } from "./mail-limits.ts";
import { Ntfy } from "./ntfy.ts";
import type { ProfileState } from "./profile.ts";
import { zoneOf } from "./quiet-hours.ts";

/** For a mail while the caller waits. */
const sendMs = 30_000;
const linkMs = 24 * 3_600_000;

/** How people are notified, by their own choice. Callers are people. */
export class Profiles {
  readonly #context: AppContext;
  readonly #limits: MailLimits;
  readonly #mail: Mail;
  /** All ways to reach people. */
  readonly channels: readonly Channel[];

  constructor(context: AppContext) {
    this.#context = context;
    const { config, sealer, address, outbound, push, stores, database } = context;
    this.#limits = new MailLimits(database);
    this.#mail = new Mail(config.mail, sealer, address);
    this.channels = [push, this.#mail, new Ntfy(outbound, stores.profiles, address)];
  }

  async view({ personId }: Caller): Promise<Profile> {
    const profile = await this.#context.stores.profiles.find(personId!);
    const { email, emailVerified, pendingEmail, emailNotifications, timeZone, quietHours, notify, ntfyUrl } = profile;
    const missing = await Promise.all(this.channels.map((channel) => channel.missing(profile)));
    return {
      ...{ email, emailVerified, pendingEmail, emailNotifications, timeZone, quietHours, notify },
      effectiveTimeZone: zoneOf(profile),
      ntfy: ntfyUrl === null ? null : { url: ntfyUrl, hasToken: profile.ntfyToken !== null },
      channels: this.channels.map(({ name }, place) => ({
        channel: name,
        ready: missing[place] === null,
        missing: missing[place]!,
        failure: profile.failures[name] ?? null,
      })),
    };
  }

  /** Throws `request_invalid`, `email_not_configured`, `email_not_sent`, `rate_limited`. */
  async change(caller: Caller, { email, ntfy, ...rest }: ChangeProfile): Promise<Profile> {
    const { stores, outbound } = this.#context;
    const personId = caller.personId!;
    if (ntfy) await outbound.requireAllowed(ntfy.url, "ntfy.url");
    if (email != null) await this.#confirm(await stores.profiles.find(personId), email);
    const fields = Object.entries({ ...rest, ntfy, email: email === null ? null : undefined });
    await stores.profiles.change(personId, Object.fromEntries(fields.filter(([, value]) => value !== undefined)));
    return this.view(caller);
  }

  /** Throws `email_link_ended`. */
  async verifyEmail(caller: Caller, token: string): Promise<Profile> {
    if (await this.#context.stores.profiles.verifyEmail(caller.personId!, hashLinkToken(token)))
      return this.view(caller);
    throw new BerthError(
      "email_link_ended",
      "The link was used, replaced by a newer one, or has expired, or it is another person's. Set the address again.",
    );
  }

  /** Turns mail off. Whether the token was valid. */
  async unsubscribe(token: string): Promise<boolean> {
    const personId = this.#mail.unsubscribed(token);
    if (personId === null) return false;
    await this.#context.stores.profiles.unsubscribe(personId);
    return true;
  }

  /** Throws `rate_limited`. */
  async test({ personId }: Caller): Promise<TestResult> {
    requireAllowed(await this.#limits.takeTest(personId!), "Too many tests.");
    const profile = await this.#context.stores.profiles.find(personId!);
    const channels = this.channels.map(async (channel) => {
      const error = (await channel.missing(profile)) ?? (await this.#sendTest(channel, profile));
      return { channel: channel.name, sent: error === null, error };
    });
    return { channels: await Promise.all(channels) };
  }

  /** Throws `agent_not_found`, `agent_private`. */
  async setAgent(caller: Caller, name: string, notify: Notify): Promise<AgentNotify> {
    const agent = await this.#context.agents.find(caller, name, routes.setAgentNotify);
    await this.#context.stores.profiles.setAgent(caller.personId!, caller.accountId, agent.id, notify);
    return { agent: agent.name, notify };
  }

  /** Throws `agent_not_found`, `agent_private`. */
  async removeAgent(caller: Caller, name: string): Promise<void> {
    const agent = await this.#context.agents.find(caller, name, routes.deleteAgentNotify);
    await this.#context.stores.profiles.removeAgent(caller.personId!, agent.id);
  }

  /** By name. */
  agents(caller: Caller, limit: number, after: string | null): Promise<AgentNotify[]> {
    return this.#context.stores.profiles.agents(caller, limit, after);
  }

  /** Sends a link to an address that the person has not verified. */
  async #confirm({ personId, email: current, emailVerified }: ProfileState, email: string): Promise<void> {
    if (emailVerified && current?.toLowerCase() === email.toLowerCase()) return;
    if (!this.#mail.isConfigured) {
      const message = "The server sends no mail: its operator sets BERTH_SMTP_URL and BERTH_MAIL_FROM.";
      throw new BerthError("email_not_configured", message);
    }
    requireAllowed(await this.#limits.takeLink(personId, email), "Too many links were sent.");
    const { token, tokenHash } = createLink(linkMs);
    const failure = await this.#mail.sendLink(email, token, AbortSignal.timeout(sendMs)).catch(asLate);
    if (failure !== null) throw new BerthError("email_not_sent", `The link was not sent. ${failure.message}`);
    await this.#context.stores.profiles.awaitEmail(personId, email, tokenHash);
  }

  /** The failure's message; null: it was sent. */
  async #sendTest(channel: Channel, profile: ProfileState): Promise<string | null> {
    const signal = AbortSignal.timeout(sendMs);
    const failure = await channel.send(profile, testNotification(randomUUID()), signal).catch(asLate);
    if (failure === null || failure.isFinal) {
      await this.#context.stores.profiles.setFailure(profile.personId, channel.name, failure?.message ?? null);
    }
    return failure?.message ?? null;
  }
}

/** `send` rejects when its time is over. */
function asLate(): { message: string; isFinal: false } {
  return { message: `There was no answer within ${sendMs / 1000} s.`, isFinal: false };
}

function requireAllowed(waitMs: number | null, refusal: string): void {
  if (waitMs === null) return;
  const seconds = Math.ceil(waitMs / 1000);
  throw new BerthError("rate_limited", `${refusal} Again in ${seconds} s.`, {
    details: { retryAfterSeconds: seconds },
  });
}
