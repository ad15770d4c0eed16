import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { setRecent } from "../recent.ts";
import { clientOf } from "./rate-limits.ts";

/** The longest delay. */
export const maximumDelayMs = 2_000;
/** How many accounts and addresses are counted at once. */
const maximumHolders = 10_000;
/** Refusals of one account: 50 a second after a burst of 100. */
const refusals = { everyMs: 20, burst: 100 };
/** KiB of JSON from one account: 2 MiB a second after a burst of 8 MiB. */
const kibibytes = { everyMs: 1000 / 2048, burst: 8192 };

/**
 * Delays refusals (4xx) of an account that causes more than 50 a second, by up to two seconds, so that a client which
 * repeats refused requests as fast as it can does not occupy the thread that all share. Other answers are never delayed.
 */
export function paceRefusals(app: FastifyInstance): void {
  const pace = new Pace(refusals);
  const closing = signalOfClosing(app);
  app.addHook("onSend", async (request, { statusCode }) => {
    if (statusCode < 400 || statusCode >= 500) return;
    await wait(pace.delay(holderOf(request), performance.now(), 1), closing);
  });
}

/**
 * Delays the JSON bodies of an account that sends more than 2 MiB a second, by up to two seconds: receiving and parsing
 * them occupies the thread that all share, and their memory makes the garbage collector stop it for 10 to 20 ms. A body of unknown size counts as the largest that is allowed.
 */
export function paceBodies(app: FastifyInstance): void {
  const pace = new Pace(kibibytes);
  const closing = signalOfClosing(app);
  app.addHook("preParsing", async (request) => {
    const { headers, routeOptions } = request;
    if (routeOptions.config.route?.takesBytes === "stream") return;
    const isOfUnknownSize = headers["transfer-encoding"] !== undefined;
    const bytes = isOfUnknownSize ? (routeOptions.bodyLimit ?? 0) : Number(headers["content-length"] ?? 0);
    await wait(pace.delay(holderOf(request), performance.now(), bytes / 1024), closing);
  });
}

/** When each holder's work is due: evenly after a burst. */
export class Pace {
  readonly #everyMs: number;
  readonly #burstMs: number;
  /** When each holder has used up what it was given, ms; the last used is the last. */
  readonly #due = new Map<string, number>();

  /** A unit each `everyMs`, and `burst` units at once. */
  constructor({ everyMs, burst }: { everyMs: number; burst: number }) {
    this.#everyMs = everyMs;
    this.#burstMs = everyMs * burst;
  }

  /** How long to delay `units` that are ready at `now`, ms. */
  delay(holder: string, now: number, units: number): number {
    const earliest = now - this.#burstMs;
    const due = Math.max(this.#due.get(holder) ?? earliest, earliest) + units * this.#everyMs;
    const bounded = Math.min(due, now + maximumDelayMs);
    setRecent(this.#due, holder, bounded, maximumHolders);
    return Math.max(0, bounded - now);
  }
}

/** The holder of a request: its account or, before the caller is known, its client's address. */
function holderOf({ caller, ip }: FastifyRequest): string {
  return caller?.accountId ?? clientOf(ip);
}

/** Aborted when the server begins to close: nothing is delayed any longer. */
function signalOfClosing(app: FastifyInstance): AbortSignal {
  const closing = new AbortController();
  app.addHook("preClose", async () => closing.abort());
  return closing.signal;
}

async function wait(delayMs: number, signal: AbortSignal): Promise<void> {
  if (delayMs > 0) await sleep(delayMs, undefined, { ref: false, signal }).catch(() => {});
}
