import type { Inclusion, LastEvent, TurnEvent } from "../contract/chat.ts";
import { agentPath, type Client } from "./client.ts";
import { ApiError, CliError } from "./errors.ts";
import { followEvents } from "./follow.ts";

export interface TurnOptions {
  agent: string;
  message: string;
  /** More kinds of events than the reply's text and its end. */
  include: readonly Inclusion[];
  /** Aborted: the turn is interrupted, and its last event awaited. */
  cancel: AbortSignal;
  /** Aborted: nothing is awaited any more. */
  quit: AbortSignal;
  /** Told, in a sentence, what went wrong without ending the turn. */
  warn: (message: string) => void;
}

export function isLastEvent(event: TurnEvent): event is LastEvent {
  return event.type === "response.completed" || event.type === "response.failed" || event.type === "response.cancelled";
}

/**
 * Sends a message and yields the turn's events to the last; over lost connections too.
 * Throws as `followEvents` does.
 */
export async function* runTurn(client: Client, options: TurnOptions): AsyncGenerator<TurnEvent> {
  const { agent, message, include, cancel, quit, warn } = options;
  const path = agentPath(agent);
  let turn: string | null = null;

  const interrupt = () =>
    cancelTurn(client, `${path}/turns/${turn}`, quit).catch((error: Error) => warn(error.message));
  const begin = async () => {
    const json = { message, include };
    const response = await client.request("POST", `${path}/chat`, { json, signal: quit });
    const id = response.headers.get("x-turn-id");
    if (id === null) throw new CliError("What answers there is not Berth: its answer names no turn.");
    turn = encodeURIComponent(id);
    cancel.addEventListener("abort", interrupt);
    return response;
  };
  const goOn = (after: string | null) =>
    client.request("GET", `${path}/turns/${turn}/events?after=${after ?? 0}&include=${include.join(",")}`, {
      signal: quit,
    });
  const open = async (lastId: string | null) => {
    const response = await (turn === null ? begin() : goOn(lastId));
    // Pressed before there was a turn, or while the service could not be reached.
    if (cancel.aborted) void interrupt();
    return response;
  };

  try {
    const onBroken = () => warn("The connection broke off; trying to go on.");
    yield* followEvents<TurnEvent>({ open, isLast: isLastEvent, onBroken, signal: quit });
  } finally {
    cancel.removeEventListener("abort", interrupt);
  }
}

/** Interrupts a turn; one that has ended already is let be. */
async function cancelTurn(client: Client, path: string, signal: AbortSignal): Promise<void> {
  try {
    await client.request("POST", `${path}/cancel`, { signal });
  } catch (error) {
    if (!signal.aborted && !(error instanceof ApiError && error.body.code === "turn_finished")) throw error;
  }
}
