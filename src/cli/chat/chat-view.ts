import { frames } from "../progress.ts";
import { cut, printable } from "../terminal.ts";
import type { EditorView } from "./line-editor.ts";
import type { LiveReply } from "./live-reply.ts";
import { Screen } from "./screen.ts";
import { type Line, plain } from "./styled-lines.ts";
import { type Entry, messageLines, Transcript } from "./transcript.ts";

/** The live part of the screen, below the transcript. */
export interface ViewState {
  /** The reply under way; null if there is none. */
  running: { live: LiveReply; begunAt: number; tokens: number } | null;
  /** Messages to send after it. */
  waiting: readonly string[];
  /** A question that the user has to answer, in place of the input. */
  question: string | null;
  /** The input, in rows of this width. */
  input: (width: number, maximumRows: number) => EditorView;
  /** A line below the input; empty for none. */
  hint: string;
}

const frameMs = 120;
/** How often the screen is drawn at most. */
const drawMs = 30;
const resizeMs = 80;
const shownWaiting = 3;
/** Lines of the transcript that are shown again when it is unfolded. */
const unfoldedLines = 500;

/** A conversation on a terminal: the transcript, printed for good, and below it the live part. */
export class ChatView {
  readonly #screen: Screen;
  readonly #state: () => ViewState;
  readonly #transcript = new Transcript();
  /** Lines to be printed with the next drawing. */
  #unprinted: Line[] = [];
  #animation: NodeJS.Timeout | undefined;
  #drawTimer: NodeJS.Timeout | undefined;
  #resizeTimer: NodeJS.Timeout | undefined;
  /** Whether the screen is taken over. */
  #isOpen = false;

  constructor(output: NodeJS.WriteStream, state: () => ViewState) {
    this.#screen = new Screen(output);
    this.#state = state;
  }

  /** Takes the terminal over. */
  open(): void {
    this.#isOpen = true;
    this.#screen.open();
    this.#animation = setInterval(() => this.#state().running && this.schedule(), frameMs);
    this.schedule();
  }

  /** Prints the rest, and gives the terminal back. */
  close(): void {
    this.#isOpen = false;
    clearInterval(this.#animation);
    clearTimeout(this.#drawTimer);
    clearTimeout(this.#resizeTimer);
    this.#drawTimer = this.#resizeTimer = undefined;
    this.#screen.close(this.#unprinted);
    this.#unprinted = [];
  }

  print(entry: Entry): void {
    this.#unprinted.push(...this.#transcript.add(entry, this.#width));
    this.schedule();
  }

  /** Draws soon: something has changed. */
  schedule(): void {
    if (this.#isOpen) this.#drawTimer ??= setTimeout(() => this.#draw(), drawMs);
  }

  /** The width of the screen may have changed: draws once the user has stopped resizing. */
  resized(): void {
    if (!this.#isOpen) return;
    clearTimeout(this.#resizeTimer);
    this.#resizeTimer = setTimeout(() => this.redraw(), resizeMs);
  }

  /** Draws the whole screen, and up to `maximum` lines of the transcript above it. */
  redraw(maximum = this.#screen.rows): void {
    clearTimeout(this.#resizeTimer);
    this.#resizeTimer = undefined;
    const { lines, cursor } = this.#live();
    this.#unprinted = [];
    this.#screen.redraw(this.#transcript.last(this.#width, maximum), lines, cursor);
  }

  /** Unfolds the calls of tools, or folds them. */
  unfold(): void {
    this.#transcript.isUnfolded = !this.#transcript.isUnfolded;
    this.redraw(this.#transcript.isUnfolded ? unfoldedLines : undefined);
  }

  /** The last column stays free: terminals differ in how they continue after it. */
  get #width(): number {
    return this.#screen.columns - 1;
  }

  #draw(): void {
    this.#drawTimer = undefined;
    if (this.#resizeTimer) return;
    // May complete blocks, which are printed above.
    const { lines, cursor } = this.#live();
    const printed = this.#unprinted;
    this.#unprinted = [];
    this.#screen.draw(printed, lines, cursor);
  }

  /** The lines that change: the reply under way, what waits, the input. */
  #live(): { lines: Line[]; cursor: { row: number; column: number } } {
    const state = this.#state();
    const width = this.#width;
    const room = this.#screen.rows - 2;
    const input = state.input(width - 2, Math.max(1, Math.floor(room / 3)));
    const waiting = waitingLines(state.waiting, width);
    const below: Line[] = state.hint === "" ? [] : [[plain(cut(printable(state.hint), width - 1), "dim")]];
    const left = room - input.rows.length - waiting.length - below.length - 3;
    const above = [[], ...this.#statusLines(state.running, Math.max(0, left)), ...waiting];
    if (state.question !== null) {
      const asked = cut(`${state.question} `, width - 1);
      return { lines: [...above, [plain(asked)]], cursor: { row: above.length, column: asked.length } };
    }
    const rows = input.rows.map((row, index) => [plain(index === 0 ? "> " : "  ", "bold"), plain(row)]);
    const cursor = { row: above.length + input.cursor.row, column: input.cursor.column + 2 };
    return { lines: [...above, ...rows, ...below], cursor };
  }

  #statusLines(running: ViewState["running"], room: number): Line[] {
    if (!running) return [];
    const elapsed = performance.now() - running.begunAt;
    const mark = frames[Math.floor(elapsed / frameMs) % frames.length]!;
    const tokens = running.tokens > 0 ? ` · ${running.tokens.toLocaleString("en")} tokens` : "";
    const text = `${mark} ${running.live.phase} · ${Math.floor(elapsed / 1000)} s${tokens} · Ctrl-C interrupts`;
    const lines = running.live.lines(this.#width, room, mark);
    return [...lines, ...(lines.length > 0 ? [[]] : []), [plain(cut(text, this.#width - 1), "dim")]];
  }
}

function waitingLines(waiting: readonly string[], width: number): Line[] {
  const shown = waiting.slice(0, shownWaiting).flatMap((message) => messageLines(message, width).slice(0, 1));
  const more = waiting.length - shownWaiting;
  return more > 0 ? [...shown, [plain(`  … ${more} more wait`, "dim")]] : shown;
}
