import { setTimeout as sleep } from "node:timers/promises";
import type { ChosenProvider } from "../gateway.ts";
import type { ModelAnswer, ModelCall, Provider } from "../provider.ts";
import { chat } from "../wires/chat.ts";
import { countGeminiTokens, generateContent, streamGenerateContent } from "../wires/gemini.ts";
import { countTokens, messages } from "../wires/messages.ts";
import { responses } from "../wires/responses.ts";
import { isObject, type JsonObject, type Wire } from "../wires/wire.ts";
import { chatDialect } from "./chat.ts";
import { type Dialect, type Part, type Reply, shellInput, type Tokens } from "./dialect.ts";
import { geminiDialect } from "./gemini.ts";
import { messagesDialect } from "./messages.ts";
import { responsesDialect } from "./responses.ts";

/** Pause between two words of a streamed reply, in milliseconds. */
const wordPaceMs = 12;

/** The names under which runtimes offer a shell to their model. */
const shellToolNames = /^(bash|shell|exec|exec_command|terminal|run_command|run_shell_command|local_shell)$/i;

const dialects = new Map<Wire, Dialect>([
  [messages, messagesDialect],
  [chat, chatDialect],
  [responses, responsesDialect],
  [generateContent, geminiDialect],
  [streamGenerateContent, geminiDialect],
]);

/**
 * A model for installations without an API key. It repeats its input, runs the command of a line
 * `run: COMMAND` with the runtime's shell tool, and calls a tool by its name for a line `use: TOOL {"its": "input"}`. It
 * says that it is a demo.
 */
export const demo: Provider = async ({ wire, model: named, body, signal }: ModelCall): Promise<ModelAnswer> => {
  const request = parse(body);
  if (!request) return jsonAnswer(400, wire.error(400, "The body is not a JSON object."));
  const input = Math.ceil(body.length / 4);
  if (wire === countTokens) return jsonAnswer(200, { input_tokens: input });
  if (wire === countGeminiTokens) return jsonAnswer(200, { totalTokens: input });
  const dialect = dialects.get(wire)!;
  const asked = dialect.read(request);
  if (!asked) return jsonAnswer(400, wire.error(400, `The body is not one of ${wire.path}.`));
  const reply = replyTo(asked.turns, asked.tools);
  const model = named || String(request.model);
  const tokens = { input, output: outputTokens(reply) };
  if (!(wire.streams ?? request.stream === true)) return jsonAnswer(200, dialect.whole(reply, model, tokens));
  return {
    status: 200,
    headers: { "content-type": "text/event-stream" },
    body: paced(dialect, reply, model, tokens, signal),
  };
};

/** The demonstration model as a call's provider. */
export const demoProvider: ChosenProvider = {
  name: "demo",
  kind: "demo",
  baseUrl: null,
  framing: null,
  isOwn: false,
  ask: demo,
};

function parse(body: Uint8Array): JsonObject | null {
  try {
    const request: unknown = JSON.parse(Buffer.from(body).toString("utf8"));
    return isObject(request) ? request : null;
  } catch {
    return null;
  }
}

/** The model's reply to what the user and the tools have said, turn by turn. */
function replyTo(told: Part[][], tools: string[]): Reply {
  const turns = told.map(withoutAsides).filter((parts) => parts.length > 0);
  const result = turns.at(-1)?.at(-1);
  if (result?.kind === "result") {
    return { kind: "text", text: `The demonstration model ran the command. ${printed(result.text)}` };
  }
  const said = turns.map(wordsOf).filter((words) => words !== "");
  const now = said.at(-1) ?? "";
  const command = /^[ \t]*run:[ \t]*(\S.*?)[ \t]*$/m.exec(now)?.[1];
  const tool = tools.find((name) => shellToolNames.test(name));
  if (command && tool) return { kind: "tool", tool, input: shellInput(tool, command) };
  if (command) {
    return {
      kind: "text",
      text: "This is Berth's demonstration model. It was offered no shell tool to run the command with.",
    };
  }
  const use = /^[ \t]*use:[ \t]*([\w-]+)[ \t]*(\{.*\})?[ \t]*$/m.exec(now);
  if (use) return useOf(use[1]!, use[2] ?? "{}", tools);
  const before = said.length > 1 ? ` Before that you said: “${said.at(-2)}”` : "";
  return {
    kind: "text",
    text:
      "This is Berth's demonstration model: it needs no key and it does not think. " +
      `Your message ${said.length} of this conversation was: “${now}”${before}\n` +
      "A line “run: COMMAND” has the agent run that command in its machine.",
  };
}

/** A command's output as a code block. Long output is shortened. */
function printed(output: string): string {
  const lines = output.replace(/\n+$/, "").split("\n");
  if (lines.join("") === "") return "It printed nothing.";
  const left = lines.length - firstLines - lastLines;
  if (left > 1) lines.splice(firstLines, left, `… ${left} lines …`);
  const text = lines.join("\n");
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = "`".repeat(longest + 1);
  return `It printed:\n\n${fence}\n${text}\n${fence}`;
}

/** The lines of a long output that a reply repeats. */
const firstLines = 20;
const lastLines = 80;

/** A call of the tool with this name, which runtimes put behind that of its server. */
function useOf(name: string, json: string, tools: string[]): Reply {
  const tool = tools.find((offered) => offered === name || offered.endsWith(`_${name}`));
  const input = parse(Buffer.from(json));
  if (tool && input) return { kind: "tool", tool, input };
  const reason = tool ? "its input is no JSON object" : `it was offered ${tools.join(", ") || "none"}`;
  return { kind: "text", text: `This is Berth's demonstration model. It cannot call the tool ${name}: ${reason}.` };
}

/** The user's words after the last tool result; earlier ones have been answered. */
function wordsOf(parts: Part[]): string {
  return parts
    .slice(parts.findLastIndex(({ kind }) => kind === "result") + 1)
    .map(({ text }) => text)
    .join("\n");
}

/** Notes to the model that runtimes insert into the user's messages. */
const asides: readonly RegExp[] = [
  // Claude Code.
  /<(system-reminder|command-[a-z]+|local-command-[a-z]+)>[\s\S]*?<\/\1>/g,
  // Codex.
  /<(environment_context|turn_aborted)>[\s\S]*?<\/\1>/g,
  // gemini-cli.
  /<session_context>[\s\S]*?<\/session_context>/g,
  // OpenClaw: its own state, a line about itself, and the message of a cancelled turn before the next one.
  /<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>[\s\S]*?<<<END_OPENCLAW_INTERNAL_CONTEXT>>>/g,
  /\n+Runtime: agent=[^\n]*/g,
  /\[Queued user message [\s\S]*?Continue with the active prompt below\.\][\s\S]*?\n\n/g,
  // A timestamp before a message.
  /^\s*\[\w{3} \d{4}-\d\d-\d\d [^\]\n]*\]/,
];

/** The user's and the tools' texts, without the runtime's notes. */
function withoutAsides(parts: Part[]): Part[] {
  return parts
    .map((part) => {
      if (part.kind === "result") return part;
      return { ...part, text: asides.reduce((words, aside) => words.replace(aside, ""), part.text).trim() };
    })
    .filter(({ kind, text }) => kind === "result" || text !== "");
}

function outputTokens(reply: Reply): number {
  return Math.ceil((reply.kind === "text" ? reply.text : JSON.stringify(reply.input)).length / 4) + 1;
}

/** The answer's events as a stream, at reading pace. */
async function* paced(
  dialect: Dialect,
  reply: Reply,
  model: string,
  tokens: Tokens,
  signal: AbortSignal,
): AsyncGenerator<string> {
  for (const { name, data, word } of dialect.stream(reply, model, tokens)) {
    yield `${name ? `event: ${name}\n` : ""}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
    if (word) await sleep(wordPaceMs, undefined, { signal });
  }
}

function jsonAnswer(status: number, body: JsonObject): ModelAnswer {
  return { status, headers: { "content-type": "application/json" }, body: once(JSON.stringify(body)) };
}

async function* once(text: string): AsyncGenerator<string> {
  yield text;
}
