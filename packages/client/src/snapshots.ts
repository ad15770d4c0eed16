import type { Query, RequestOptions, Sendable } from "./connection.ts";
import { SnapshotsMethods } from "./generated/methods.gen.ts";
import type { Agent, CreateSnapshot, Snapshot } from "./generated/types.gen.ts";

/** Snapshots of an agent. Every method throws as `Connection.call`. */
export class AgentSnapshots extends SnapshotsMethods {
  /** Creates a snapshot of the agent's current state; a turn continues. */
  create(body: Sendable<CreateSnapshot> = {}, options: RequestOptions = {}): Promise<Snapshot> {
    return this.connection.call("createSnapshot", { path: this.path, body, ...options });
  }

  /** Rolls the agent back to the snapshot, by name or id. Its current state is saved as a snapshot first. */
  rollBack(snapshot: string, query: Query<"rollBack"> = {}, options: RequestOptions = {}): Promise<Agent> {
    return this.connection.call("rollBack", { path: this.path, query, body: { snapshot }, ...options });
  }
}
