import { cut, type Output, printable, styled } from "./terminal.ts";
import { isQuiet } from "./verbosity.ts";

const redrawMs = 100;
/** The pictures of a sign that work is under way. */
export const frames = [..."⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"];

/**
 * Shows the current step. On a terminal it is one line, updated with the elapsed time and erased on disposal. Elsewhere
 * each new step gets a line.
 */
export class Progress implements Disposable {
  readonly #output: Output;
  readonly #begun = performance.now();
  #doing = "";
  #timer: NodeJS.Timeout | undefined;

  constructor(output: Output) {
    this.#output = output;
  }

  /** Seconds since creation. */
  get seconds(): number {
    return (performance.now() - this.#begun) / 1000;
  }

  /** Sets the current step. */
  show(doing: string): void {
    if (doing === this.#doing || isQuiet()) return;
    this.#doing = doing;
    if (!this.#output.isTTY) {
      this.#output.write(`${printable(doing)}\n`);
      return;
    }
    this.#timer ??= setInterval(() => this.#draw(), redrawMs);
    this.#draw();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    if (this.#timer) this.#output.write("\r\x1b[2K");
    this.#timer = undefined;
  }

  #draw(): void {
    const frame = frames[Math.floor(this.seconds * 10) % frames.length]!;
    const elapsed = `${this.seconds.toFixed(1)} s`;
    const doing = cut(printable(this.#doing), (this.#output.columns || 80) - elapsed.length - 4);
    this.#output.write(`\r\x1b[2K${frame} ${doing} ${styled(this.#output, "dim", elapsed)}`);
  }
}
