/** The period for which an agent's lines are counted. */
const periodMs = 60_000;
/** The maximum number of an agent's lines in a period. */
const maximumLines = 10;

/** Lines of the server's log that machines, or the hosts that they reach, can cause: a few for each agent. */
export class Warnings {
  readonly #write: (message: string, error: unknown) => void;
  /** The number of each agent's lines in this period. */
  readonly #lines = new Map<string, number>();
  #begun = performance.now();

  constructor(write: (message: string, error: unknown) => void) {
    this.#write = write;
  }

  write(agentId: string, message: string, error: unknown): void {
    if (performance.now() - this.#begun >= periodMs) {
      this.#lines.clear();
      this.#begun = performance.now();
    }
    const lines = (this.#lines.get(agentId) ?? 0) + 1;
    this.#lines.set(agentId, lines);
    if (lines <= maximumLines) this.#write(message, error);
    else if (lines === maximumLines + 1)
      this.#write(`suppressing more warnings of agent ${agentId} for a minute`, null);
  }
}
