import { chown, mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { methods } from "@agentclientprotocol/sdk";
import { freePort } from "../platform/ports.ts";
import { type AcpConnection, startAcp } from "./acp.ts";
import { claudeModels } from "./claude-models.ts";
import { loginEnvironment, replaceFile } from "./process.ts";
import { allAbilities, type Runtime, type RuntimeContext } from "./runtime.ts";

/**
 * opencode (https://opencode.ai) over its own ACP server. What is said about it here was found with 1.18.33.
 *
 * It takes any model that is in its configuration, which it reads when it first works in a folder. Models whose names
 * are in there from the start are chosen by a call of milliseconds. For any other name one of a few `slots` gets that
 * name, and opencode is told over its own HTTP API to read the configuration again: a third of a CPU-second, where a
 * new process costs five.
 */
export const opencode: Runtime = {
  name: "opencode",
  package: "opencode-linux-x64",
  abilities: allAbilities,
  memoryMiB: 1536,
  providers: ["anthropic", "openai"],
  defaultModels: ["anthropic/claude-sonnet", "anthropic/claude", "openai/gpt-5", "openai/"],
  // On each of the three APIs that it speaks.
  warmUp: [
    { message: "Good morning.", model: null },
    { message: "run: echo warm", model: null },
    { message: "run: true", model: "openai/gpt-5" },
    { message: "run: true", model: "openai/gpt-4o" },
    { message: "Good night.", model: null },
  ],
  async start(context) {
    const port = await freePort();
    const files = filesOf(context);
    const models = new ModelSwitch(files.slots, `http://127.0.0.1:${port}`, context.home);
    await prepareHome(context);
    await models.write();
    return startAcp(
      {
        command: join(context.packages, "opencode-linux-x64/bin/opencode"),
        args: ["acp", "--port", String(port), "--print-logs", "--log-level", "ERROR"],
        env: environment(context),
        conversation: await readFile(files.conversation, "utf8").catch(() => null),
        sessionMeta: {},
        authenticationMethod: null,
        async clear(acp) {
          await acp.begin();
          await models.chooseAgain(acp);
        },
        chooseModel: (acp, model) => models.choose(acp, model),
        opened: (sessionId) => replaceFile(files.conversation, sessionId),
        errorText: null,
        sessionLostText: null,
      },
      context,
    );
  },
};

/** Which of the gateway's APIs a model is asked over; the name of opencode's provider for it. */
type Wire = "anthropic" | "openai" | "openai-compatible";

/** The model as opencode knows it: `slot` where its name is not in the configuration from the start. */
interface Choice {
  wire: Wire;
  name: string;
  slot: string | null;
}

/** The model of the throwaway turns, and that of an agent without one. */
const warmModel: Choice = { wire: "anthropic", name: "demo", slot: null };

/**
 * Names that cost nothing to choose. Any other works too; the list need not be complete. They are those of the
 * catalog (https://models.dev) within opencode 1.18.33.
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
 * The slots' names, and the names of the models that are in them until one is needed. opencode's ACP server looks at
 * a model's degrees of reasoning once only, so that the first one must have what later ones may have. Where opencode
 * finds `gpt-` in the name under which it knows a model, it offers other tools for changing files.
 */
const slots: Record<Wire, Record<string, string>> = {
  anthropic: { any: "claude-sonnet-5" },
  openai: { any: "o3", "gpt-any": "gpt-5" },
  "openai-compatible": { any: "gpt-4o" },
};

/** OpenAI's own reasoning models refuse the `max_tokens` that opencode sends with chat completions. */
const ownToOpenAi = /^(gpt-([5-9]|\d\d)|o\d|codex)/;

/** How opencode is to be asked for a model of Berth's. */
export function choiceOf(model: string | null): Choice {
  if (model === null || model === "demo/demo") return warmModel;
  const slash = model.indexOf("/");
  const name = model.slice(slash + 1);
  const wire = model.startsWith("anthropic/") ? "anthropic" : ownToOpenAi.test(name) ? "openai" : "openai-compatible";
  if (familiar[wire].includes(name)) return { wire, name, slot: null };
  return { wire, name, slot: wire === "openai" && name.startsWith("gpt-") ? "gpt-any" : "any" };
}

/** An entry of opencode's configuration for the model `name`. https://opencode.ai/docs/models */
export function modelEntry(wire: Wire, name: string) {
  const traits = traitsOf(wire, name);
  return { id: name, name, tool_call: true, attachment: true, temperature: false, ...traits };
}

/**
 * Limits in tokens. A context that is told too small costs an early summary, one too large is met by opencode when
 * the model refuses; output is what a reply may have at most (opencode asks for 32,000 of it at most).
 *
 * Over ACP opencode takes the first of a model's degrees of reasoning. The lower ones are taken away, so that it is
 * the one that the providers' APIs take by themselves: `high` for Anthropic's, `medium` for OpenAI's.
 */
function traitsOf(wire: Wire, name: string) {
  switch (wire) {
    case "anthropic": {
      const old = /claude-3-(?!7)/.test(name);
      return {
        limit: { context: hasLongContext(name) ? 1_000_000 : 200_000, output: old ? 4_096 : 64_000 },
        reasoning: name.startsWith("claude-") && !old,
        variants: without("low", "medium"),
      };
    }
    case "openai":
      return {
        limit: { context: 400_000, input: 272_000, output: 100_000 },
        reasoning: true,
        variants: without("none", "minimal", "low"),
      };
    case "openai-compatible":
      return { limit: { context: 128_000, output: 8_192 }, reasoning: false };
  }
}

/** Claude's, since its version 4.6. */
function hasLongContext(name: string): boolean {
  const [, major, minor] = /^claude-[a-z]+-(\d{1,2})(?:-(\d{1,2}))?(?:-|$)/.exec(name) ?? [];
  return Number(major) > 4 || (Number(major) === 4 && Number(minor) >= 6);
}

function without(...variants: string[]): Record<string, { disabled: true }> {
  return Object.fromEntries(variants.map((variant) => [variant, { disabled: true }]));
}

/** Has a running opencode use a model. */
class ModelSwitch {
  readonly #file: string;
  readonly #api: string;
  readonly #home: string;
  /** The name that each slot has got, by `wire/slot`. */
  readonly #names = new Map<string, string>();
  #model: string | null = null;

  constructor(file: string, api: string, home: string) {
    this.#file = file;
    this.#api = api;
    this.#home = home;
  }

  async choose({ agent, sessionId }: AcpConnection, model: string | null): Promise<void> {
    const { wire, name, slot } = choiceOf(model);
    const value = `${wire}/${slot ?? name}`;
    if (slot !== null && this.#names.get(value) !== name) await this.#fill(value, name);
    await agent.request(methods.agent.session.setConfigOption, { sessionId, configId: "model", value });
    this.#model = model;
  }

  /** A new session has the default model, whatever the one before it had. */
  async chooseAgain(acp: AcpConnection): Promise<void> {
    if (this.#model !== null) await this.choose(acp, this.#model);
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
      this.#names.delete(slot); // Which one opencode has there is not known now.
      throw error;
    }
  }

  /** Ends what opencode holds for the agent's folder, configuration included; the next turn has it read anew. */
  async #reload(): Promise<void> {
    const url = new URL("/instance/dispose", this.#api);
    url.searchParams.set("directory", this.#home);
    const answer = await fetch(url, { method: "POST" });
    if (!answer.ok) throw new Error(`opencode did not read its configuration again: ${answer.status}`);
  }
}

/**
 * Configuration goes by the environment, where it counts more than the agent's own `~/.config/opencode`, which stays
 * its own. The switches are for what opencode would look for on the internet, and wait for where there is none.
 */
function environment(context: RuntimeContext): Record<string, string> {
  const { slots, catalog, unpacked } = filesOf(context);
  return {
    ...loginEnvironment(context),
    BUN_TMPDIR: unpacked,
    OPENCODE_CONFIG: slots,
    OPENCODE_CONFIG_CONTENT: JSON.stringify(configuration(context.gatewayUrl)),
    // Its own catalog of some thousand models costs two CPU-seconds and 100 MB at every reading of the configuration.
    OPENCODE_MODELS_PATH: catalog,
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
  };
}

/** https://opencode.ai/docs/config; a key is needed, and the gateway takes any. */
function configuration(gatewayUrl: string) {
  const provider = (wire: Wire, npm: string, baseURL: string) => ({
    npm,
    options: { baseURL, apiKey: "berth" },
    models: Object.fromEntries(familiar[wire].map((name) => [name, modelEntry(wire, name)])),
  });
  const warm = `${warmModel.wire}/${warmModel.name}`;
  return {
    autoupdate: false,
    share: "disabled",
    // A Git repository of its own beside the agent's, for an undo that nobody can ask for.
    snapshot: false,
    // Tools need no approval: the machine is the sandbox.
    permission: "allow",
    model: warm,
    small_model: warm,
    // A model call of its own in the first turn.
    agent: { title: { disable: true } },
    enabled_providers: Object.keys(slots),
    provider: {
      anthropic: provider("anthropic", "@ai-sdk/anthropic", `${gatewayUrl}/anthropic/v1`),
      openai: provider("openai", "@ai-sdk/openai", `${gatewayUrl}/openai/v1`),
      "openai-compatible": provider("openai-compatible", "@ai-sdk/openai-compatible", `${gatewayUrl}/openai/v1`),
    },
  };
}

function filesOf({ home, stateFolder }: RuntimeContext) {
  const own = join(home, ".local/share/opencode");
  return {
    /** Which session is the agent's conversation. */
    conversation: join(stateFolder, "opencode-session"),
    /** Read by opencode, and so the agent's. */
    slots: join(own, "berth-models.json"),
    catalog: join(own, "berth-catalog.json"),
    /** Bun unpacks its libraries into it at each start, 5 MB that it never removes. */
    unpacked: join(own, "berth-libraries"),
  };
}

/**
 * Makes what opencode reads at its start. Among it is what it takes for its plugins' library being installed: it
 * fetches that from npm otherwise, at each reading of its configuration.
 */
async function prepareHome(context: RuntimeContext): Promise<void> {
  const { home } = context;
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

/** False where the folder was there already; it is left as it is then. */
async function makeOwn(folder: string, { uid, gid }: RuntimeContext): Promise<boolean> {
  if ((await mkdir(folder, { recursive: true })) === undefined) return false;
  await chown(folder, uid, gid);
  return true;
}
