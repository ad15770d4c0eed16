import type { AppContext } from "../context.ts";
import { notificationHours } from "../contract/notifications.ts";
import { unlessAborted } from "../core/abort.ts";
import { LookLoop } from "../core/look-loop.ts";
import { retryTransient } from "../core/retry.ts";
import type { NotificationOutcome } from "../telemetry/metrics.ts";
import type { Channel, SendFailure } from "./channel.ts";
import { compose } from "./compose.ts";
import type { ProfileState } from "./profile.ts";
import type { ClaimedSend } from "./queue-store.ts";
import { quietUntil } from "./quiet-hours.ts";

/** How often the queue is read. */
const lookEveryMs = 1_000;
/** The most notifications that are sent at once. */
const maximumSends = 8;
/** For one try. Shorter than the lease. */
const tryMs = 60_000;

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
/** The waits after each failed try; the last one repeats. */
const waits = [10 * second, minute, 5 * minute, 30 * minute, 2 * hour];
/** Waits are longer by up to this share, so that notifications that failed together do not return together. */
const spread = 0.1;

/**
 * Notifies people. Every server that leads a host does, each what it takes first. All its knowledge is in the database:
 * what a server that died had begun, another one repeats.
 */
export class Notifier {
  readonly #context: AppContext;
  readonly #loop: LookLoop;
  readonly #sending = new Map<string, Promise<void>>();

  constructor(context: AppContext) {
    this.#context = context;
    this.#loop = new LookLoop(
      lookEveryMs,
      () => this.#look(),
      (error) => context.log("the notifications could not be read; it is tried again", { error }),
    );
  }

  begin(): void {
    this.#loop.begin();
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
    await Promise.all(this.#sending.values());
  }

  async #look(): Promise<void> {
    const { inbox, notificationQueue } = this.#context.stores;
    await inbox.collect();
    for (const personId of await notificationQueue.duePeople()) {
      if (this.#loop.stopped.aborted) return;
      await this.#gather(personId);
    }
    const free = maximumSends - this.#sending.size;
    if (free <= 0) return;
    for (const send of await notificationQueue.claim(free)) this.#begin(send);
  }

  async #gather(personId: string): Promise<void> {
    const { stores, profiles } = this.#context;
    const profile = await stores.profiles.find(personId);
    const quiet = quietUntil(profile, Date.now());
    if (quiet !== null) return stores.notificationQueue.hold(personId, new Date(quiet));
    const ready: Channel[] = [];
    for (const channel of profiles.channels) if ((await channel.missing(profile)) === null) ready.push(channel);
    const names = ready.map(({ name }) => name);
    await stores.notificationQueue.gather(personId, names);
  }

  #begin(send: ClaimedSend): void {
    const { id } = send;
    const sending = this.#send(send)
      .catch((error: unknown) => {
        if (!this.#loop.stopped.aborted) this.#context.log("a notification is repeated", { error });
      })
      .finally(() => {
        this.#sending.delete(id);
        this.#loop.wake();
      });
    this.#sending.set(id, sending);
  }

  async #send(send: ClaimedSend): Promise<void> {
    const { stores, profiles } = this.#context;
    const { id, personId, events } = send;
    const profile = await stores.profiles.find(personId);
    const quiet = quietUntil(profile, Date.now());
    if (quiet !== null) return stores.notificationQueue.release(send, new Date(quiet));
    const channel = profiles.channels.find(({ name }) => name === send.channel);
    const wanted = await stores.notificationQueue.wanted(personId, events);
    if (!channel || wanted.length === 0 || (await channel.missing(profile)) !== null) {
      return stores.notificationQueue.remove(id);
    }
    const reply = wanted.length === 1 ? await stores.notificationQueue.replyOf(wanted[0]!) : null;
    const failure = await this.#try(channel, profile, compose(id, wanted, reply));
    if (failure === "stopped") return stores.notificationQueue.release(send, new Date());
    const outcome = await this.#store(() => this.#settle(send, failure));
    this.#context.metrics.notificationTried(send.channel, outcome);
  }

  async #try(
    channel: Channel,
    profile: ProfileState,
    notification: ReturnType<typeof compose>,
  ): Promise<SendFailure | "stopped"> {
    const late = AbortSignal.timeout(tryMs);
    const { stopped } = this.#loop;
    try {
      const ending = AbortSignal.any([late, stopped]);
      return await unlessAborted(channel.send(profile, notification, ending), ending);
    } catch (error) {
      if (stopped.aborted) return "stopped";
      if (!late.aborted) throw error;
      return { message: `There was no answer within ${tryMs / 1000} s.`, isFinal: false };
    }
  }

  async #settle(send: ClaimedSend, failure: SendFailure): Promise<NotificationOutcome> {
    const { stores, log } = this.#context;
    const { id, personId, channel, createdAt, attempts } = send;
    if (failure === null) {
      await stores.notificationQueue.remove(id);
      await stores.profiles.setFailure(personId, channel, null);
      return "sent";
    }
    log("a notification was not sent", { channel, reason: failure.message, attempts });
    const waitMs = waits[Math.min(attempts, waits.length) - 1]! * (1 + spread * Math.random());
    const isOver = Date.now() + waitMs > createdAt.getTime() + notificationHours * hour;
    if (!failure.isFinal && !isOver) {
      await stores.notificationQueue.retry(send, waitMs);
      return "failed";
    }
    await stores.notificationQueue.remove(id);
    await stores.profiles.setFailure(personId, channel, failure.message);
    return "given_up";
  }

  /** Stores a result also after a short absence of the database. */
  #store<Result>(write: () => Promise<Result>): Promise<Result> {
    if (this.#loop.stopped.aborted) return write();
    return retryTransient(write, this.#loop.stopped, (error) =>
      this.#context.log("the result of a notification could not be stored; trying again", { error }),
    );
  }
}
