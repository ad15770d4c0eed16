import type { Readable } from "node:stream";
import type { AgentState } from "../agents/agent.ts";
import type { AppContext } from "../context.ts";
import { AgentName, type CreateAgent, settingsOf } from "../contract/agents.ts";
import type { ArchivedSettings, Import, ImportQuery, Manifest } from "../contract/archives.ts";
import { BerthError } from "../contract/errors.ts";
import type { GuestClient } from "../contract/guest-calls.ts";
import { mayCall, type Viewer } from "../core/http/access.ts";
import type { Attempt } from "../core/http/attempt.ts";
import { clientGone } from "../core/http/gone.ts";
import { SerialQueue } from "../core/locks.ts";
import { Places } from "../core/places.ts";
import { sendBytes } from "../files/transfers.ts";
import { storableValue } from "../turns/storable.ts";
import type { ImportFolders } from "./import-folders.ts";

type AskedImport = Pick<ImportQuery, "name" | "model">;

/** The owner's report about an import. */
export type ImportDetail = Omit<Import, "agent">;

/** An imported agent's data in addition to its own row. */
export type ImportedSettings = Pick<ArchivedSettings, "network" | "retold" | "conversations"> & {
  detail: ImportDetail;
};

/** New agents from archives of others. */
export class Imports {
  readonly #context: AppContext;
  /** Ids of imports whose files may exist before their rows. */
  readonly #underway = new Set<string>();
  /** Serializes each account's imports: a history is stored in one transaction, which may take minutes. */
  readonly #storing = new SerialQueue();
  /** Limits concurrent imports. Each uses a database connection and a thread, which all accounts share. */
  readonly #places = new Places({ perHolder: 4, waiting: 100, waitMs: 600_000 });

  constructor(context: AppContext) {
    this.#context = context;
  }

  /**
   * Creates an agent from an archive, after it has received and checked the complete archive. The machine gets the
   * files while it is created. Throws the errors of creating an agent, `archive_invalid`, `archive_unsupported`,
   * `request_invalid` if the upload breaks off, and `request_timeout` if `gone` aborts before everything is stored.
   * Then it leaves nothing behind.
   */
  async create(
    viewer: Viewer,
    asked: AskedImport,
    bytes: Readable,
    { resourceId, earlier }: Attempt,
    gone: AbortSignal,
  ): Promise<AgentState> {
    const { stores, archives, lifecycle } = this.#context;
    const made = earlier === "none" ? null : await stores.agents.byId(resourceId);
    if (made) return made;
    this.#underway.add(resourceId);
    try {
      const archive = await archives.receive(resourceId, uploaded(bytes), (found) =>
        this.#requireCreatable(viewer, toCreate(found, asked)),
      );
      const { manifest, settings } = storableValue(archive);
      const others = await stores.agents.byNames(viewer.accountId, settings.agents);
      const agents = others.filter((other) => mayCall(settings, other, viewer)).map(({ name }) => name);
      const agent = {
        ...this.#context.agents.newAgent(resourceId, await this.#context.agents.ownerFor(viewer), {
          ...toCreate({ manifest, settings }, asked),
          agents,
        }),
        conversation: manifest.conversation,
        isImporting: true,
        imported: { agent: manifest.agent, exportedAt: manifest.exportedAt },
      };
      const detail = detailOf(manifest, settings, agents);
      await lifecycle.begin([agent], () => this.#store(agent, { ...settings, detail }, gone));
      return agent;
    } catch (error) {
      // The row may be stored although the confirmation was lost. Then it needs its files.
      const isStored = await stores.agents.byId(resourceId).then(Boolean, () => true);
      if (!isStored) await archives.remove(resourceId);
      throw error;
    } finally {
      this.#underway.delete(resourceId);
    }
  }

  /** The report about the agent's import. Throws `agent_not_found` if the agent was deleted. */
  async detail(agent: AgentState): Promise<ImportDetail> {
    const detail = await this.#context.stores.agents.importDetail(agent.id);
    if (!detail) throw new BerthError("agent_not_found", `There is no agent ${agent.name}.`);
    return detail;
  }

  /**
   * Removes archives that no agent needs, and moves archives of unknown agents to the quarantine. Called by the timer
   * and at the start.
   */
  async sweep(): Promise<void> {
    const { stores, hostFiles, archives } = this.#context;
    // In this order: an agent is younger than its files.
    const found = await archives.ids();
    const kept = new Set(this.#underway);
    const needed = await stores.agents.importing();
    const states = await hostFiles.statesOf(found.map((id) => ({ id })));
    for (const id of found) {
      if (kept.has(id) || needed.has(id)) continue;
      if (states.get(id) === "unknown") await archives.quarantine(id);
      else await archives.remove(id);
    }
  }

  #store(agent: AgentState, settings: ImportedSettings, gone: AbortSignal): Promise<void> {
    const { stores, archives, searchIndexer } = this.#context;
    return this.#storing.run(agent.accountId, async () => {
      if (gone.aborted) throw clientGone();
      const leave = await this.#places.take("all");
      if (!leave) throw new BerthError("too_many_requests", "Too many imports at once; try again later.");
      try {
        await stores.histories.insert(agent, settings, archives.history(agent.id, new Date(), gone));
        searchIndexer.wake();
      } finally {
        leave();
      }
    });
  }

  async #requireCreatable(viewer: Viewer, settings: CreateAgent): Promise<void> {
    const { agents, stores } = this.#context;
    if (!AgentName.safeParse(settings.name).success) {
      throw new BerthError("archive_invalid", "The archive's agent has no valid name: give another with `name`.");
    }
    if (await stores.agents.byName(viewer.accountId, settings.name)) {
      const message = `There is already an agent ${settings.name}: give the import another name with \`name\`.`;
      throw new BerthError("agent_exists", message);
    }
    await agents.requireCreatable(viewer, settings);
  }
}

/** The requested settings of the new agent. */
function toCreate(
  { manifest, settings }: { manifest: Manifest; settings: ArchivedSettings },
  asked: AskedImport,
): CreateAgent {
  const model = asked.model === undefined ? settings.model : asked.model === "default" ? null : asked.model;
  const name = asked.name ?? manifest.agent;
  // The agents that it may call belong to another account.
  const { agents: _, ...own } = settingsOf(settings);
  // Another model is chosen where those of the archive are not available.
  const fallbackModels = asked.model === undefined ? settings.fallbackModels : [];
  return { ...own, name, runtime: manifest.runtime.name, model, fallbackModels, resources: settings.resources };
}

/** Copies the folders of the agent's archive into its running machine. */
export async function pourInto(
  archives: Pick<ImportFolders, "open">,
  agentId: string,
  guest: GuestClient,
): Promise<void> {
  for (const folder of ["home", "state"] as const) {
    const bytes = await archives.open(agentId, folder).catch((error: unknown) => {
      const message = "The files of the import are not on this host any more.";
      throw new BerthError("machine_lost", message, { cause: error });
    });
    try {
      await sendBytes(await guest.importFolder({ folder }), bytes);
    } finally {
      bytes.destroy();
    }
  }
}

function detailOf(
  { installed, hasDisk }: Manifest,
  { agents, secrets }: ArchivedSettings,
  found: readonly string[],
): ImportDetail {
  return { installed, secrets, agents: agents.filter((name) => !found.includes(name)), hadDisk: hasDisk };
}

/** The bytes of an upload. It stays open for the response. */
async function* uploaded(bytes: Readable): AsyncGenerator<Buffer> {
  try {
    yield* bytes.iterator({ destroyOnReturn: false });
  } catch (error) {
    throw new BerthError("request_invalid", "The upload broke off; nothing was imported.", { cause: error });
  }
}
