import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openclaw } from "./openclaw.ts";
import { preparedFiles, stateFolderOf } from "./openclaw-prepared.ts";
import { endRuntime } from "./process.ts";
import type { Prompt, StartContext } from "./runtime.ts";

/**
 * The only tables of a prepared state whose rows are kept: which schemas and migrations it has, and what OpenClaw found
 * out about its own plugins. All others would be the same in every agent, keys and ids among them.
 */
const keptTables = ["config_machine_state", "migration_runs", "migration_sources", "schema_meta"];

/** A start compiles about 5,000 modules. */
const fewestModules = 1_000;

/**
 * Fills OpenClaw's part of the prepared folder. Runs once, natively, while the image is built, as the agent's user, with
 * the paths and flags of the guest: Node finds a compiled module by path, flags and user, and OpenClaw skips its
 * migrations if its configuration is the one that they ran for. A model must answer at `gatewayUrl`. Rejects if it would
 * prepare nothing.
 */
export async function prepareOpenclaw(context: StartContext): Promise<void> {
  const { compileCache, state } = preparedFiles(context);
  const own = stateFolderOf(context);
  // Compiles the modules of turns, then those of a restart with a conversation.
  await runThrough(context, openclaw.warmUp);
  await runThrough(context, []);
  await rm(own, { recursive: true });
  await runThrough(context, []);
  await mkdir(join(state, "state"), { recursive: true, mode: 0o700 });
  const database = join(state, "state/openclaw.sqlite");
  await rename(join(own, "state/openclaw.sqlite-wal"), `${database}-wal`).catch(() => {});
  await rename(join(own, "state/openclaw.sqlite"), database);
  await rm(own, { recursive: true });
  keepNothingUnique(database);
  const compiled = await readdir(compileCache, { recursive: true });
  if (compiled.length < fewestModules) throw new Error(`OpenClaw has cached only ${compiled.length} modules.`);
}

/** Starts OpenClaw, runs turns, and ends it in order: otherwise it writes nothing to its compile cache. */
async function runThrough(context: StartContext, prompts: readonly Prompt[]): Promise<void> {
  const session = await openclaw.start(context);
  try {
    for (const prompt of prompts) {
      const last = await session.prompt(prompt, () => {}, new AbortController().signal);
      if (last.type !== "response.completed") throw new Error(`A turn ended as ${JSON.stringify(last)}.`);
    }
  } finally {
    await endRuntime(context, { inOrder: true });
  }
  await session.ended;
}

function keepNothingUnique(path: string): void {
  using database = new DatabaseSync(path, { enableForeignKeyConstraints: false });
  // Also overwrites what is deleted.
  database.exec("PRAGMA secure_delete = ON");
  const tables = database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all()
    .map(({ name }) => String(name));
  for (const name of tables) if (!keptTables.includes(name)) database.exec(`DELETE FROM "${name}"`);
  const migrated = database.prepare("SELECT 1 FROM schema_meta WHERE meta_key = 'startup-migrations'").get();
  if (!migrated) throw new Error(`OpenClaw has not recorded its migrations in ${dirname(path)}.`);
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
}
