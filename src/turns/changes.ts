import type { AgentState } from "../agents/agent.ts";
import type { AppContext } from "../context.ts";
import {
  type AgentChanges,
  type FileChange,
  type FileEdit,
  maximumComposedTurns,
  type RevertedFiles,
  type RevertFiles,
  type TurnChangesWithDiffs,
} from "../contract/changes.ts";
import { hasEnded, type LastEvent } from "../contract/chat.ts";
import { BerthError } from "../contract/errors.ts";
import type { GuestClient } from "../contract/guest-calls.ts";
import type { EditResult } from "../contract/guest-file-calls.ts";
import { isUuid } from "../contract/ids.ts";
import type { AuthorIds } from "../core/database/authors.ts";
import type { Attempt } from "../core/http/attempt.ts";
import type { Caller } from "../core/http/caller.ts";
import type { Diffs, TurnsSince } from "./changes-store.ts";
import { ComposedChanges, hunksOf } from "./composed-changes.ts";
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

/** The diffs that are put together, in characters. */
const maximumComposed = 16 * 1024 * 1024;

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
   * Takes back what the turn changed in files, or changes them again. Throws `turn_in_progress`, `rolled_back`,
   * `file_not_found`, `diff_unknown`, `file_changed` and others of files, each with `details` of the files.
   */
  async revert(agent: AgentState, turn: TurnState, asked: RevertFiles, caller: Caller): Promise<RevertedFiles> {
    const { files, running, turns } = this.#context;
    const { files: changed } = await this.of(turn);
    if (running.ofAgent(agent.id)) turns.refuseAnother(agent.id);
    if ((await turns.past.read(agent.id, turn.id)).undone) {
      throw new BerthError(
        "rolled_back",
        "The agent was rolled back to before this turn; its files have no changes of it.",
      );
    }
    const edits = [...new Set(asked.files)].map((name) => editOf(name, changed, asked.to));
    const { edited, faults } = await files.edit(agent, caller, edits);
    if (faults.length > 0) throw refusalOf(faults, edited);
    return { files: edited.map(({ name, change }) => ({ name, change })) };
  }

  /** Returns the changes since a snapshot, or from a turn on. Throws `snapshot_not_found`, `rolled_back`, `too_many_turns`. */
  async since(agent: AgentState, reference: string): Promise<AgentChanges> {
    const { past } = this.#context.turns;
    const { ids, isRolledBack } = await this.#turnsSince(agent, reference);
    if (isRolledBack) {
      throw new BerthError("rolled_back", "The agent was rolled back to before that point: choose a later one.");
    }
    if (ids.length > maximumComposedTurns)
      throw tooMany(`There are more than ${maximumComposedTurns} turns since then`);
    const composed = new ComposedChanges();
    let characters = 0;
    for (const id of ids) {
      const changes = await past.changes(id);
      for (const { diff } of changes?.files ?? []) characters += diff?.length ?? 0;
      if (characters > maximumComposed) throw tooMany("The turns since then have more than 16 MiB of diffs");
      composed.add(id, changes);
    }
    return composed.result();
  }

  async #turnsSince(agent: AgentState, reference: string): Promise<TurnsSince> {
    const { snapshots, turns } = this.#context;
    const limit = maximumComposedTurns + 1;
    const turn = isUuid(reference) ? await turns.begun(agent.id, reference) : null;
    if (turn) return turns.past.from(agent.id, turn.id, limit);
    const snapshot = await snapshots.find(agent, reference).catch((error: unknown) => {
      if (!(error instanceof BerthError) || error.code !== "snapshot_not_found") throw error;
      const message = `since: the agent ${agent.name} has no snapshot and no turn ${reference}.`;
      throw new BerthError("snapshot_not_found", message);
    });
    return turns.past.afterSnapshot(snapshot.id, limit);
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

const opposites = { created: "deleted", changed: "changed", deleted: "created" } as const;

/** How a turn's change to a file is taken back or made again. Throws `file_not_found`, `diff_unknown`. */
function editOf(name: string, changed: TurnChangesWithDiffs["files"], to: RevertFiles["to"]): FileEdit {
  const file = changed.find((each) => each.name === name);
  if (!file) throw new BerthError("file_not_found", `The turn did not change ${name}.`, { details: { files: [name] } });
  const diff = hunksOf(file);
  // Characters that stand for bytes that a diff cannot have.
  if (diff === null || /[\ufffd␀]/.test(diff)) {
    const message = `There is no diff of ${name} that can be reverted: it is not UTF-8 text, is too large, or is a link.`;
    throw new BerthError("diff_unknown", message, { details: { files: [name] } });
  }
  const isReversed = to === "before";
  const change: FileChange["change"] = isReversed ? opposites[file.change] : file.change;
  return { name, change, diff, isReversed };
}

/** Says which files did not fit, and which were changed before a write failed. */
function refusalOf(faults: EditResult["faults"], edited: EditResult["edited"]): BerthError {
  const [{ code, message, name }] = faults as [EditResult["faults"][number]];
  const names = faults.map((fault) => fault.name);
  const others = faults.length > 1 ? ` So do ${faults.length - 1} others not fit.` : "";
  const done = edited.length === 0 ? "Nothing was changed." : `${edited.length} files were changed before.`;
  const text = `${message} The change of ${name} cannot be made.${others} ${done}`;
  return new BerthError(code, text, { details: { files: names, changed: edited.map((file) => file.name) } });
}

function tooMany(what: string): BerthError {
  return new BerthError("too_many_turns", `${what}: choose a later point.`);
}
