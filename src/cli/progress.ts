import { cut, type Output, printable, styled } from "./terminal.ts";

const redrawMs = 100;
const frames = [..."⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"];

/**
 * Shows what is being done: on a terminal one line, rewritten with the elapsed time and gone when it is disposed;
 * elsewhere a line for each thing that is begun.
 */
export class Progress implements Disposable {
  readonly #output: Output;
  readonly #begun = performance.now();
  #doing = "";
  #timer: NodeJS.Timeout | undefined;

  constructor(output: Output) {
    this.#output = output;
  }

  /** Seconds since this was made. */
  get seconds(): number {
    return (performance.now() - this.#begun) / 1000;
  }

  /** Says what is being done from now on. */
  show(doing: string): void {
    if (doing === this.#doing) return;
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
