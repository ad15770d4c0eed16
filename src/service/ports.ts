import { Duplex } from "node:stream";
import type { ListeningPort } from "../contract/ports.ts";
import type { AgentState } from "./agent.ts";
import type { Caller } from "./caller.ts";
import type { GuestLeases } from "./guest-leases.ts";

type Asking = Pick<Caller, "accountId" | "keyId">;

/** For how long a connection without a byte keeps its machine awake. */
const quietMs = 60_000;

/** The TCP ports of agents' machines. Every method wakes the machine, and throws as `GuestLeases.use`. */
export class Ports {
  readonly #leases: GuestLeases;

  constructor(leases: GuestLeases) {
    this.#leases = leases;
  }

  /** What listens, by port. */
  async list(agent: AgentState, caller: Asking): Promise<ListeningPort[]> {
    return (await this.#leases.use(agent, caller, (guest) => guest.listPorts({}), "again")).data;
  }

  /**
   * A connection to a port, each direction of which ends by itself. It keeps the machine awake while bytes move and for
   * a minute after, and breaks when the machine sleeps. Throws `port_not_listening`.
   */
  async connect(agent: AgentState, caller: Asking, port: number): Promise<Duplex> {
    const { stream, held } = await this.#leases.open(agent, caller, (guest) => guest.connectPort({ port }));
    return new PortConnection(stream, held, () => this.#leases.keepAwake(agent.id));
  }
}

/** The bytes of a stream, as they are, with an eye on when they move. */
class PortConnection extends Duplex {
  readonly #stream: Duplex;
  readonly #keepAwake: () => Disposable;
  readonly #timer: NodeJS.Timeout;
  /** Null while it is quiet. */
  #held: Disposable | null;

  constructor(stream: Duplex, held: Disposable, keepAwake: () => Disposable) {
    super({ allowHalfOpen: true });
    this.#stream = stream;
    this.#held = held;
    this.#keepAwake = keepAwake;
    this.#timer = setTimeout(() => this.#release(), quietMs);
    stream.on("data", (chunk) => {
      this.#moved();
      if (!this.push(chunk)) stream.pause();
    });
    let isWhole = false;
    stream.on("end", () => {
      isWhole = true;
      this.push(null);
    });
    // A stream that is reset need not fail.
    stream.on("close", () => isWhole || this.destroy(new Error("the connection to the machine broke")));
  }

  override _read(): void {
    this.#stream.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#moved();
    this.#stream.write(chunk, done);
  }

  override _final(done: () => void): void {
    this.#stream.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#timer);
    this.#release();
    this.#stream.destroy();
    done(error);
  }

  #moved(): void {
    this.#held ??= this.#keepAwake();
    this.#timer.refresh();
  }

  #release(): void {
    this.#held?.[Symbol.dispose]();
    this.#held = null;
  }
}
