/** Terminal modes that are restored (xterm's "DEC Private Mode Set"), with their values in a new terminal. */
const initialModes: ReadonlyMap<string, boolean> = new Map([
  ["1", false], // Cursor keys for applications.
  ["6", false], // Positions count from the scrolling region.
  ["7", true], // Long lines wrap.
  ["25", true], // The cursor is visible.
  ["9", false], // This and the next four: the mouse is reported.
  ["1000", false],
  ["1001", false],
  ["1002", false],
  ["1003", false],
  ["1004", false], // Focus is reported.
  ["1005", false], // This and the next three: how positions of the mouse are written.
  ["1006", false],
  ["1015", false],
  ["1016", false],
  ["47", false], // This and the next two: the alternate screen.
  ["1047", false],
  ["1049", false],
  ["2004", false], // Pasted text is bracketed.
]);

/** Private modes set and reset, the keypad's mode, and a full reset. */
const modeSequence = anyOf("g", [String.raw`\x1b\[\?([\d;]+)([hl])`, String.raw`\x1b([=>c])`]);

/**
 * A whole sequence at the beginning of a text (ECMA-48; in xterm, a bell also ends an OSC). Another escape character
 * aborts it.
 */
const wholeSequence = anyOf("", [
  String.raw`^\x1b\[[\x00-\x17\x19\x1c-\x3f]*[^\x00-\x17\x19\x1c-\x3f]`,
  String.raw`^\x1b\][^\x07\x18\x1a\x1b]*[\x07\x18\x1a\x1b]`,
  String.raw`^\x1b[PX^_][^\x18\x1a\x1b]*[\x18\x1a\x1b]`,
  String.raw`^\x1b[\x00-\x17\x19\x1c-\x2f]*[^\x00-\x17\x19\x1c-\x2f[\]PX^_]`,
]);

/** Sequences to which terminals reply. */
const querySequences = anyOf("g", [
  String.raw`\x05`, // The answerback message.
  String.raw`\x1bZ|\x1b\[[?>=]?[\d;]*c`, // Device attributes.
  String.raw`\x1b\[\??[\d;]*n`, // Status, the cursor's position.
  String.raw`\x1b\[\??[\d;]*\$[pw]`, // Modes, the state of the presentation.
  String.raw`\x1b\[>[\d;]*q`, // The version.
  String.raw`\x1b\[\?u`, // The keyboard's protocol.
  String.raw`\x1b\[[\d;]*(?:x|\*y)`, // Terminal parameters, checksums.
  String.raw`\x1b\[\?[\d;]*S`, // Graphics.
  String.raw`\x1b\[(?:1[1345689]|2[01])(?:;\d*)*t`, // The window's size, position and title.
  String.raw`\x1b\](?:4|5|1\d|21|52);[^\x07\x1b?]*\?[^\x07\x1b]*(?:\x07|\x1b\\)`, // Colours, the clipboard.
  String.raw`\x1bP[\d;]*[$+]q[^\x1b]*\x1b\\`, // Settings, capabilities.
  String.raw`\x1b_G(?:[^;\x1b]*,)?a=q[^\x1b]*\x1b\\`, // Kitty's graphics.
]);

const escapeCharacter = "\x1b";
/** Limit on a remembered unfinished sequence. Sequences that can set a mode are shorter. */
const rememberedCharacters = 256;

/**
 * The state of a terminal after some output: the unfinished sequence, and the modes that differ from a new terminal's.
 * An escape character always begins a new sequence, so the last one decides whether the output ends within a sequence.
 */
export class TerminalState {
  /** The unfinished sequence at the end of the output; empty if there is none. */
  #unfinished: string;
  readonly #modes: Map<string, boolean>;
  #keypad: boolean;

  /** A copy of `other`; null: a new terminal. */
  constructor(other: TerminalState | null = null) {
    this.#unfinished = other ? other.#unfinished : "";
    this.#modes = new Map(other ? other.#modes : []);
    this.#keypad = other ? other.#keypad : false;
  }

  get unfinished(): string {
    return this.#unfinished;
  }

  /** Adds output: text, or one character per byte. */
  add(output: string): void {
    const text = this.#unfinished + output;
    const last = text.lastIndexOf(escapeCharacter);
    if (last < 0) return;
    for (const [, modes, end, other] of text.matchAll(modeSequence)) {
      if (modes !== undefined) for (const mode of modes.split(";")) this.#set(mode, end === "h");
      else if (other === "c") this.#reset();
      else this.#keypad = other === "=";
    }
    const tail = text.slice(last);
    this.#unfinished = wholeSequence.test(tail) ? "" : tail.slice(0, rememberedCharacters);
  }

  /** Output that sets a new terminal's modes to these. */
  get restored(): string {
    const modes = [...this.#modes].map(([mode, on]) => `${escapeCharacter}[?${mode}${on ? "h" : "l"}`);
    return `${modes.join("")}${this.#keypad ? `${escapeCharacter}=` : ""}`;
  }

  #set(mode: string, on: boolean): void {
    const initial = initialModes.get(mode);
    this.#modes.delete(mode); // Keep the order of the last changes.
    if (initial !== undefined && initial !== on) this.#modes.set(mode, on);
  }

  #reset(): void {
    this.#modes.clear();
    this.#keypad = false;
  }
}

/**
 * The end of a terminal's output as a new viewer sees it: at least `lastBytes`, with the modes that were set before. It
 * begins with a complete character, outside of sequences. Queries are left out, because the new viewer's terminal would
 * answer them a second time. `before`: the state at the beginning of `output`.
 */
export function replayOf(output: Buffer, lastBytes: number, before: TerminalState): Buffer {
  const text = output.toString("latin1");
  const begin = startOf(text, Math.max(0, text.length - lastBytes), before);
  const state = new TerminalState(before);
  state.add(text.slice(0, begin));
  return Buffer.from(state.restored + text.slice(begin).replaceAll(querySequences, ""), "latin1");
}

/**
 * The last position up to `at` that is outside of characters and sequences; a later one if `output` begins within one.
 */
function startOf(output: string, at: number, { unfinished }: TerminalState): number {
  const text = unfinished + output;
  let begin = unfinished.length + at;
  for (let back = 0; back < 3 && isContinuation(text, begin); back++) begin--;
  const last = begin === 0 ? -1 : text.lastIndexOf(escapeCharacter, begin - 1);
  if (last >= 0 && !wholeSequence.test(text.slice(last, begin))) begin = last;
  if (begin >= unfinished.length) return begin - unfinished.length;
  const end = wholeSequence.exec(text)?.[0].length ?? text.length;
  const next = text.indexOf(escapeCharacter, 1);
  return (next < 0 ? end : Math.min(end, next)) - unfinished.length;
}

function isContinuation(text: string, at: number): boolean {
  return at > 0 && (text.charCodeAt(at) & 0xc0) === 0x80;
}

function anyOf(flags: string, patterns: string[]): RegExp {
  return new RegExp(patterns.join("|"), flags);
}
