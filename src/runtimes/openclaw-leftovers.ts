import { type ExecFileException, execFile } from "node:child_process";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { loginEnvironment } from "./process.ts";
import type { RuntimeContext } from "./runtime.ts";

/** It takes a tenth of a second, or one second under software emulation. */
const maximumMs = 60_000;

/** How long to wait while a program of the agent has a database locked. */
const lockMs = 5_000;

/**
 * Only its session's status, which is stored twice, marks a run as active; the other fields would be left over from an
 * attempt to resume it. OpenClaw also goes by rows whose entry is not JSON, so those are marked too.
 */
const leftOver = [
  "abortedLastRun",
  "mainRestartRecovery",
  "restartRecoveryDeliveryRunId",
  "restartRecoveryDeliverySourceRunId",
  "restartRecoveryForceSafeTools",
  "restartRecoveryRuns",
].map((name) => `'$.${name}'`);

/**
 * In OpenClaw's folder. A lease of a process that was cut off holds for five minutes, in which no other starts. OpenClaw
 * drops it if that process is gone and ran under the same hostname, which a clone's did not.
 */
const changes = {
  "agents/main/agent/openclaw-agent.sqlite": `
    UPDATE session_nodes
    SET status = 'killed', entry_json = iif(
      json_valid(entry_json),
      json_set(json_remove(entry_json, ${leftOver}), '$.status', 'killed'),
      entry_json
    )
    WHERE status = 'running'`,
  "state/openclaw.sqlite": "DELETE FROM state_leases",
};

/** Run by Node with `changes` as JSON, by the paths of the databases. */
const script = `
const { existsSync } = require("node:fs");
const { DatabaseSync } = require("node:sqlite");
for (const [path, change] of Object.entries(JSON.parse(process.argv[1]))) {
  if (!existsSync(path)) continue;
  try {
    new DatabaseSync(path, { timeout: ${lockMs} }).exec(change);
  } catch (error) {
    process.stderr.write(error.message + "\\n");
    process.exitCode = 1;
  }
}
`;

/**
 * Clears what an OpenClaw that was cut off left behind. OpenClaw must not be running.
 *
 * Interrupted runs are marked as ended. Half a second after its start it would resume whatever it was killed in. That
 * makes model calls that belong to no turn, runs commands that somebody has cancelled, and refuses the next message
 * until it is done (`SESSION_WORK_START_CHANGED`). No setting prevents it. The messages stay, since their conversation
 * is not OpenClaw's main one. Leases are dropped, since nobody holds them any more.
 *
 * Never rejects: failures are logged.
 */
export async function clearLeftovers(node: string, context: RuntimeContext): Promise<void> {
  const { home, uid, gid, log } = context;
  const folder = join(home, ".openclaw");
  const isThere = await access(folder).then(
    () => true,
    () => false,
  );
  if (!isThere) return;
  const byPath = Object.entries(changes).map(([path, change]) => [join(folder, path), change]);
  try {
    const options = {
      cwd: home,
      env: loginEnvironment(context),
      uid,
      gid,
      timeout: maximumMs,
      killSignal: "SIGKILL" as const,
    };
    const words = JSON.stringify(Object.fromEntries(byPath));
    await promisify(execFile)(node, ["--no-warnings", "--eval", script, words], options);
  } catch (error) {
    const { code, killed, stderr } = error as ExecFileException & { stderr?: string };
    const reason = killed ? "its databases took too long" : stderr?.trim() || code;
    log(`openclaw may go on with what was interrupted: ${reason}`);
  }
}
