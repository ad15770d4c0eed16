/**
 * Two kinds of task over the same files: any number of `shared` tasks run together, and a task that removes or replaces
 * files runs alone.
 */
export class SharedLock {
  #shared = 0;
  #alone: Promise<void> | null = null;

  /** Runs a task together with other shared ones, after the task that runs alone. */
  async shared<T>(task: () => Promise<T>): Promise<T> {
    // Another exclusive task may have begun before this one resumed.
    while (this.#alone) await this.#alone;
    this.#shared++;
    try {
      return await task();
    } finally {
      this.#shared--;
    }
  }

  /** Runs a task while no other one runs. Returns false, without running it, while any other does. */
  async tryAlone(task: () => Promise<void>): Promise<boolean> {
    if (this.#shared > 0 || this.#alone) return false;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#alone = promise;
    try {
      await task();
    } finally {
      this.#alone = null;
      resolve();
    }
    return true;
  }
}

/** Runs the tasks of each key one at a time, in the order of the calls. A task that rejects does not stop the next. */
export class SerialQueue {
  readonly #last = new Map<string, Promise<unknown>>();

  run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const result = (this.#last.get(key) ?? Promise.resolve()).then(task);
    const settled = result
      .catch(() => {})
      .then(() => {
        if (this.#last.get(key) === settled) this.#last.delete(key);
      });
    this.#last.set(key, settled);
    return result;
  }
}
