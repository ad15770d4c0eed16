import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";

/**
 * A program that answers each line with a line. It is started ahead of time, because under emulation starting a
 * process takes longer than suspending the machine. It is restarted if it ends, for example killed by an agent with
 * root.
 */
export class LineProgram {
  readonly #command: string;
  readonly #args: readonly string[];
  #child: ChildProcess | null = null;
  #answered: (line: string | null) => void = () => {};
  #last: Promise<unknown> = Promise.resolve();

  constructor(command: string, args: readonly string[] = []) {
    this.#command = command;
    this.#args = args;
    this.#start();
  }

  /** Null if the program exited instead. Requests are serial. */
  ask(line: string): Promise<string | null> {
    const answer = this.#last.then(() => {
      const { promise, resolve } = Promise.withResolvers<string | null>();
      this.#answered = resolve;
      (this.#child ?? this.#start()).stdin!.write(`${line}\n`);
      return promise;
    });
    this.#last = answer.catch(() => {});
    return answer;
  }

  #start(): ChildProcess {
    const child = spawn(this.#command, this.#args, { stdio: ["pipe", "pipe", "inherit"] });
    child.stdin.on("error", () => {}); // The exit follows.
    createInterface({ input: child.stdout })
      .on("line", (line) => this.#answered(line))
      .on("error", () => {});
    const ended = () => {
      if (this.#child !== child) return;
      this.#child = null;
      this.#answered(null);
    };
    child.once("close", ended).once("error", ended);
    this.#child = child;
    return child;
  }
}
