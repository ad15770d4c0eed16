import type { AppContext } from "../context.ts";
import { isLast, type SequencedEvent } from "../contract/chat.ts";
import { BerthError } from "../contract/errors.ts";
import type { GuestClient } from "../contract/guest-calls.ts";
import { restrictedKind } from "../contract/permissions.ts";
import { pause, retryTransient } from "../core/retry.ts";
import type { GuestLease } from "../lifecycle/guest-leases.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { deliver } from "./attachments.ts";
import { fetchDiffs } from "./changes.ts";
import { verified } from "./output.ts";
import { isStoredFirst, type RunningTurn } from "./running-turn.ts";
import { signed } from "./signed-event.ts";

/** The maximum number of machines that receive a message without responding. */
const machineTries = 3;
/** Consecutive reconnects without an event between them. */
const reconnectTries = 5;
const reconnectDelayMs = 300;

/**
 * Gets the agent's machine ready, sends it the message and reads the response to its end, reconnecting as needed. A
 * machine may have stopped unnoticed: its replacement gets a message that it did not respond to. A guest that finds the
 * turn on its disk fails it, so no message is answered twice.
 */
export async function runTurn(running: RunningTurn, context: AppContext): Promise<void> {
  const { over, turn } = running;
  for (let tries = machineTries; !over.signal.aborted && !running.ending; tries--) {
    if (running.isWaiting && (await isAsleep(turn.agentId, context))) {
      context.approvals.deliver(turn.id); // Wakes it if there is an answer.
      await context.leases.awake(turn.agentId, over.signal);
      tries = machineTries;
    }
    if ((await runOnMachine(running, context)) === "over") return;
    // A machine that went to sleep while the turn waited has it in memory; one that was lost has it on its disk, and fails
    // it.
    if ((running.seen > 0 && !running.isWaiting) || tries <= 1)
      throw new BerthError("machine_lost", "The agent's machine stopped during the turn.");
    await pause(reconnectDelayMs, over.signal);
  }
}

/** Whether the agent's machine sleeps, or is about to. */
async function isAsleep(agentId: string, { stores }: AppContext): Promise<boolean> {
  return (await stores.agents.byId(agentId))?.desired === "suspended";
}

/** A turn that waits for a person does not wake its machine. One that does not run and does not sleep was lost. */
async function leaseFor(running: RunningTurn, { leases, machines }: AppContext): Promise<GuestLease> {
  const { agentId } = running.turn;
  if (running.isWaiting && (await machines.isRunning(agentId))) return leases.attend(agentId);
  return leases.acquire(agentId, (position) => running.queued(position));
}

/** `lost`: the machine stopped before the turn ended. */
async function runOnMachine(running: RunningTurn, context: AppContext): Promise<"over" | "lost"> {
  const { turn, over } = running;
  const begun = performance.now();
  running.trace?.wants();
  const lease = await leaseFor(running, context);
  using wakefulness = new Wakefulness(lease, turn.agentId, context);
  wakefulness.set(!running.isWaiting);
  const { autoSnapshot } = running.settings;
  if (autoSnapshot > 0 && !running.prompted) await context.snapshots.beforeTurn(turn.agentId, autoSnapshot);
  if (over.signal.aborted || running.ending) return "over";
  running.trace?.ready();
  running.begin(Math.round(performance.now() - begun));
  if (running.isWaiting) context.approvals.deliver(turn.id);
  const lost = lease.lost.then(toLost);
  for (let tries = reconnectTries, seen = running.nextSeq; !over.signal.aborted; tries--) {
    const outcome = await Promise.race([
      readAnswer(running, lease, wakefulness, context).catch((error: unknown) => ({ error })),
      lost,
    ]);
    if (outcome === "ended" || over.signal.aborted) return "over";
    if (outcome === "lost" || (running.isWaiting && (await isAsleep(turn.agentId, context)))) return "lost";
    if (outcome !== "cut" && outcome.error instanceof BerthError) {
      if (outcome.error.code === "machine_lost" && running.seen === 0) return "lost";
      // A guest that does not respond in time may have a runner that is restarting.
      if (outcome.error.code !== "machine_failed") throw outcome.error;
    }
    if (running.nextSeq > seen) tries = reconnectTries;
    seen = running.nextSeq;
    if (tries <= 1)
      throw new BerthError("machine_lost", "The connection to the agent's machine was lost.", { cause: outcome });
    await pause(reconnectDelayMs, over.signal);
  }
  return "over";
}

/** Captures nothing of a turn, because the machine's `lost` promise keeps a reference to it for the rest of the run. */
const toLost = () => "lost" as const;

/** Reads the guest's events from the cursor. `cut`: the stream ended before the turn did. */
async function readAnswer(
  running: RunningTurn,
  lease: GuestLease,
  wakefulness: Wakefulness,
  context: AppContext,
): Promise<"ended" | "cut"> {
  const { over } = running;
  const watch = new StallWatch(running, context);
  try {
    const guest = await lease.connect();
    await permit(running, guest);
    await resume(running, guest);
    await expectOutput(running, guest);
    watch.stop(); // Large files take their time.
    const source = await sourceOf(running, guest, lease, context);
    if (over.signal.aborted || running.ending) return "ended";
    watch.saw();
    running.trace?.sent();
    for await (const batch of source) {
      // From here on the wait is for the store, which may be down, not for the runtime.
      watch.stop();
      await running.announced;
      if (over.signal.aborted || running.ending) return "ended";
      for (const received of batch) {
        const entry = await signed(await verified(received, running), running, context);
        const { event } = entry;
        if (event.type === "response.approval.requested" && !running.ending)
          await context.approvals.open(running, event);
        if (isLast(event) && !running.ending) running.diffs = await fetchDiffs(event, running.turn.id, guest, context);
        take(running, entry, context.metrics);
        if (isStoredFirst(event)) await running.announced;
      }
      wakefulness.set(!running.isWaiting);
      // In the meantime, new events stay in the guest's journal on the agent's disk.
      if (!running.writer.hasRoom) await running.writer.room(over.signal);
      watch.saw();
    }
    return running.ending || over.signal.aborted ? "ended" : "cut";
  } finally {
    watch.stop();
  }
}

/** Sets the turn's permissions before its prompt. Throws `upgrade_required` for an image that does not know them. */
async function permit({ turn, settings, seen }: RunningTurn, guest: GuestClient): Promise<void> {
  const { permissions } = settings;
  if (seen === 0 && restrictedKind(permissions) !== null) await guest.setPermissions({ turnId: turn.id, permissions });
}

/** Throws `upgrade_required` for an image that would begin an empty conversation. */
async function resume({ turn, settings, seen }: RunningTurn, guest: GuestClient): Promise<void> {
  if (seen === 0 && settings.resumesConversation) await guest.resumeConversation({ conversation: turn.conversation });
}

/** Throws `upgrade_required` for an image that would ignore the schema. */
async function expectOutput({ turn, seen }: RunningTurn, guest: GuestClient): Promise<void> {
  const { id: turnId, outputSchema: schema } = turn;
  if (seen === 0 && schema !== null) await guest.setOutput({ turnId, schema });
}

/**
 * Prompts the guest if it has not started, once it has the message's images and files; otherwise reads its journal from the
 * cursor.
 */
async function sourceOf(
  { turn, settings, seen, over }: RunningTurn,
  guest: GuestClient,
  lease: GuestLease,
  context: AppContext,
): Promise<AsyncIterable<SequencedEvent[]>> {
  const { id: turnId, conversation, functions } = turn;
  const { signal } = over;
  if (seen > 0) return guest.turnEvents({ turnId, after: seen }, { signal });
  const { effort, acp, mcpServers, agentTools } = settings;
  const tools = {
    functions: functions ?? [],
    acp,
    mcpServers,
    agentTools: [...agentTools],
    asksAgents: agentTools.length > 0,
  };
  const delivered = await deliver(turn, guest, lease, context, signal);
  const read = () =>
    Promise.all([context.models.forRuntime(turn.model, turn.agentId), context.stores.skills.ofAgent(turn.agentId)]);
  const [model, skills] = await retryTransient(read, signal, (error) =>
    context.log("an agent's skills cannot be read; trying again", { agentId: turn.agentId, error }),
  );
  return guest.prompt({ turnId, ...delivered, model, effort, conversation, ...tools, skills }, { signal });
}

function take(running: RunningTurn, { seq, event }: SequencedEvent, metrics: Metrics): void {
  if (running.ending) return;
  if (seq !== running.seen + 1) {
    throw new BerthError("internal", `turn ${running.turn.id}: the guest sent event ${seq}`);
  }
  if (event.type === "response.output_text.delta" && !running.hasSpoken) {
    running.hasSpoken = true;
    metrics.firstDelta((performance.now() - running.startedAt) / 1000);
  }
  running.sawTool(event);
  running.trace?.heard(event);
  running.append(event);
}

/** Keeps the machine of a turn awake, except while the turn waits for approvals. */
class Wakefulness implements Disposable {
  readonly #agentId: string;
  readonly #context: AppContext;
  #held: Disposable | null;

  constructor(held: Disposable, agentId: string, context: AppContext) {
    this.#held = held;
    this.#agentId = agentId;
    this.#context = context;
  }

  set(awake: boolean): void {
    if (awake) this.#held ??= this.#context.leases.keepAwake(this.#agentId);
    else this[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.#held?.[Symbol.dispose]();
    this.#held = null;
  }
}

/** Fails a turn that has been silent for too long while no tool is running. */
class StallWatch {
  readonly #running: RunningTurn;
  readonly #context: AppContext;
  #timer: NodeJS.Timeout | undefined;

  constructor(running: RunningTurn, context: AppContext) {
    this.#running = running;
    this.#context = context;
    this.saw();
  }

  saw(): void {
    this.stop();
    this.#timer = setTimeout(() => this.#stalled(), this.#context.config.stallMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** A tool may be silent for hours, but its guest still answers. */
  #stalled(): void {
    const { config, hungGuests } = this.#context;
    const { turn, openTools } = this.#running;
    void hungGuests.suspect(turn.agentId);
    const message = `The runtime was silent for ${config.stallMs / 1000} s; the turn was stopped.`;
    if (openTools.size > 0 || this.#running.isWaiting) this.saw();
    else this.#running.giveUp({ code: "runtime_stalled", message });
  }
}
