import type { Connection, Query, RequestOptions, Sendable } from "./connection.ts";
import type { Agent, CreateSnapshot, Snapshot } from "./generated/types.gen.ts";

/** Moments of an agent that are kept. */
export class AgentSnapshots {
  readonly #connection: Connection;
  readonly #path: { name: string };

  constructor(connection: Connection, path: { name: string }) {
    this.#connection = connection;
    this.#path = path;
  }

  /** The oldest first. */
  async list(options: RequestOptions = {}): Promise<Snapshot[]> {
    return (await this.#connection.call("listSnapshots", { path: this.#path, ...options })).data;
  }

  /** Keeps the agent as it is now; a turn goes on. */
  create(body: Sendable<CreateSnapshot> = {}, options: RequestOptions = {}): Promise<Snapshot> {
    return this.#connection.call("createSnapshot", { path: this.#path, body, ...options });
  }

  /** `snapshot`: a name or an id. */
  async remove(snapshot: string, options: RequestOptions = {}): Promise<void> {
    await this.#connection.call("removeSnapshot", { path: { ...this.#path, snapshot }, ...options });
  }

  /** Makes the agent as it was at the snapshot, by name or id. What it is now is kept as a snapshot first. */
  rollBack(snapshot: string, query: Query<"rollBack"> = {}, options: RequestOptions = {}): Promise<Agent> {
    return this.#connection.call("rollBack", { path: this.#path, query, body: { snapshot }, ...options });
  }
}
