import { readFile } from "node:fs/promises";
import { replaceFile } from "../private-files.ts";

const maximumMessages = 500;
/** A longer message is not kept over sessions, in UTF-16 units. */
const maximumLength = 16 * 1024;

/** The messages of this session and of earlier ones. They are in a file that only its user can read, a line each. */
export class InputHistory {
  readonly #file: string;
  readonly #messages: string[];
  /** How far back the user has gone; 0: not at all. */
  #back = 0;
  /** The text being written before browsing. */
  #draft = "";
  /** Resolves when the file has all messages. */
  #stored: Promise<void> = Promise.resolve();

  private constructor(file: string, messages: string[]) {
    this.#file = file;
    this.#messages = messages;
  }

  static async open(file: string): Promise<InputHistory> {
    return new InputHistory(file, await readMessages(file));
  }

  /** The message before the one shown; null if there is none. */
  older(shown: string): string | null {
    const message = this.#messages.at(-1 - this.#back);
    if (message === undefined) return null;
    if (this.#back === 0) this.#draft = shown;
    this.#back++;
    return message;
  }

  /** The message after the one shown, finally the text being written; null if that is shown. */
  newer(): string | null {
    if (this.#back === 0) return null;
    this.#back--;
    return this.#back === 0 ? this.#draft : this.#messages.at(-this.#back)!;
  }

  /** Rejects if the file cannot be written; the message is in this session's history all the same. */
  async add(message: string): Promise<void> {
    this.#back = 0;
    if (this.#messages.at(-1) === message) return;
    this.#messages.push(message);
    if (message.length > maximumLength) return;
    const storing = this.#stored.then(() => this.#store(message));
    this.#stored = storing.catch(() => {});
    await storing;
  }

  /** Resolves when all writes are done. */
  async settled(): Promise<void> {
    await this.#stored;
  }

  async #store(message: string): Promise<void> {
    // Other conversations may have added theirs.
    const stored = [...(await readMessages(this.#file)), message].slice(-maximumMessages);
    await replaceFile(this.#file, stored.map((each) => `${JSON.stringify(each)}\n`).join(""));
  }
}

/** A file that cannot be read, or a line of it, counts as empty: a history is no reason not to chat. */
async function readMessages(file: string): Promise<string[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text.split("\n").flatMap((line) => {
    try {
      const message: unknown = JSON.parse(line);
      return typeof message === "string" ? [message] : [];
    } catch {
      return [];
    }
  });
}
