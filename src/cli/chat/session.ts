import type { Key } from "node:readline";
import { type AgentHandle, type Berth, isLast, type LastEvent, type Reply, type Turn, type Usage } from "@berth/client";
import { faultText } from "../errors.ts";
import { adviceOn } from "../report.ts";
import { cut, printable } from "../terminal.ts";
import { edit } from "./editor-keys.ts";
import type { InputHistory } from "./input-history.ts";
import { type Input, Keyboard } from "./keyboard.ts";
import { LineEditor } from "./line-editor.ts";
import { LiveReply } from "./live-reply.ts";
import { Screen } from "./screen.ts";
import { completionsOf, readInput, slashCommands } from "./slash-commands.ts";
import { type Line, plain } from "./styled-lines.ts";
import { type Entry, messageLines, Transcript } from "./transcript.ts";

interface SessionOptions {
  client: Berth;
  /** The agent's name. */
  name: string;
  history: InputHistory;
  /** Show what was said before. */
  showsPast: boolean;
  input: NodeJS.ReadStream;
  output: NodeJS.WriteStream;
}

/** A reply that is under way. */
interface Running {
  reply: Reply;
  live: LiveReply;
  begunAt: number;
  tokens: number;
  isInterrupted: boolean;
}

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const frameMs = 120;
/** How often the screen is drawn at most. */
const drawMs = 30;
/** How often the tokens of a reply under way are asked for. */
const usageMs = 3_000;
const resizeMs = 80;
const maximumMessageBytes = 256 * 1024;
const pastTurns = 10;
const unfoldedLines = 500;

/** A conversation with an agent on a terminal. */
export class ChatSession {
  readonly #options: SessionOptions;
  readonly #agent: AgentHandle;
  readonly #screen: Screen;
  readonly #keyboard: Keyboard;
  readonly #editor = new LineEditor();
  readonly #transcript = new Transcript();
  /** Messages to be sent when the reply under way has ended. */
  #waiting: string[] = [];
  #running: Running | null = null;
  #lastUsage: Usage | null = null;
  /** A line below the input. */
  #hint = "";
  #question: { text: string; answer: (yes: boolean) => void } | null = null;
  /** Lines to be printed with the next drawing. */
  #unprinted: Line[] = [];
  #drawTimer: NodeJS.Timeout | undefined;
  #resizeTimer: NodeJS.Timeout | undefined;
  readonly #over = deferred<number>();
  readonly #actions: Readonly<Record<string, () => void>> = {
    "ctrl-d": () => this.#leave(0),
    return: () => this.#enter(),
    tab: () => void this.#complete(),
    "ctrl-o": () => this.#unfold(),
    "ctrl-l": () => this.#redraw(),
    "ctrl-z": () => this.#suspend(),
  };
  /** Aborted when the user has left. */
  readonly #gone = new AbortController();

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#agent = options.client.agent(options.name);
    this.#screen = new Screen(options.output);
    this.#keyboard = new Keyboard(options.input, (input) => this.#take(input));
  }

  /** Resolves with the exit code when the user has left. Throws `ClientError` if there is no such agent. */
  async run(): Promise<number> {
    const { model, runtime, conversation } = await this.#agent.get();
    const past = this.#options.showsPast ? await this.#past(conversation) : [];
    this.#print({
      kind: "note",
      text: `${this.#options.name} · ${runtime}${model ? ` · ${model}` : ""}`,
      style: "bold",
    });
    this.#print({ kind: "note", text: "/help shows the commands and keys, Ctrl-D leaves.", style: "dim" });
    const release = this.#open();
    try {
      for (const turn of past) this.#showPast(turn);
      this.#draw();
      const code = await this.#over.promise;
      await this.#options.history.settled();
      return code;
    } finally {
      release();
    }
  }

  /** Takes the terminal over. Returns what gives it back. */
  #open(): () => void {
    const { input, output } = this.#options;
    const animation = setInterval(() => this.#running && this.#schedule(), frameMs);
    const counting = setInterval(() => void this.#countTokens(), usageMs);
    const resized = () => this.#resized();
    const continued = () => this.#continued();
    const gone = () => this.#leave(129);
    const ended = () => this.#leave(143);
    output.on("resize", resized).on("error", gone);
    input.on("end", gone);
    process.on("SIGCONT", continued).once("SIGHUP", gone).once("SIGTERM", ended);
    this.#screen.open();
    this.#keyboard.open();
    return () => {
      clearInterval(animation);
      clearInterval(counting);
      clearTimeout(this.#drawTimer);
      clearTimeout(this.#resizeTimer);
      this.#keyboard.close();
      this.#screen.close(this.#unprinted);
      output.off("resize", resized);
      input.off("end", gone);
      process.off("SIGCONT", continued).off("SIGHUP", gone).off("SIGTERM", ended);
    };
  }

  /** The last turns of the conversation, the oldest first. */
  async #past(conversation: number): Promise<Turn[]> {
    const { data } = await this.#agent.turns().take(pastTurns);
    return data.filter((turn) => turn.conversation === conversation).toReversed();
  }

  #showPast({ id, message, reply, replyTruncated, status, error }: Turn): void {
    this.#print({ kind: "message", text: message });
    if (status === "running") {
      void this.#follow(this.#agent.reply(id, this.#chatOptions));
      return;
    }
    if (reply.trim() !== "") this.#print({ kind: "reply", markdown: reply });
    if (replyTruncated) this.#tell("… the rest of this reply is too long to be shown here.");
    if (error) this.#print({ kind: "note", text: faultText(error), style: "red" });
  }

  #take(input: Input): void {
    if (this.#gone.signal.aborted) return;
    if (this.#question) this.#answer(input);
    else if (input.kind === "paste") this.#paste(input.text);
    else this.#press(input.key, input.text);
    this.#schedule();
  }

  #paste(text: string): void {
    this.#hint = "";
    if (Buffer.byteLength(this.#editor.text) + Buffer.byteLength(text) > maximumMessageBytes) {
      this.#hint = "A message has 256 KiB at most. What was pasted is more, and was left out.";
    } else this.#editor.insert(text);
  }

  #press(key: Key, text: string): void {
    const chord = `${key.ctrl ? "ctrl-" : ""}${key.meta ? "meta-" : ""}${key.name}`;
    if (chord === "ctrl-c") {
      this.#interrupt();
      return;
    }
    this.#hint = "";
    const action = chord === "ctrl-d" && !this.#editor.isEmpty ? undefined : this.#actions[chord];
    if (action) action();
    else edit(this.#editor, this.#options.history, key, text);
  }

  #answer(input: Input): void {
    if (input.kind === "paste") return;
    const { answer } = this.#question!;
    this.#question = null;
    answer(input.key.name === "y");
  }

  /** Ctrl-C: interrupts the reply; leaves if that was asked for already, or if pressed twice where there is none. */
  #interrupt(): void {
    const running = this.#running;
    const again = "Ctrl-C once more leaves.";
    if (running?.isInterrupted || (!running && this.#hint === again)) {
      this.#leave(130);
      return;
    }
    this.#hint = "";
    if (running) {
      running.isInterrupted = true;
      running.live.phase = "interrupting";
      this.#hint = again;
      this.#takeBackWaiting();
      running.reply.cancel().catch((error: unknown) => this.#tellError(error));
    } else if (!this.#editor.isEmpty) this.#editor.set("");
    else this.#hint = again;
  }

  /** What has not been sent is put back into the input. */
  #takeBackWaiting(): void {
    if (this.#waiting.length === 0) return;
    this.#editor.set([...this.#waiting, ...(this.#editor.isEmpty ? [] : [this.#editor.text])].join("\n"));
    this.#waiting = [];
  }

  #enter(): void {
    if (this.#editor.continueLine()) return;
    const { text } = this.#editor;
    if (text.trim() === "") return;
    const input = readInput(text.trim());
    if ("command" in input && !(input.command in slashCommands || input.command === "exit")) {
      this.#hint = `There is no /${input.command}. /help lists the commands; // sends a message that begins with a slash.`;
      return;
    }
    this.#options.history.add(text).catch(() => {
      this.#hint = "The history could not be stored.";
    });
    this.#editor.set("");
    if ("command" in input) void this.#command(input.command, input.argument);
    else if (this.#running) this.#waiting.push(input.message);
    else this.#send(input.message);
  }

  async #command(name: string, argument: string): Promise<void> {
    const { run } = slashCommands[name === "exit" ? "quit" : name]!;
    this.#tell(`/${name}${argument && ` ${argument}`}`);
    try {
      await run(
        {
          client: this.#options.client,
          agent: this.#agent,
          lastUsage: this.#lastUsage,
          tell: (text) => this.#tell(`  ${text}`),
          confirm: (text) => this.#ask(text),
          leave: () => this.#leave(0),
        },
        argument,
      );
    } catch (error) {
      await this.#tellError(error);
    }
  }

  #ask(text: string): Promise<boolean> {
    this.#question?.answer(false);
    return new Promise((answer) => {
      this.#question = { text, answer };
      this.#schedule();
    });
  }

  /** Completes a command or its argument; several candidates are shown. */
  async #complete(): Promise<void> {
    const { text } = this.#editor;
    const candidates = await completionsOf(text, this.#options).catch(() => []);
    if (this.#editor.text !== text || candidates.length === 0) return;
    const common = candidates.reduce((start, each) => commonStart(start, each));
    if (common.length > text.length) this.#editor.set(candidates.length === 1 ? `${common} ` : common);
    else this.#hint = candidates.map((each) => each.split(" ").at(-1)).join(", ");
    this.#schedule();
  }

  #send(message: string): void {
    this.#print({ kind: "message", text: message });
    void this.#follow(this.#agent.chat(message, this.#chatOptions));
  }

  get #chatOptions() {
    const onBroken = () => {
      this.#hint = "The connection broke off; trying to go on.";
      this.#schedule();
    };
    return { include: ["status", "tools", "usage"] as const, onBroken, signal: this.#gone.signal };
  }

  /** Shows a reply to its end, then sends what waits. */
  async #follow(reply: Reply): Promise<void> {
    const live = new LiveReply((entry) => this.#print(entry));
    this.#running = { reply, live, begunAt: performance.now(), tokens: 0, isInterrupted: false };
    const goesOn = await this.#read(reply, live).catch(async (error: unknown) => {
      live.end();
      if (!this.#gone.signal.aborted) await this.#tellError(error);
      return false;
    });
    this.#running = null;
    this.#hint = "";
    if (!goesOn) this.#takeBackWaiting();
    const next = this.#waiting.shift();
    if (next !== undefined) this.#send(next);
    this.#schedule();
  }

  /** Resolves with whether the reply is complete. */
  async #read(reply: Reply, live: LiveReply): Promise<boolean> {
    for await (const event of reply) {
      live.take(event);
      this.#schedule();
      if (!isLast(event)) continue;
      live.end();
      return this.#ended(event);
    }
    return false;
  }

  #ended(last: LastEvent): boolean {
    this.#lastUsage = last.usage ?? this.#lastUsage;
    if (last.type === "response.failed") this.#print({ kind: "note", text: faultText(last.error), style: "red" });
    if (last.type === "response.cancelled") this.#tell("interrupted");
    return last.type === "response.completed";
  }

  async #countTokens(): Promise<void> {
    const running = this.#running;
    if (!running || running.live.phase === "sending") return;
    const turn = await this.#agent.turn(await running.reply.turnId).catch(() => null);
    if (turn) running.tokens = turn.usage.inputTokens + turn.usage.outputTokens;
  }

  #unfold(): void {
    this.#transcript.isUnfolded = !this.#transcript.isUnfolded;
    this.#redraw(this.#transcript.isUnfolded ? unfoldedLines : undefined);
  }

  /** Gives the terminal back until the shell continues us. */
  #suspend(): void {
    this.#keyboard.close();
    this.#screen.close(this.#unprinted);
    this.#unprinted = [];
    process.kill(process.pid, "SIGTSTP");
  }

  #continued(): void {
    this.#screen.open();
    this.#keyboard.open();
    this.#redraw();
  }

  #leave(code: number): void {
    if (this.#gone.signal.aborted) return;
    if (this.#running && !this.#running.isInterrupted) {
      this.#tell(`${this.#options.name} goes on with its reply. To see it: berth chat ${this.#options.name}`);
    }
    this.#gone.abort();
    this.#over.resolve(code);
  }

  #tell(text: string): void {
    this.#print({ kind: "note", text, style: "dim" });
  }

  async #tellError(error: unknown): Promise<void> {
    const told = await adviceOn(error);
    this.#print({ kind: "note", text: told instanceof Error ? told.message : String(told), style: "red" });
  }

  #print(entry: Entry): void {
    this.#unprinted.push(...this.#transcript.add(entry, this.#width));
    this.#schedule();
  }

  /** The last column stays free: terminals differ in what they do after it. */
  get #width(): number {
    return this.#screen.columns - 1;
  }

  #schedule(): void {
    if (this.#gone.signal.aborted) return;
    this.#drawTimer ??= setTimeout(() => this.#draw(), drawMs);
  }

  #draw(): void {
    clearTimeout(this.#drawTimer);
    this.#drawTimer = undefined;
    if (this.#gone.signal.aborted || this.#resizeTimer) return;
    // May complete blocks, which are printed above.
    const { lines, cursor } = this.#live();
    const printed = this.#unprinted;
    this.#unprinted = [];
    this.#screen.draw(printed, lines, cursor);
  }

  /** The width of what is on the screen may have changed: it is drawn once the user has stopped pulling. */
  #resized(): void {
    clearTimeout(this.#resizeTimer);
    this.#resizeTimer = setTimeout(() => this.#redraw(), resizeMs);
  }

  #redraw(maximum = this.#screen.rows): void {
    clearTimeout(this.#resizeTimer);
    this.#resizeTimer = undefined;
    const { lines, cursor } = this.#live();
    this.#unprinted = [];
    this.#screen.redraw(this.#transcript.last(this.#width, maximum), lines, cursor);
  }

  /** The lines that change: the reply under way, what waits, the input. */
  #live(): { lines: Line[]; cursor: { row: number; column: number } } {
    const width = this.#width;
    const room = this.#screen.rows - 2;
    const input = this.#editor.view(width - 2, Math.max(1, Math.floor(room / 3)));
    const waiting = this.#waitingLines(width);
    const below: Line[] = this.#hint === "" ? [] : [[plain(cut(printable(this.#hint), width - 1), "dim")]];
    const status = this.#statusLines(Math.max(0, room - input.rows.length - waiting.length - below.length - 3));
    const above = [[], ...status, ...waiting];
    if (this.#question) {
      const asked = cut(`${this.#question.text} [y/N] `, width - 1);
      return { lines: [...above, [plain(asked)]], cursor: { row: above.length, column: asked.length } };
    }
    const rows = input.rows.map((row, index) => [plain(index === 0 ? "> " : "  ", "bold"), plain(row)]);
    const cursor = { row: above.length + input.cursor.row, column: input.cursor.column + 2 };
    return { lines: [...above, ...rows, ...below], cursor };
  }

  #waitingLines(width: number): Line[] {
    const shown = this.#waiting.slice(0, 3).flatMap((message) => messageLines(message, width).slice(0, 1));
    const more = this.#waiting.length - 3;
    return more > 0 ? [...shown, [plain(`  … ${more} more wait`, "dim")]] : shown;
  }

  #statusLines(room: number): Line[] {
    const running = this.#running;
    if (!running) return [];
    const elapsed = performance.now() - running.begunAt;
    const mark = frames[Math.floor(elapsed / frameMs) % frames.length]!;
    const tokens = running.tokens > 0 ? ` · ${running.tokens.toLocaleString("en")} tokens` : "";
    const text = `${mark} ${running.live.phase} · ${Math.floor(elapsed / 1000)} s${tokens} · Ctrl-C interrupts`;
    const lines = running.live.lines(this.#width, room, mark);
    return [...lines, ...(lines.length > 0 ? [[]] : []), [plain(cut(text, this.#width - 1), "dim")]];
  }
}

/** `Promise.withResolvers`, which Node 20 lacks. */
function deferred<Value>() {
  let resolve!: (value: Value) => void;
  const promise = new Promise<Value>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

function commonStart(one: string, other: string): string {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return one.slice(0, length);
}
