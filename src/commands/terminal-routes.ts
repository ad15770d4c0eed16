import type { FastifyPluginAsync } from "fastify";
import type { RawData, WebSocket } from "ws";
import { findAgent } from "../agents/find.ts";
import type { AppContext } from "../context.ts";
import { BerthError } from "../contract/errors.ts";
import { routes } from "../contract/routes.ts";
import { type TerminalFrame, TerminalInput } from "../contract/terminals.ts";
import { handleSocket, parseFrame, sendFrame } from "../core/http/sockets.ts";
import { type TerminalSession, Terminals } from "./terminals.ts";

/** How many frames of a viewer, and how many bytes, may wait for the machine before reading pauses. */
const maximumWaiting = 32;
const maximumWaitingBytes = 1024 * 1024;

/** `/agents/{name}/terminal`: terminals in an agent's machine. */
export function terminalRoutes(context: AppContext): FastifyPluginAsync {
  const { agents, commands } = context;
  const terminals = new Terminals(commands);
  return async (app) => {
    handleSocket(
      app,
      routes.openTerminal,
      context,
      async (request) => {
        const agent = await findAgent(agents, request, request.params.name);
        return terminals.open(agent, request.query, request.caller);
      },
      async (socket, session, gone) => {
        const frames = new Frames(socket, session);
        await frames.send({ type: "session", session: session.id });
        for await (const batch of session.events(gone)) {
          for (const { seq, event } of batch) await frames.send({ id: seq, ...event });
        }
      },
    );
  };
}

/** A viewer's frames. They are handled in order, and read only as fast as the machine keeps up. */
class Frames {
  readonly #socket: WebSocket;
  readonly #session: TerminalSession;
  #done: Promise<void> = Promise.resolve();
  #waiting = 0;
  #waitingBytes = 0;

  constructor(socket: WebSocket, session: TerminalSession) {
    this.#socket = socket;
    this.#session = session;
    socket.on("message", (data) => this.#take(data));
  }

  send(frame: TerminalFrame): Promise<void> {
    return sendFrame(this.#socket, frame);
  }

  #take(data: RawData): void {
    const bytes = (data as Buffer).length;
    this.#waiting += 1;
    this.#waitingBytes += bytes;
    if (!this.#hasRoom) this.#socket.pause();
    this.#done = this.#done
      .then(() => this.#do(data))
      .catch((error: unknown) => this.#refuse(error))
      .finally(() => {
        this.#waiting -= 1;
        this.#waitingBytes -= bytes;
        if (this.#hasRoom) this.#socket.resume();
      });
  }

  get #hasRoom(): boolean {
    return this.#waiting < maximumWaiting && this.#waitingBytes < maximumWaitingBytes;
  }

  async #do(data: RawData): Promise<void> {
    const input = parseInput(data);
    if (input.type === "resize") return this.#session.resize({ cols: input.cols, rows: input.rows });
    const bytes = input.base64 === undefined ? Buffer.from(input.text ?? "") : Buffer.from(input.base64, "base64");
    await this.#session.input(bytes, input.id);
    if (input.id !== undefined) await this.send({ type: "accepted", id: input.id });
  }

  /** The session continues: another viewer may be unaffected. */
  async #refuse(error: unknown): Promise<void> {
    // Its end is reported as an event.
    if (error instanceof BerthError && error.code === "command_exited") return;
    const { code, message } =
      error instanceof BerthError ? error : { code: "internal", message: "An internal error occurred." };
    await this.send({ type: "error", code, message });
  }
}

function parseInput(data: RawData): TerminalInput {
  return parseFrame(TerminalInput, data as Buffer, '{"type": "input", "text": "ls\\n"}');
}
