import { once } from "node:events";
import type { Key } from "node:readline";
import { type AgentHandle, type Berth, isLast, type LastEvent, type Reply, type Turn, type Usage } from "@berth/client";
import { type ApprovalRequest, approvalText, decisionKeys, decisionOf } from "../approval-text.ts";
import type { AttachedFile } from "../attached-files.ts";
import { faultText } from "../errors.ts";
import { adviceOn } from "../report.ts";
import { reportSeen } from "../seen-turns.ts";
import { ChatView } from "./chat-view.ts";
import { contentOf, type Draft, draftText } from "./draft.ts";
import { chordOf, edit } from "./editor-keys.ts";
import type { InputHistory } from "./input-history.ts";
import { type Input, Keyboard } from "./keyboard.ts";
import { LineEditor } from "./line-editor.ts";
import { LiveReply } from "./live-reply.ts";
import { completionsOf, readInput, slashCommands } from "./slash-commands.ts";

interface SessionOptions {
  client: Berth;
  /** The agent's name. */
  name: string;
  /** The number of the conversation; undefined: the agent's current one. */
  conversation: number | undefined;
  history: InputHistory;
  /** Show what was said before. */
  showsPast: boolean;
  input: NodeJS.ReadStream;
  output: NodeJS.WriteStream;
}

interface Question {
  text: string;
  answer: (yes: boolean) => void;
}

/** A running reply. */
interface Running {
  reply: Reply;
  live: LiveReply;
  begunAt: number;
  tokens: number;
  isInterrupted: boolean;
}

/** How often the tokens of a running reply are requested. */
const usageMs = 3_000;
const maximumMessageBytes = 256 * 1024;
const pastTurns = 10;

/** A conversation with an agent on a terminal. */
export class ChatSession {
  readonly #options: SessionOptions;
  readonly #agent: AgentHandle;
  readonly #view: ChatView;
  readonly #keyboard: Keyboard;
  readonly #editor = new LineEditor();
  /** Messages to be sent when the reply under way has ended. */
  #waiting: Draft[] = [];
  /** The files for the next message. */
  #files: AttachedFile[] = [];
  #running: Running | null = null;
  #lastUsage: Usage | null = null;
  /** A line below the input. */
  #hint = "";
  #question: Question | null = null;
  /** Approvals that wait for the user's answer, and their turn's reply. */
  #approvals: { reply: Reply; request: ApprovalRequest }[] = [];
  readonly #actions: Readonly<Record<string, () => void>> = {
    "ctrl-d": () => this.#leave(0),
    return: () => this.#enter(),
    tab: () => void this.#complete(),
    "ctrl-o": () => this.#view.unfold(),
    "ctrl-l": () => this.#view.redraw(),
    "ctrl-z": () => this.#suspend(),
  };
  /** Aborted when the user has left. */
  readonly #gone = new AbortController();
  #exitCode = 0;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#agent = options.client.agent(options.name);
    this.#view = new ChatView(options.output, () => ({
      running: this.#running,
      waiting: this.#waiting.map(draftText),
      question: this.#question?.text ?? this.#approvalQuestion,
      input: (width, maximumRows) => this.#editor.view(width, maximumRows),
      hint: this.#hint,
    }));
    this.#keyboard = new Keyboard(options.input, (input) => this.#take(input));
  }

  /** Resolves with the exit code when the user has left. Throws `ClientError` if there is no such agent. */
  async run(): Promise<number> {
    const { model, runtime, conversation } = await this.#agent.get();
    const past = this.#options.showsPast ? await this.#past(this.#options.conversation ?? conversation) : [];
    this.#tell(`${this.#options.name} · ${runtime}${model ? ` · ${model}` : ""}`, "bold");
    this.#tell("/help shows the commands and keys, Ctrl-D leaves.");
    const release = this.#open();
    try {
      for (const turn of past) this.#showPast(turn);
      await once(this.#gone.signal, "abort");
      await this.#options.history.settled();
      return this.#exitCode;
    } finally {
      release();
    }
  }

  /** Takes the terminal over. Returns what gives it back. */
  #open(): () => void {
    const { input, output } = this.#options;
    const counting = setInterval(() => void this.#countTokens(), usageMs);
    const resized = () => this.#view.resized();
    const continued = () => this.#continued();
    const gone = () => this.#leave(129);
    const ended = () => this.#leave(143);
    output.on("resize", resized).on("error", gone);
    input.on("end", gone);
    process.on("SIGCONT", continued).once("SIGHUP", gone).once("SIGTERM", ended);
    this.#view.open();
    this.#keyboard.open();
    return () => {
      clearInterval(counting);
      this.#keyboard.close();
      this.#view.close();
      output.off("resize", resized);
      input.off("end", gone);
      process.off("SIGCONT", continued).off("SIGHUP", gone).off("SIGTERM", ended);
    };
  }

  /** The last turns of the conversation, the oldest first. */
  async #past(conversation: number): Promise<Turn[]> {
    const { data } = await this.#agent.turns({ conversation }).take(pastTurns);
    return data.toReversed();
  }

  #showPast({ id, message, attachments, reply, replyTruncated, output, status, error }: Turn): void {
    this.#view.print({ kind: "message", text: draftText({ text: message, files: attachments ?? [] }) });
    if (status === "running" || status === "waiting" || status === "queued") {
      void this.#follow(this.#agent.reply(id, this.#chatOptions));
      return;
    }
    if (reply.trim() !== "") this.#view.print({ kind: "reply", markdown: reply });
    if (output) this.#view.print({ kind: "reply", markdown: `\`\`\`json\n${JSON.stringify(output, null, 2)}\n\`\`\`` });
    if (replyTruncated) this.#tell("… the rest of this reply is too long to be shown here.");
    if (error) this.#tell(faultText(error), "red");
  }

  #take(input: Input): void {
    if (this.#gone.signal.aborted) return;
    if (this.#question) this.#answer(input);
    else if (this.#approvals.length > 0 && this.#decide(input)) return;
    else if (input.kind === "paste") this.#paste(input.text);
    else this.#press(input.key, input.text);
    this.#view.schedule();
  }

  #paste(text: string): void {
    this.#hint = "";
    if (Buffer.byteLength(this.#editor.text) + Buffer.byteLength(text) > maximumMessageBytes) {
      this.#hint = "A message is limited to 256 KiB. The pasted text is longer, and was dropped.";
    } else this.#editor.insert(text);
  }

  #press(key: Key, text: string): void {
    const chord = chordOf(key);
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

  get #approvalQuestion(): string | null {
    const [first] = this.#approvals;
    return first ? `Allow ${this.#options.name} to ${first.request.kind}? ${decisionKeys}` : null;
  }

  /** Answers the first approval. False: the key is for something else. */
  #decide(input: Input): boolean {
    if (input.kind === "paste") return true;
    const chord = chordOf(input.key);
    if (chord === "ctrl-c" || chord === "ctrl-d") return false;
    const decision = decisionOf(input.key.name);
    if (decision === null) return true;
    const { reply, request } = this.#approvals.shift()!;
    this.#tell(`${decision}: ${approvalText(request)}`);
    void reply.turnId
      .then((turnId) => this.#agent.approvals.answer(turnId, request.id, { decision }))
      .catch((error: unknown) => this.#tellError(error));
    return true;
  }

  /** Ctrl-C: interrupts the reply; leaves if that was requested already, or if pressed twice while there is none. */
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

  /** Puts unsent text back into the input. */
  #takeBackWaiting(): void {
    if (this.#waiting.length === 0) return;
    const texts = this.#waiting.map(({ text }) => text);
    this.#editor.set([...texts, ...(this.#editor.isEmpty ? [] : [this.#editor.text])].join("\n"));
    this.#files.unshift(...this.#waiting.flatMap(({ files }) => files));
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
    else {
      const draft = { text: input.message, files: this.#files };
      this.#files = [];
      if (this.#running) this.#waiting.push(draft);
      else this.#send(draft);
    }
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
          attach: (file) => this.#files.push(file),
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
      this.#question = { text: `${text} [y/N]`, answer };
      this.#view.schedule();
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
    this.#view.schedule();
  }

  #send(draft: Draft): void {
    this.#view.print({ kind: "message", text: draftText(draft) });
    const { conversation } = this.#options;
    void this.#follow(this.#agent.chat(contentOf(draft), { ...this.#chatOptions, conversation, whenBusy: "queue" }));
  }

  get #chatOptions() {
    const onBroken = () => {
      this.#hint = "The connection was lost; reconnecting.";
      this.#view.schedule();
    };
    return { include: ["status", "tools", "usage", "approvals"] as const, onBroken, signal: this.#gone.signal };
  }

  /** Shows a reply to its end, then sends the queued messages. */
  async #follow(reply: Reply): Promise<void> {
    const live = new LiveReply((entry) => this.#view.print(entry));
    this.#running = { reply, live, begunAt: performance.now(), tokens: 0, isInterrupted: false };
    const last = await this.#read(reply, live).catch(async (error: unknown) => {
      live.end();
      if (!this.#gone.signal.aborted) await this.#tellError(error);
      return null;
    });
    if (last) void reportSeen(this.#options.name, reply, last);
    this.#lastUsage = last?.usage ?? this.#lastUsage;
    if (last?.type === "response.failed") this.#tell(faultText(last.error), "red");
    if (last?.type === "response.cancelled") this.#tell("interrupted");
    this.#running = null;
    this.#approvals = [];
    this.#hint = "";
    if (last?.type !== "response.completed") this.#takeBackWaiting();
    const next = this.#waiting.shift();
    if (next !== undefined) this.#send(next);
    this.#view.schedule();
  }

  /** Shows a reply's events. Returns the last one, null where the stream ends early. */
  async #read(reply: Reply, live: LiveReply): Promise<LastEvent | null> {
    for await (const event of reply) {
      live.take(event);
      if (event.type === "response.approval.requested") {
        this.#approvals.push({ reply, request: event });
        this.#tell(`${this.#options.name} wants to ${approvalText(event)}`, "bold");
      }
      if (event.type === "response.approval.resolved") {
        this.#approvals = this.#approvals.filter(({ request }) => request.id !== event.id);
      }
      this.#view.schedule();
      if (!isLast(event)) continue;
      live.end();
      return event;
    }
    return null;
  }

  async #countTokens(): Promise<void> {
    const running = this.#running;
    if (!running || running.live.phase === "sending") return;
    const turn = await this.#agent.turn(await running.reply.turnId).catch(() => null);
    if (turn) running.tokens = turn.usage.inputTokens + turn.usage.outputTokens;
  }

  /** Gives the terminal back until the shell continues us. */
  #suspend(): void {
    this.#keyboard.close();
    this.#view.close();
    process.kill(process.pid, "SIGTSTP");
  }

  #continued(): void {
    this.#view.open();
    this.#keyboard.open();
    this.#view.redraw();
  }

  #leave(code: number): void {
    if (this.#gone.signal.aborted) return;
    if (this.#running && !this.#running.isInterrupted) {
      this.#tell(`${this.#options.name} continues its reply. To see it: berth chat ${this.#options.name}`);
    }
    this.#exitCode = code;
    this.#gone.abort();
  }

  #tell(text: string, style: "dim" | "bold" | "red" = "dim"): void {
    this.#view.print({ kind: "note", text, style });
  }

  async #tellError(error: unknown): Promise<void> {
    const told = await adviceOn(error);
    this.#tell(told instanceof Error ? told.message : String(told), "red");
  }
}

function commonStart(one: string, other: string): string {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return one.slice(0, length);
}
