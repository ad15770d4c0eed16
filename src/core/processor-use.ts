import { cpus } from "node:os";

/** How much of the host's processors is in use, by what they did and not by how many programs wait. */
export class ProcessorUse {
  #last = totals();

  /** The share of the processors' time that was in use since the last call, 0 to 1. */
  measure(): number {
    const before = this.#last;
    this.#last = totals();
    const all = this.#last.all - before.all;
    return all === 0 ? 0 : 1 - (this.#last.idle - before.idle) / all;
  }
}

function totals(): { idle: number; all: number } {
  const times = cpus().map(({ times }) => times);
  const idle = times.reduce((sum, each) => sum + each.idle, 0);
  const all = times.reduce((sum, { user, nice, sys, irq }) => sum + user + nice + sys + irq, idle);
  return { idle, all };
}
