import { execFile } from "node:child_process";
import { chown, mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Effort } from "../contract/effort.ts";
import { processor } from "../core/processor.ts";
import { type AcpConnection, chooseEffort, startAcp } from "./acp.ts";
import { claudeModels } from "./claude-models.ts";
import { loginEnvironment, replaceFile } from "./process.ts";
import { allAbilities, latestSession, type Runtime, type RuntimeContext, skillsFolder } from "./runtime.ts";

const run = promisify(execFile);

/**
 * opencode (https://opencode.ai) over its own ACP server. The observations here are from version 1.18.33.
 *
 * It accepts any model in its configuration, which it reads when it first works in a folder. Switching to a model that
 * is there from the start takes milliseconds. For any other name, one of a few `slots` gets that name, and a call to
 * opencode's HTTP API makes it reread the configuration: a third of a CPU-second, where a new process costs five.
 */
export const opencode: Runtime = {
  name: "opencode",
  description: "An open-source coding agent for models of many providers.",
  package: processor.packages.opencode,
  abilities: {
    ...allAbilities,
    steer: { supported: false, reason: "opencode's ACP server takes no messages while a turn runs. They wait." },
  },
  memoryMiB: 1536,
  wires: ["messages", "chat", "responses"],
  defaultModels: ["anthropic/claude-sonnet", "anthropic/claude", "openai/gpt-5", "openai/"],
  // These cover each of its three APIs.
  warmUp: [
    { message: "Good morning.", model: null },
    { message: "run: echo warm", model: null },
    { message: "run: true", model: "openai/gpt-5" },
    { message: "run: true", model: "openai/gpt-4o" },
    { message: "Good night.", model: null },
  ],
  async start(context) {
    const port = context.runtimePort;
    const files = filesOf(context);
    const models = new ModelSwitch(files.slots, `http://127.0.0.1:${port}`, context.home);
    await prepareHome(context);
    await models.write();
    return startAcp(
      {
        command: join(context.packages, processor.packages.opencode, "bin/opencode"),
        args: ["acp", "--port", String(port), "--print-logs", "--log-level", "ERROR"],
        env: environment(context),
        session: context.session === latestSession ? await earlierSession(files.session) : context.session,
        sessionMeta: {},
        authenticationMethod: null,
        async clear(acp) {
          await acp.begin();
          return acp.sessionId;
        },
        closesSessions: false,
        async choose(acp, { model, effort }) {
          await models.choose(acp, model);
          // opencode's own choice would be the lowest level.
          await chooseEffort(acp, effort ?? usualEfforts[choiceOf(model).wire]);
        },
        errorText: null,
        sessionLostText: null,
      },
      context,
    );
  },
};

function earlierSession(file: string): Promise<string | null> {
  return readFile(file, "utf8").catch(() => null);
}

/** The gateway API for a model, which is also the name of opencode's provider for it. */
type Wire = "anthropic" | "openai" | "openai-compatible";

/** The defaults of the providers' APIs. */
const usualEfforts: Record<Wire, Effort | null> = { anthropic: "high", openai: "medium", "openai-compatible": null };

/** A model as opencode knows it. `slot` is set if its name is not in the configuration from the start. */
interface Choice {
  wire: Wire;
  name: string;
  slot: string | null;
}

/** The model for the throwaway turns and for an agent without one. */
const warmModel: Choice = { wire: "anthropic", name: "demo", slot: null };

/**
 * Names that cost nothing to choose. Any other name works too, so the list need not be complete. They are from the
 * catalog (https://models.dev) in opencode 1.18.33.
 */
const familiar: Record<Wire, readonly string[]> = {
  anthropic: [warmModel.name, ...claudeModels],
  openai: [
    "gpt-5",
    "gpt-5-mini",
    "gpt-5-nano",
    "gpt-5.1",
    "gpt-5.2",
    "gpt-5.3-codex",
    "gpt-5.4",
    "gpt-5.4-mini",
    "gpt-5.5",
    "gpt-5.6",
    "gpt-6-astra",
    "gpt-6-luna",
    "gpt-6-sol",
    "o3",
  ],
  "openai-compatible": ["gpt-4.1", "gpt-4.1-mini", "gpt-4o", "gpt-4o-mini"],
};

/**
 * The slots, with the model that each holds until it is needed. opencode's ACP server checks a model's reasoning levels
 * only once, so the first model must have all the levels that later ones may have. If opencode's name for a model
 * contains `gpt-`, it offers different tools for changing files.
 */
const slots: Record<Wire, Record<string, string>> = {
  anthropic: { any: "claude-sonnet-5" },
  openai: { any: "o3", "gpt-any": "gpt-5" },
  "openai-compatible": { any: "gpt-4o" },
};

/** OpenAI's reasoning models reject the `max_tokens` that opencode sends with chat completions. */
export const ownToOpenAi = /^(gpt-([5-9]|\d\d)|o\d|codex)/;

/** How to request one of Berth's models from opencode. */
export function choiceOf(model: string | null): Choice {
  if (model === null || model === "demo/demo") return warmModel;
  const slash = model.indexOf("/");
  const name = model.slice(slash + 1);
  const wire = model.startsWith("anthropic/") ? "anthropic" : ownToOpenAi.test(name) ? "openai" : "openai-compatible";
  if (familiar[wire].includes(name)) return { wire, name, slot: null };
  return { wire, name, slot: wire === "openai" && name.startsWith("gpt-") ? "gpt-any" : "any" };
}

/** opencode's configuration entry for the model `name`. https://opencode.ai/docs/models */
export function modelEntry(wire: Wire, name: string) {
  const traits = traitsOf(wire, name);
  // Without this, it leaves images out of its requests.
  const modalities = { input: ["text", "image"], output: ["text"] };
  return { id: name, name, tool_call: true, attachment: true, modalities, temperature: false, ...traits };
}

/**
 * Limits in tokens. If the context is set too small, opencode summarises early. If it is set too large, opencode
 * handles the model's refusal. `output` is the limit for a reply (opencode requests at most 32,000).
 */
function traitsOf(wire: Wire, name: string) {
  switch (wire) {
    case "anthropic": {
      const old = /claude-3-(?!7)/.test(name);
      return {
        limit: { context: hasLongContext(name) ? 1_000_000 : 200_000, output: old ? 4_096 : 64_000 },
        reasoning: name.startsWith("claude-") && !old,
      };
    }
    case "openai":
      return {
        limit: { context: 400_000, input: 272_000, output: 100_000 },
        reasoning: true,
      };
    case "openai-compatible":
      return { limit: { context: 128_000, output: 8_192 }, reasoning: false };
  }
}

/** Claude models, since version 4.6. */
function hasLongContext(name: string): boolean {
  const [, major, minor] = /^claude-[a-z]+-(\d{1,2})(?:-(\d{1,2}))?(?:-|$)/.exec(name) ?? [];
  return Number(major) > 4 || (Number(major) === 4 && Number(minor) >= 6);
}

/** Switches a running opencode to another model. */
class ModelSwitch {
  readonly #file: string;
  readonly #api: string;
  readonly #home: string;
  /** Each slot's model name, by `wire/slot`. */
  readonly #names = new Map<string, string>();

  constructor(file: string, api: string, home: string) {
    this.#file = file;
    this.#api = api;
    this.#home = home;
  }

  async choose(acp: AcpConnection, model: string | null): Promise<void> {
    const { wire, name, slot } = choiceOf(model);
    const value = `${wire}/${slot ?? name}`;
    if (slot !== null && this.#names.get(value) !== name) await this.#fill(value, name);
    await acp.set("model", value);
  }

  /** Writes the slots to the file that opencode reads. */
  async write(): Promise<void> {
    const provider = Object.fromEntries(
      Object.keys(slots).map((wire) => [wire, { models: this.#models(wire as Wire) }]),
    );
    await replaceFile(this.#file, JSON.stringify({ provider }));
  }

  #models(wire: Wire) {
    const entries = Object.entries(slots[wire]).map(([slot, first]) => {
      return [slot, modelEntry(wire, this.#names.get(`${wire}/${slot}`) ?? first)];
    });
    return Object.fromEntries(entries);
  }

  async #fill(slot: string, name: string): Promise<void> {
    this.#names.set(slot, name);
    try {
      await this.write();
      await this.#reload();
    } catch (error) {
      this.#names.delete(slot); // Which model opencode now has there is unknown.
      throw error;
    }
  }

  /** Drops opencode's state for the agent's folder, including the configuration. The next turn rereads it. */
  async #reload(): Promise<void> {
    const url = new URL("/instance/dispose", this.#api);
    url.searchParams.set("directory", this.#home);
    const answer = await fetch(url, { method: "POST" });
    if (!answer.ok) throw new Error(`opencode did not read its configuration again: ${answer.status}`);
  }
}

/**
 * Configuration is passed in the environment, where it overrides the agent's own `~/.config/opencode` without changing
 * it. The switches turn off internet lookups, which would hang without a connection.
 */
function environment(context: RuntimeContext): Record<string, string> {
  const { slots, catalog, unpacked } = filesOf(context);
  return {
    ...loginEnvironment(context),
    BUN_TMPDIR: unpacked,
    OPENCODE_CONFIG: slots,
    OPENCODE_CONFIG_CONTENT: JSON.stringify(configuration(context)),
    // opencode's own catalog of some thousand models costs two CPU-seconds and 100 MB each time the configuration is
    // read.
    OPENCODE_MODELS_PATH: catalog,
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
  };
}

/** https://opencode.ai/docs/config; a key is required, and the gateway accepts any. */
function configuration(context: RuntimeContext) {
  const { gatewayUrl } = context;
  const provider = (wire: Wire, npm: string, baseURL: string) => ({
    npm,
    options: { baseURL, apiKey: "berth" },
    models: Object.fromEntries(familiar[wire].map((name) => [name, modelEntry(wire, name)])),
  });
  const warm = `${warmModel.wire}/${warmModel.name}`;
  return {
    autoupdate: false,
    share: "disabled",
    skills: { paths: [skillsFolder(context)] },
    // Otherwise opencode keeps a second Git repository next to the agent's, for an undo that no user can request.
    snapshot: false,
    // The runner decides. Each tool is named, since a rule of the agent's own configuration for one precedes `*`.
    permission: Object.fromEntries(askedTools.map((tool) => [tool, "ask"])),
    // Otherwise a turn ends when a tool is denied.
    experimental: { continue_loop_on_deny: true },
    model: warm,
    small_model: warm,
    // Otherwise an extra model call in the first turn.
    agent: { title: { disable: true } },
    enabled_providers: Object.keys(slots),
    provider: {
      anthropic: provider("anthropic", "@ai-sdk/anthropic", `${gatewayUrl}/anthropic/v1`),
      openai: provider("openai", "@ai-sdk/openai", `${gatewayUrl}/openai/v1`),
      "openai-compatible": provider("openai-compatible", "@ai-sdk/openai-compatible", `${gatewayUrl}/openai/v1`),
    },
  };
}

const askedTools = [
  "*",
  "bash",
  "codesearch",
  "doom_loop",
  "edit",
  "external_directory",
  "glob",
  "grep",
  "list",
  "lsp",
  "question",
  "read",
  "skill",
  "task",
  "todoread",
  "todowrite",
  "webfetch",
  "websearch",
];

function filesOf({ home, stateFolder }: RuntimeContext) {
  const own = join(home, ".local/share/opencode");
  return {
    /** The session of a machine that did not record its sessions. */
    session: join(stateFolder, "opencode-session"),
    /** Read by opencode, so the agent owns it. */
    slots: join(own, "berth-models.json"),
    catalog: join(own, "berth-catalog.json"),
    /** Bun unpacks its libraries here at each start, 5 MB that it never removes. */
    unpacked: join(own, "berth-libraries"),
  };
}

/**
 * Creates the files that opencode reads at startup. They include the marker for an installed plugin library. Without
 * it, opencode fetches the library from npm each time it reads its configuration.
 */
async function prepareHome(context: RuntimeContext): Promise<void> {
  const { home, uid, gid } = context;
  // opencode goes by a lock's age alone, so one that was cut off would keep the next waiting for a minute, or for five
  // if the clock was set back. Removed as the agent, who may have put a link in its place.
  await run("rm", ["-rf", "--", join(home, ".local/state/opencode/locks")], { uid, gid });
  for (const folder of [".local", ".local/share", ".local/share/opencode", ".config", ".config/opencode"]) {
    await makeOwn(join(home, folder), context);
  }
  const { catalog, unpacked } = filesOf(context);
  await replaceFile(catalog, "{}", context);
  await rm(unpacked, { recursive: true, force: true });
  await makeOwn(unpacked, context);
  const packages = join(home, ".config/opencode/node_modules");
  if (!(await makeOwn(packages, context))) return;
  const lock = { packages: { "": { dependencies: { "@opencode-ai/plugin": "*" } } } };
  await replaceFile(join(home, ".config/opencode/package-lock.json"), JSON.stringify(lock), context);
}

/** False if the folder already existed; it is left unchanged. */
async function makeOwn(folder: string, { uid, gid }: RuntimeContext): Promise<boolean> {
  if ((await mkdir(folder, { recursive: true })) === undefined) return false;
  await chown(folder, uid, gid);
  return true;
}
