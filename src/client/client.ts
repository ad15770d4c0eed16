import { routes } from "../api/routes.ts";
import { type Inclusion, isLastEvent, type TurnEvent } from "../contract/chat.ts";
import { Connection } from "./connection.ts";
import { ApiError, NotBerthError } from "./errors.ts";
import { followEvents } from "./events.ts";

/** A message to an agent. */
export interface ChatOptions {
  agent: string;
  message: string;
  /** Event kinds to include besides the reply's text and its end. */
  include?: readonly Inclusion[];
  /** When aborted, the turn is interrupted and its last event awaited. */
  cancel?: AbortSignal;
  /** When aborted, nothing is awaited any more. */
  signal?: AbortSignal;
  /** Called when the connection breaks, before the client reconnects. */
  onBroken?: () => void;
  /** Called when interrupting the turn fails. The turn continues. */
  onCancelFailed?: (error: Error) => void;
}

/** A client for the API. It runs wherever `fetch` does. */
export class BerthClient extends Connection {
  /**
   * Sends a message and yields the turn's events up to the last, each once. After a lost connection it resumes from the
   * event after the last received. Throws as `followEvents`.
   */
  async *chat(options: ChatOptions): AsyncGenerator<TurnEvent> {
    const { agent, message, cancel, signal, onBroken, onCancelFailed } = options;
    const include = [...(options.include ?? [])];
    const within = signal ? { signal } : {};
    let turnId: string | null = null;

    const interrupt = () => void this.cancelTurn(agent, turnId!, signal).catch(onCancelFailed ?? (() => {}));
    const begin = async () => {
      const body = { message, include };
      const response = await this.request(routes.chat, { params: { name: agent }, body, ...within });
      turnId = response.headers.get("x-turn-id");
      if (turnId === null) throw new NotBerthError("What answers there is not Berth: its answer names no turn.");
      cancel?.addEventListener("abort", interrupt);
      return response;
    };
    const goOn = (turnId: string, lastId: string | null) => {
      const query = { after: Number(lastId ?? 0), include };
      return this.request(routes.getTurnEvents, { params: { name: agent, turnId }, query, ...within });
    };
    const open = async (lastId: string | null) => {
      const response = await (turnId === null ? begin() : goOn(turnId, lastId));
      // Aborted before the turn existed, or while the service could not be reached.
      if (cancel?.aborted) interrupt();
      return response;
    };

    try {
      yield* followEvents<TurnEvent>(open, {
        isLast: isLastEvent,
        ...(onBroken ? { onBroken } : {}),
        ...within,
      });
    } finally {
      cancel?.removeEventListener("abort", interrupt);
    }
  }

  /** Interrupts a turn. Does nothing if it has already ended. Throws as `request`. */
  async cancelTurn(agent: string, turnId: string, signal?: AbortSignal): Promise<void> {
    try {
      const params = { name: agent, turnId };
      await this.request(routes.cancelTurn, signal ? { params, signal } : { params });
    } catch (error) {
      if (!signal?.aborted && !(error instanceof ApiError && error.code === "turn_finished")) throw error;
    }
  }
}
