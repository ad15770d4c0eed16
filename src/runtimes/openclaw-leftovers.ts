import { type ExecFileException, execFile } from "node:child_process";
import { access } from "node:fs/promises";
import { promisify } from "node:util";
import { stateOf } from "./openclaw-prepared.ts";
import { loginEnvironment } from "./process.ts";
import type { RuntimeContext } from "./runtime.ts";

/** It takes a tenth of a second, or one second under software emulation. */
const maximumMs = 60_000;

/** How long to wait while a program of the agent has a database locked. */
const lockMs = 5_000;

/**
 * The fields that an attempt to resume a run would leave behind. Only the session's status, which is stored twice,
 * marks a run as active. OpenClaw also reads rows whose entry is not JSON, so those are marked too. A trigger marks
 * each written row as unchecked, and only OpenClaw's migrations check it.
 */
const leftOver = [
  "abortedLastRun",
  "mainRestartRecovery",
  "restartRecoveryDeliveryRunId",
  "restartRecoveryDeliverySourceRunId",
  "restartRecoveryForceSafeTools",
  "restartRecoveryRuns",
].map((name) => `'$.${name}'`);

/** SQL for a database in OpenClaw's folder, which may not be there. */
type Change = [path: string, sql: string];

/**
 * The lease of a killed process is valid for five minutes, in which no other process starts. OpenClaw ignores it if
 * that process has ended and had the same hostname. In a clone the hostname differs.
 */
const changes: Change[] = [
  [
    "agents/main/agent/openclaw-agent.sqlite",
    `
    UPDATE session_nodes
    SET status = 'killed', entry_json = iif(
      json_valid(entry_json),
      json_set(json_remove(entry_json, ${leftOver}), '$.status', 'killed'),
      entry_json
    )
    WHERE status = 'running';
    UPDATE session_nodes SET entry_valid = 1 WHERE status = 'killed' AND entry_valid = 0 AND json_valid(entry_json)`,
  ],
  // An end in order leaves no lease. After any other, OpenClaw may refuse to start ("invalid persisted session row requires
  // repair"), unless it takes its migrations as not yet run: they repair it.
  [
    "state/openclaw.sqlite",
    `DELETE FROM schema_meta WHERE meta_key = 'state-migrations' AND EXISTS (SELECT 1 FROM state_leases)`,
  ],
  ["state/openclaw.sqlite", "DELETE FROM state_leases"],
];

/** Files that identify an installation, or are derived from its identity. OpenClaw recreates them. */
const unique: { changes: Change[]; files: string[] } = {
  changes: ["device_identities", "config_revision_keys", "diagnostic_events"].map((table) => [
    "state/openclaw.sqlite",
    `DELETE FROM ${table}`,
  ]),
  files: ["config-journal-fingerprint.key"],
};

/** Run by Node with the folder, the changes and the files to remove as JSON. */
const script = `
const { existsSync, rmSync } = require("node:fs");
const { join } = require("node:path");
const { DatabaseSync } = require("node:sqlite");
const { folder, changes, files } = JSON.parse(process.argv[1]);
for (const [path, change] of changes) {
  if (!existsSync(join(folder, path))) continue;
  try {
    new DatabaseSync(join(folder, path), { timeout: ${lockMs} }).exec(change);
  } catch (error) {
    process.stderr.write(error.message + "\\n");
    process.exitCode = 1;
  }
}
for (const file of files) rmSync(join(folder, file), { force: true });
`;

/**
 * Clears what an OpenClaw that was cut off left behind. OpenClaw must not be running. With `asAnother`, what
 * identifies its installation is cleared too.
 *
 * Interrupted runs are marked as ended. Half a second after its start it would resume whatever it was killed in. That
 * makes model calls that belong to no turn, runs commands that somebody has cancelled, and refuses the next message
 * until it is done (`SESSION_WORK_START_CHANGED`). No setting prevents it. The messages stay, since their conversation
 * is not OpenClaw's main one. Leases are dropped, since nobody holds them any more.
 *
 * Never rejects: failures are logged.
 */
export async function clearLeftovers(node: string, context: RuntimeContext, asAnother: boolean): Promise<void> {
  const { home, uid, gid, log } = context;
  const folder = stateOf(context);
  const isThere = await access(folder).then(
    () => true,
    () => false,
  );
  if (!isThere) return;
  const words = JSON.stringify({
    folder,
    changes: asAnother ? [...changes, ...unique.changes] : changes,
    files: asAnother ? unique.files : [],
  });
  try {
    const options = {
      cwd: home,
      env: loginEnvironment(context),
      uid,
      gid,
      timeout: maximumMs,
      killSignal: "SIGKILL" as const,
    };
    await promisify(execFile)(node, ["--no-warnings", "--eval", script, words], options);
  } catch (error) {
    const { code, killed, stderr } = error as ExecFileException & { stderr?: string };
    const reason = killed ? "its databases took too long" : stderr?.trim() || code;
    log(`openclaw may continue what was interrupted: ${reason}`);
  }
}
