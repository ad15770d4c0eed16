const checkMs = 2_000;

/** Whether the service answers. While it does not, this checks every two seconds. */
export class Reachability {
  #isReachable = true;
  #timer: ReturnType<typeof setInterval> | undefined;
  readonly #watchers = new Set<() => void>();

  get current(): boolean {
    return this.#isReachable;
  }

  /** Called with the outcome of each request. */
  report(answers: boolean): void {
    if (answers === this.#isReachable) return;
    this.#isReachable = answers;
    clearInterval(this.#timer);
    if (!answers) this.#timer = setInterval(() => void this.#check(), checkMs);
    for (const changed of this.#watchers) changed();
  }

  watch = (changed: () => void): (() => void) => {
    this.#watchers.add(changed);
    return () => this.#watchers.delete(changed);
  };

  /** Calls back each time the service answers again. Returns a function that ends this. */
  onReturn(returned: () => void): () => void {
    return this.watch(() => this.#isReachable && returned());
  }

  async #check(): Promise<void> {
    const response = await fetch("/healthz").catch(() => null);
    if (response?.ok) this.report(true);
  }
}
