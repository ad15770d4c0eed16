import { Readable } from "node:stream";
import type { AgentState } from "../../agents/agent.ts";
import type { Caller } from "../../core/http/caller.ts";
import type { Files } from "../../files/files.ts";

export interface Attachment {
  /** A file's name: without slashes and control characters, of 255 bytes at most. */
  name: string;
  bytes: Uint8Array;
}

/** The folder of a turn's attachments, in the agent's home. */
const folderOf = (turnId: string) => `inbox/${turnId}`;

/** Attachments of messages: files in the agent's own machine, for its tools. */
export class Inbox {
  readonly #files: Pick<Files, "write" | "change">;

  constructor(files: Pick<Files, "write" | "change">) {
    this.#files = files;
  }

  /**
   * Writes the attachments of a turn that is about to start, and names them in its message. A retry writes the same
   * files. Throws the errors of `Files.write`, and leaves nothing behind.
   */
  async deliver(
    turnId: string,
    agent: AgentState,
    caller: Caller,
    message: string,
    attachments: readonly Attachment[],
  ): Promise<string> {
    const paths: string[] = [];
    try {
      for (const [index, { name, bytes }] of attachments.entries()) {
        const isTaken = attachments.slice(0, index).some((other) => other.name === name);
        const path = `${folderOf(turnId)}/${isTaken ? `${index + 1}-` : ""}${name}`;
        const request = { path, user: "agent", mode: null, ifMatch: null, ifNoneMatch: false } as const;
        paths.push((await this.#files.write(agent, caller, request, Readable.from([bytes]))).path);
      }
    } catch (error) {
      if (paths.length > 0) await this.remove(turnId, agent, caller);
      throw error;
    }
    return messageWith(message, paths);
  }

  /** Removes the attachments of a turn that did not start, if the machine still accepts calls. */
  async remove(turnId: string, agent: AgentState, caller: Caller): Promise<void> {
    const request = { action: "remove", path: folderOf(turnId), user: "agent", recursive: true } as const;
    await this.#files.change(agent, caller, request).catch(() => {});
  }
}

/** The message with the paths of its attachments, one a line. */
function messageWith(message: string, paths: readonly string[]): string {
  if (paths.length === 0) return message;
  const list = ["Attached files:", ...paths].join("\n");
  return message === "" ? list : `${message}\n\n${list}`;
}
