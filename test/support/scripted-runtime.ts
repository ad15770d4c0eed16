import { randomUUID } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { appendFile, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { LastEvent, TurnEvent } from "../../src/contract/chat.ts";
import { agentsPath } from "../../src/contract/guest.ts";
import { outputTool } from "../../src/contract/output.ts";
import type { PermissionKind } from "../../src/contract/permissions.ts";
import type { PlanStep } from "../../src/contract/plan.ts";
import { planEvent } from "../../src/runtimes/plan.ts";
import {
  allAbilities,
  latestSession,
  type Prompt,
  type Runtime,
  type Session,
  type StartContext,
  skillsFolder,
} from "../../src/runtimes/runtime.ts";

/**
 * A runtime whose turns do what their message says, for tests of everything between it and a client:
 *
 *   count N [MS]   N deltas, MS milliseconds apart
 *   bulk N B [MS]  N deltas of B characters each
 *   tool [hang]    a tool call and its output; with `hang`, it never completes
 *   tools JSON     the calls in a list of {name, input, output, status}; one without an output runs until the turn is cancelled
 *   steps N [same] [write] [hang]  N tool calls, each with its number as input, or all with the same; with `write`, each writes a
 *                  file; then nothing with `hang`
 *   plan JSON [hang]  the steps of a plan, each step [text, status]; then nothing with `hang`
 *   listen N       waits for N messages for the running turn, and says them; `claude-code` alone takes some
 *   hang           nothing, until it is cancelled
 *   deaf           nothing, and ignores a cancel
 *   crash          the runtime dies
 *   model          the name of the turn's model
 *   effort         how much the turn's model is to reason
 *   skills         the files of each of the agent's skills, with a star after executable ones
 *   recall         all messages of the conversation so far
 *   give [later] JSON | JSON …  gives each as the turn's output, one after the other, and says the answers; with `later`, when it
 *                  is asked once more
 *   call NAME [JSON]  calls the client's function NAME with these arguments, as an MCP client does, and says its result
 *   calls NAME N   the same N times at once, each with its number as argument
 *   think NAME     calls the gateway, then the client's function NAME, then the gateway again, and says the result
 *   consult NAME MESSAGE  asks another agent, as an MCP client does, and says its answer or the refusal
 *   consults N NAME MESSAGE  the same N times, one after the other, and says the last
 *   consult-all MESSAGE  asks all agents that it may at the same moment, and says their answers
 *   consult-later NAME MESSAGE  the same once the turn is over; the answer is then a message of the conversation
 *   list-agents    says what the list of other agents has
 *   use KIND SUBJECT  uses a tool that the agent's permissions decide about, and says `used` or `not used`
 *                  KIND `edit` changes the file SUBJECT from `before` to `after` with an invisible character
 *   uses KIND N SUBJECT  the same N times at once, each with its number after the subject
 *   ask [PATH [hang]]  calls the gateway at PATH (`/anthropic/v1/messages`), says the response's status and body, and
 *                  then nothing with `hang`
 *   get PATH       reads PATH of the gateway, and says the status
 *   write PATH TEXT  calls the gateway, as a runtime does before it uses tools, then writes the file, without TEXT deletes it
 *   writes PATH…   the same for many files, without content
 *   see WORDS      the images that come with the message: their types and sizes in bytes
 *   anything else  is repeated, word by word
 */
export function scriptedRuntime(name: string): Runtime {
  return {
    name,
    description: "A scripted runtime.",
    package: "openclaw",
    abilities: {
      ...allAbilities,
      reasoning: { supported: false, reason: "It does not think." },
      steer: name === "claude-code" || { supported: false, reason: "It does not listen while it works." },
      ...(name === "openclaw" && { permissions: { supported: false, reason: "It uses every tool." } }),
    },
    memoryMiB: 1536,
    wires: ["messages", "chat"],
    defaultModels: ["anthropic/claude-sonnet", "openai/"],
    warmUp: [],
    start: async (context) => new ScriptedSession(context, name === "claude-code"),
  };
}

const firstSession = "messages";

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
}

async function skillsIn(folder: string): Promise<Record<string, string[]>> {
  const names = (await readdir(folder)).sort();
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await filesBelow(join(folder, name))])));
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const marked = files.map(async (path) => relative(folder, path) + ((await stat(path)).mode & 0o111 ? "*" : ""));
  return (await Promise.all(marked)).sort();
}

function numbersTo(last = "1"): number[] {
  return Array.from({ length: Number(last) }, (_, index) => index + 1);
}

/** The real runtimes' names, for tests that apply to all of them. */
export const scriptedRuntimes = ["claude-code", "opencode", "openclaw"].map(scriptedRuntime);

/** The scripted reply to a message that it `count`s, expands as `bulk` or repeats, one entry per delta. */
export function deltasOf(message: string): string[] {
  const [verb, ...words] = message.split(" ");
  const numbers = () => Array.from({ length: Number(words[0]) }, (_, index) => `${index + 1} `);
  if (verb === "count") return numbers();
  if (verb === "bulk") return numbers().map((number) => number.padEnd(Number(words[1]), "x"));
  return message.split(/(?<= )/);
}

class ScriptedSession implements Session {
  readonly #end = Promise.withResolvers<void>();
  readonly ended = this.#end.promise;
  readonly #context: StartContext;
  readonly #takesMessages: boolean;
  /** The messages for the turn that listens; null: none does. */
  #heard: EventEmitter | null = null;
  /** The output to give when it is asked once more. */
  #later: string | null = null;
  id: string;

  constructor(context: StartContext, takesMessages: boolean) {
    this.#context = context;
    this.#takesMessages = takesMessages;
    const { session } = context;
    this.id = session === latestSession ? firstSession : (session ?? `messages-${randomUUID()}`);
  }

  /** The session's file. It survives a restart, as with real runtimes. */
  get #file(): string {
    return join(this.#context.stateFolder, this.id);
  }

  async prompt(
    { message, model, effort, images = [] }: Prompt,
    emit: (event: TurnEvent) => void,
    signal: AbortSignal,
  ): Promise<LastEvent> {
    await mkdir(this.#context.stateFolder, { recursive: true });
    await appendFile(this.#file, `${message}\n`);
    // Without the instruction for an output, and without what Cline puts around a message.
    const [said = ""] = message
      .replace(/^<task>\n/, "")
      .split(/\n\nWhen your work is done|\n<(?:\/task|environment_details)>/);
    const [verb, ...words] = said.split(" ");
    const say = (delta: string) => emit({ type: "response.output_text.delta", delta });
    switch (verb) {
      case "count":
      case "bulk":
        for (const delta of deltasOf(message)) {
          if (signal.aborted) break;
          say(delta);
          await sleep(Number(words[verb === "count" ? 1 : 2] ?? 0));
        }
        break;
      case "tool":
        emit({ type: "response.tool_call.started", id: "call-1", name: "Bash", input: { command: "date" } });
        if (words[0] === "hang") {
          await untilAborted(signal);
          break;
        }
        emit({ type: "response.tool_call.completed", id: "call-1", output: "null character: \0" });
        say("done");
        break;
      case "tools":
        for (const [at, { output, status, updates = [], ...call }] of JSON.parse(words.join(" ")).entries()) {
          const id = `call-${at}`;
          emit({ type: "response.tool_call.started", id, ...call });
          for (const output of updates) emit({ type: "response.tool_call.updated", id, output });
          if (output === undefined) await untilAborted(signal);
          else emit({ type: "response.tool_call.completed", id, output, ...(status && { status }) });
        }
        break;
      case "plan": {
        const isHung = words.at(-1) === "hang";
        const steps: [string, PlanStep["status"]][] = JSON.parse(words.slice(0, isHung ? -1 : undefined).join(" "));
        emit(planEvent(steps.map(([text, status]) => ({ text, status }))));
        if (isHung) await untilAborted(signal);
        else say("planned");
        break;
      }
      case "steps":
        if (words.includes("write")) await this.#ask("/anthropic/v1/messages", message, model, signal);
        for (const step of numbersTo(words[0])) {
          const input = words[1] === "same" ? {} : { step };
          emit({ type: "response.tool_call.started", id: `step-${step}`, name: "Step", input });
          await sleep(0);
          if (words.includes("write")) await writeFile(join(this.#context.home, `step-${step}`), "");
          if (signal.aborted) break;
          emit({ type: "response.tool_call.completed", id: `step-${step}`, output: "" });
        }
        if (words.includes("hang")) await untilAborted(signal);
        if (!signal.aborted) say("done");
        break;
      case "listen": {
        this.#heard = new EventEmitter();
        for (const _ of numbersTo(words[0])) {
          const [heard] = await once(this.#heard, "message", { signal }).catch(() => [null]);
          if (heard !== null) say(`${heard} `);
        }
        this.#heard = null;
        break;
      }
      case "hang":
        await untilAborted(signal);
        break;
      case "deaf":
        await new Promise(() => {});
        break;
      case "crash":
        this.stop();
        return { type: "response.failed", error: { code: "runtime_failed", message: "The runtime ended." } };
      case "model":
        say(String(model));
        break;
      case "effort":
        say(String(effort));
        break;
      case "see":
        say(JSON.stringify(images.map(({ mediaType, data }) => [mediaType, Buffer.from(data, "base64").length])));
        break;
      case "skills":
        say(JSON.stringify(await skillsIn(skillsFolder(this.#context))));
        break;
      case "recall":
        say(await readFile(this.#file, "utf8"));
        break;
      case "give":
        if (words[0] === "later") this.#later = words.slice(1).join(" ");
        else say(await this.#give(words.join(" "), emit, signal));
        break;
      case "call":
      case "calls": {
        const [name = "", ...rest] = words;
        const asked = verb === "call" ? [rest.join(" ") || "{}"] : numbersTo(rest[0]).map((n) => `{"n":${n}}`);
        const results = await Promise.all(
          asked.map((json) => this.#call("client", name, JSON.parse(json), emit, signal)),
        );
        say(results.join(", "));
        break;
      }
      case "think": {
        await this.#ask("/anthropic/v1/messages", message, model, signal);
        const result = await this.#call("client", words[0]!, {}, emit, signal);
        await this.#ask("/anthropic/v1/messages", message, model, signal);
        say(result);
        break;
      }
      case "consult": {
        const [agent, ...rest] = words;
        say(await this.#call("agents", "ask_agent", { agent, message: rest.join(" ") }, emit, signal));
        break;
      }
      case "consults": {
        const [times, agent, ...rest] = words;
        const asked = { agent, message: rest.join(" ") };
        const results: string[] = [];
        for (const _ of numbersTo(times)) results.push(await this.#call("agents", "ask_agent", asked, emit, signal));
        say(results.at(-1)!);
        break;
      }
      case "consult-all": {
        const { agents } = JSON.parse(await this.#call("agents", "list_agents", {}, emit, signal));
        const answers = agents.map(({ name }: { name: string }) =>
          this.#call("agents", "ask_agent", { agent: name, message: words.join(" ") }, emit, signal),
        );
        say((await Promise.all(answers)).join("\n"));
        break;
      }
      case "consult-later": {
        const [agent, ...rest] = words;
        void sleep(500)
          .then(() =>
            this.#call(
              "agents",
              "ask_agent",
              { agent, message: rest.join(" ") },
              () => {},
              new AbortController().signal,
            ),
          )
          .then((answer) => appendFile(this.#file, `${answer}\n`));
        break;
      }
      case "own": {
        const [tool = "", ...rest] = words;
        say(await this.#call("agents", tool, JSON.parse(rest.join(" ") || "{}"), emit, signal));
        break;
      }
      case "list-agents":
        say(await this.#call("agents", "list_agents", {}, emit, signal));
        break;
      case "write": {
        const [path = "", ...text] = words;
        const place = join(this.#context.home, path);
        await this.#ask("/anthropic/v1/messages", message, model, signal);
        await mkdir(dirname(place), { recursive: true });
        await (text.length > 0 ? writeFile(place, `${text.join(" ")}\n`) : rm(place));
        say("done");
        break;
      }
      case "writes":
        await this.#ask("/anthropic/v1/messages", message, model, signal);
        for (const path of words) {
          await mkdir(dirname(join(this.#context.home, path)), { recursive: true });
          await writeFile(join(this.#context.home, path), "");
        }
        say("done");
        break;
      case "use":
        say(await this.#use(words[0]!, words.slice(1).join(" "), emit));
        break;
      case "uses": {
        const [kind = "", times, ...rest] = words;
        const used = numbersTo(times).map((n) => this.#use(kind, `${rest.join(" ")} ${n}`, emit));
        say((await Promise.all(used)).join(", "));
        break;
      }
      case "get":
        say(String((await fetch(this.#context.gatewayUrl + words[0])).status));
        break;
      case "ask": {
        const answer = await this.#ask(words[0] ?? "/anthropic/v1/messages", message, model, signal);
        if (!answer) break;
        say(answer.text);
        if (words[1] === "hang") await untilAborted(signal);
        if (!answer.ok) {
          return { type: "response.failed", error: { code: "runtime_failed", message: "The runtime's own words." } };
        }
        break;
      }
      default:
        if (this.#later !== null && message.startsWith("You have ended your turn")) {
          say(await this.#give(this.#later, emit, signal));
          this.#later = null;
          break;
        }
        for (const word of deltasOf(said)) say(word);
    }
    return signal.aborted ? { type: "response.cancelled" } : { type: "response.completed" };
  }

  async #give(given: string, emit: (event: TurnEvent) => void, signal: AbortSignal): Promise<string> {
    const answers: string[] = [];
    for (const json of given.split(" | ")) {
      answers.push(await this.#call("client", outputTool, JSON.parse(json), emit, signal));
    }
    return answers.join("\n");
  }

  async #use(kind: string, subject: string, emit: (event: TurnEvent) => void): Promise<string> {
    const id = `tool-${randomUUID()}`;
    const input = { command: subject };
    emit({ type: "response.tool_call.started", id, name: kind, input });
    const use = {
      kind: kind as PermissionKind,
      subject,
      title: subject,
      tool: kind,
      toolCallId: id,
      input,
      diff: kind === "edit" ? [{ path: subject, oldText: "before", newText: "after\u202e" }] : null,
    };
    const said = (await this.#context.approvals.mayUse(use)) ? "used" : "not used";
    emit({ type: "response.tool_call.completed", id, output: said });
    return said;
  }

  /** Calls the gateway. Null where no answer came. */
  async #ask(path: string, message: string, model: string | null, signal: AbortSignal) {
    const response = await fetch(this.#context.gatewayUrl + path, {
      method: "POST",
      body: JSON.stringify({
        model: model?.split("/")[1],
        // As Codex asks.
        ...(path.endsWith("/responses")
          ? { instructions: "Be brief.", input: [{ role: "user", content: message }], stream: true, user: "me" }
          : path.startsWith("/google/")
            ? { contents: [{ role: "user", parts: [{ text: message }] }] }
            : { max_tokens: 9, messages: [{ role: "user", content: message }] }),
      }),
      signal,
    }).catch(() => null);
    return response && { ok: response.ok, text: `${response.status} ${await response.text()}` };
  }

  async #call(
    server: "client" | "agents",
    name: string,
    args: Record<string, unknown>,
    emit: (event: TurnEvent) => void,
    signal: AbortSignal,
  ): Promise<string> {
    const { functionsUrl, gatewayUrl } = this.#context;
    const url = server === "client" ? functionsUrl : gatewayUrl + agentsPath;
    const client = new Client({ name: "scripted", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    try {
      const id = `tool-${randomUUID()}`;
      emit({ type: "response.tool_call.started", id, name: `mcp__${server}__${name}`, input: args });
      const { content } = await client.callTool({ name, arguments: args }, { signal, timeout: 60_000 });
      const text = content.map((part) => (part.type === "text" ? part.text : "")).join("");
      emit({ type: "response.tool_call.completed", id, output: text });
      return text;
    } catch (error) {
      if (signal.aborted) return "";
      throw error;
    } finally {
      await client.close();
    }
  }

  async steer(message: string): Promise<boolean> {
    return this.#takesMessages && (this.#heard?.emit("message", message) ?? false);
  }

  async enter(id: string | null): Promise<void> {
    this.id = id ?? `messages-${randomUUID()}`;
  }

  stop(): void {
    this.#end.resolve();
  }
}
