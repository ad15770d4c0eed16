import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { replaceFile } from "../runtimes/process.ts";
import { latestSession } from "../runtimes/runtime.ts";

const firstConversation = 1;

/** In the folder of the runner's state. */
export const sessionsFile = "conversations.json";

/** The most conversations whose sessions are remembered. A machine's server keeps fewer. */
const maximumSessions = 2_000;

const Stored = z.object({
  /** The number of the conversation that the runtime is in. */
  current: z.int(),
  /** The conversations with their runtimes and the runtimes' ids of them, the last entered last. */
  sessions: z.array(z.tuple([z.int(), z.string(), z.string()])),
});
type Stored = z.infer<typeof Stored>;

/**
 * The runtimes' sessions of the agent's conversations, on the agent's disk. A conversation has one session: the one of
 * the runtime in which it was entered last.
 */
export class Sessions {
  readonly #folder: string;
  readonly #file: string;
  #stored: Stored | null = null;
  /** Whether the file exists. Machines of earlier versions have only the conversation's number. */
  #isRecorded = false;

  constructor(stateFolder: string) {
    this.#folder = stateFolder;
    this.#file = join(stateFolder, sessionsFile);
  }

  async current(): Promise<number> {
    return (await this.#read()).current;
  }

  /** The session of a conversation; null: it has none with this runtime. */
  async find(number: number, runtime: string): Promise<string | null> {
    const { sessions } = await this.#read();
    const [, ofRuntime, id] = sessions.find(([each]) => each === number) ?? [];
    return ofRuntime === runtime ? id! : null;
  }

  /** The session for a runtime that starts, as `StartContext.session`. */
  async forStart(runtime: string): Promise<string | null> {
    const session = await this.find(await this.current(), runtime);
    return this.#isRecorded ? session : latestSession;
  }

  /** Records that the runtime is in this conversation, with this session. */
  async enter(number: number, runtime: string, session: string): Promise<void> {
    if ((await this.current()) === number && (await this.find(number, runtime)) === session) return;
    const { sessions } = await this.#read();
    const others = sessions.filter(([each]) => each !== number).slice(1 - maximumSessions);
    const stored: Stored = { current: number, sessions: [...others, [number, runtime, session]] };
    await replaceFile(this.#file, JSON.stringify(stored));
    this.#stored = stored;
    this.#isRecorded = true;
  }

  /** Drops what was read: the file was replaced. */
  forget(): void {
    this.#stored = null;
  }

  async #read(): Promise<Stored> {
    if (this.#stored) return this.#stored;
    const text = await readFile(this.#file, "utf8").catch(() => null);
    this.#isRecorded = text !== null;
    this.#stored =
      text === null ? { current: await this.#earlierNumber(), sessions: [] } : Stored.parse(JSON.parse(text));
    return this.#stored;
  }

  async #earlierNumber(): Promise<number> {
    const text = await readFile(join(this.#folder, "conversation"), "utf8").catch(() => null);
    return text === null ? firstConversation : Number(text);
  }
}
