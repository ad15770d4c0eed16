import type { AgentState } from "../agents/agent.ts";
import type { AppContext } from "../context.ts";
import type { TurnChangesWithDiffs } from "../contract/changes.ts";
import { hasEnded, type LastEvent } from "../contract/chat.ts";
import { BerthError } from "../contract/errors.ts";
import type { GuestClient } from "../contract/guest-calls.ts";
import type { AuthorIds } from "../core/database/authors.ts";
import type { Attempt } from "../core/http/attempt.ts";
import type { Diffs } from "./changes-store.ts";
import { storableValue } from "./storable.ts";
import type { TurnState } from "./turn.ts";

/** The diffs of the files that a last event lists. A turn does not fail without them: errors are logged. */
export async function fetchDiffs(
  { changes }: LastEvent,
  turnId: string,
  guest: GuestClient,
  { log }: AppContext,
): Promise<Diffs | null> {
  if (!changes || changes.files.length === 0) return null;
  try {
    const { diffs } = await guest.turnDiffs({ turnId });
    return diffs && storableValue(diffs);
  } catch (error) {
    log("the diffs of a turn are lost", { turnId, error });
    return null;
  }
}

/** The files that turns changed, and the way back to before a turn. */
export class Changes {
  readonly #context: AppContext;

  constructor(context: AppContext) {
    this.#context = context;
  }

  /** Throws `turn_in_progress`, `changes_unknown`. */
  async of(turn: TurnState): Promise<TurnChangesWithDiffs> {
    if (!hasEnded(turn.status)) {
      throw new BerthError("turn_in_progress", "The turn has not ended.", { details: { turnId: turn.id } });
    }
    const changes = await this.#context.turns.past.changes(turn.id);
    if (changes) return changes;
    throw new BerthError("changes_unknown", "It is not known what the turn changed.");
  }

  /**
   * Rolls the agent back to the snapshot from before the turn. Returns the agent's state in the meantime. Throws
   * `snapshot_not_found`, and as `Snapshots.rollBack`.
   */
  async restore(agent: AgentState, turn: TurnState, attempt: Attempt, by: AuthorIds): Promise<AgentState> {
    const { snapshots } = this.#context;
    const all = await snapshots.list(agent);
    const before = all.find(({ reason, turnId }) => reason === "turn" && turnId === turn.id);
    if (before) return snapshots.rollBack(agent, before.id, attempt, by);
    const kept = agent.autoSnapshot;
    const which = kept === 0 ? "keeps none (autoSnapshot is 0)" : `keeps those of its last ${kept} turns`;
    throw new BerthError("snapshot_not_found", `There is no snapshot from before the turn: the agent ${which}.`);
  }
}
