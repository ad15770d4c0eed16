import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { AcmeConfig } from "../config/config.ts";
import type { AppContext } from "../context.ts";
import { isTransient, retryTransient } from "../core/retry.ts";
import { type Certificate, checkKeyPair, day, describe, type KeyPair } from "../https/certificate.ts";
import type { CertificateSource } from "../https/certificate-source.ts";
import type { SecureListener } from "../https/secure-listener.ts";
import { PendingChallenges } from "./challenges.ts";
import { CertificateOrder } from "./order.ts";
import { OrderError, printable, reasonFor } from "./order-error.ts";
import { orderDelay, renewalOf } from "./schedule.ts";
import type { AcmeStore, ChallengeResponse, OrderState } from "./store.ts";

/** How often the database is read for the certificate that another server has ordered. */
const checkMs = 5_000;
const orderMs = 5 * 60_000;
/** A server that crashes keeps the others from ordering for this long. */
const leaseMs = 60_000;
const extendMs = 10_000;
/** Servers' clocks may differ. */
const clockMs = 3_600_000;

/** Begins the status after a failed order. */
export const failedOrder = "The last order failed";

/** The certificate that the service orders from a directory (RFC 8555). One server orders, and all use it. */
export class Acme implements CertificateSource {
  readonly #config: AcmeConfig;
  readonly #store: AcmeStore;
  readonly #listener: SecureListener;
  readonly #logger: Logger;
  readonly #version: string;
  readonly #challenges: PendingChallenges;
  readonly #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #state: OrderState | null = null;
  #checking: Promise<void> | null = null;
  /** Whether the operator wants an order now, whatever the delay after a failed one. */
  #isForced = false;
  /** Why the last check could not be made; null: it was. */
  #fault: string | null = null;

  constructor({ stores, logger, version }: AppContext, config: AcmeConfig, listener: SecureListener) {
    this.#config = config;
    this.#store = stores.acme;
    this.#listener = listener;
    this.#logger = logger;
    this.#version = version;
    this.#challenges = new PendingChallenges(stores.acme);
  }

  async load(): Promise<void> {
    this.#state = await this.#store.state(this.#config);
    const newer = this.#newer(this.#state.pair);
    if (newer) this.#listener.use(newer);
  }

  start(): void {
    const { name, directory } = this.#config;
    if (!this.#listener.certificate) {
      this.#logger.warn({ name, directory }, "HTTPS connections fail until the first certificate is issued");
    }
    this.#timer = setInterval(() => void this.#check(), checkMs).unref();
    void this.#check();
  }

  reload(): Promise<void> {
    this.#isForced = true;
    return this.#check();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#stop.abort();
    await this.#checking;
  }

  /** Failed orders since the last certificate. */
  get failures(): number {
    return this.#state?.failures ?? 0;
  }

  get status(): { ok: boolean; message: string } {
    const { name, directory } = this.#config;
    const { certificate } = this.#listener;
    const { error, nextOrderAt } = this.#state ?? {};
    const next = nextOrderAt ? ` The next order is at ${nextOrderAt.toISOString()}.` : "";
    const failed = error ? `${failedOrder}: ${error}${next}` : null;
    if (certificate === null) {
      const message = failed ?? `The first certificate is being ordered from ${directory}.`;
      return { ok: false, message: `There is no certificate for ${name} yet. ${message}` };
    }
    const found = `${describe(certificate)}, renewed from ${day(renewalOf(certificate))} on`;
    return { ok: certificate.expiresAt > new Date(), message: failed === null ? found : `${found}. ${failed}` };
  }

  /** The responses to challenges that a directory may ask for now. Never rejects. */
  async pendingChallenges(): Promise<ChallengeResponse[]> {
    return this.#isDue(Date.now() + clockMs) ? this.#challenges.read() : [];
  }

  /** The response to a token of HTTP-01; null for an unknown one. Never rejects. */
  async responseTo(token: string): Promise<string | null> {
    const pending = await this.pendingChallenges();
    return pending.find((each) => each.type === "http-01" && each.token === token)?.keyAuthorization ?? null;
  }

  /** Never rejects. */
  #check(): Promise<void> {
    this.#checking ??= this.#checkAll().finally(() => {
      this.#checking = null;
    });
    return this.#checking;
  }

  async #checkAll(): Promise<void> {
    do {
      const isForced = this.#isForced;
      this.#isForced = false;
      try {
        await this.load();
        if (this.#mayOrder(isForced)) await this.#orderUnderLease(isForced);
        this.#fault = null;
      } catch (error) {
        this.#report(error);
      }
    } while (this.#isForced && !this.#stop.signal.aborted);
  }

  /** Logs each error once, until there is another or none. */
  #report(error: unknown): void {
    const message = printable((error as Error).message);
    if (this.#stop.signal.aborted || message === this.#fault) return;
    this.#fault = message;
    this.#logger.warn(`the certificate could not be checked: ${message}`);
  }

  #isDue(now: number): boolean {
    const { certificate } = this.#listener;
    return certificate === null || renewalOf(certificate).getTime() <= now;
  }

  #mayOrder(isForced: boolean): boolean {
    if (!this.#isDue(Date.now()) || this.#stop.signal.aborted) return false;
    const { isHeld, isForeign, isLimited } = this.#state!;
    // A certificate of another secret key says nothing about the orders of this one.
    return !isHeld || isForeign || (isForced && !isLimited);
  }

  async #orderUnderLease(isForced: boolean): Promise<void> {
    const lease = randomUUID();
    if (!(await this.#store.acquire(this.#config, lease, leaseMs))) return;
    const lost = new AbortController();
    const extend = async () => {
      const isOurs = await this.#store.extend(this.#config, lease, leaseMs).catch(() => true);
      if (!isOurs) lost.abort(new Error("another server has taken over the order"));
    };
    const timer = setInterval(() => void extend(), extendMs);
    try {
      await this.load(); // Another server may have ordered.
      if (!this.#mayOrder(isForced)) return;
      if (this.#state!.isForeign) await this.#store.discard(this.#config, lease);
      await this.#order(lease, AbortSignal.any([this.#stop.signal, lost.signal, AbortSignal.timeout(orderMs)]));
    } finally {
      clearInterval(timer);
      await this.#store.release(this.#config, lease);
    }
    await this.load();
  }

  async #order(lease: string, signal: AbortSignal): Promise<void> {
    const config = this.#config;
    const parts = { config, store: this.#store, logger: this.#logger, version: this.#version };
    try {
      const certificate = await CertificateOrder.run(parts, signal);
      this.#listener.use(certificate);
      const store = () => this.#store.succeeded(config, lease, certificate);
      await retryTransient(store, this.#stop.signal, (error) => this.#report(error));
    } catch (error) {
      if (this.#stop.signal.aborted || isTransient(error)) throw error;
      await this.#failed(lease, signal.aborted && !(error instanceof OrderError) ? signal.reason : error);
    }
  }

  async #failed(lease: string, error: Error): Promise<void> {
    const { name, directory } = this.#config;
    const message = reasonFor(error, orderMs);
    const delay = orderDelay(error, this.failures);
    await this.#store.failed(this.#config, lease, { error: message, ...delay });
    const retryMinutes = Math.ceil(delay.delayMs / 60_000);
    this.#logger.error({ name, directory, retryMinutes }, `the certificate was not issued: ${message}`);
  }

  /** A stored pair that can be used, and is newer than the one in use; null otherwise. */
  #newer(pair: KeyPair | null): Certificate | null {
    const { certificate: used } = this.#listener;
    if (pair === null || pair.certificate === used?.certificate) return null;
    try {
      const stored = checkKeyPair(pair);
      return used === null || stored.expiresAt > used.expiresAt ? stored : null;
    } catch {
      return null; // It has expired.
    }
  }
}
