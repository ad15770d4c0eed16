import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { maximumDelayMs } from "./pacing.ts";

/** How long a request may take whose connection is closed: as long as its answer is delayed, and three seconds more. */
const afterCloseMs = maximumDelayMs + 3_000;

/**
 * The requests that are being handled. When the server closes its connections, their handlers continue: they write to
 * the database last, for the audit log.
 */
export class RequestsUnderWay {
  readonly #requests = new Set<FastifyRequest>();
  #settle: () => void = () => {};

  /** Counts the requests of all routes added to `app` afterwards. */
  begin(app: FastifyInstance): void {
    app.addHook("onRequest", async (request, reply) => {
      this.#requests.add(request);
      reply.raw.once("close", () => {
        // One that streamed, or was answered, has written everything. Another may never call the hook below.
        if (reply.sent) this.#end(request);
        else setTimeout(() => this.#end(request), afterCloseMs).unref();
      });
    });
  }

  /** Call it after all that add hooks which write. */
  end(app: FastifyInstance): void {
    app.addHook("onSend", async (request) => this.#end(request));
  }

  /** Resolves when no request is being handled; once all connections are closed, within five seconds. */
  async settled(): Promise<void> {
    if (this.#requests.size === 0) return;
    const settled = Promise.withResolvers<void>();
    this.#settle = settled.resolve;
    await Promise.race([settled.promise, sleep(afterCloseMs, undefined, { ref: false })]);
  }

  #end(request: FastifyRequest): void {
    this.#requests.delete(request);
    if (this.#requests.size === 0) this.#settle();
  }
}
