import { type ExecFileException, execFile } from "node:child_process";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { loginEnvironment } from "./process.ts";
import type { RuntimeContext } from "./runtime.ts";

/** It takes a tenth of a second, or one second under software emulation. */
const maximumMs = 60_000;

/** How long to wait while a program of the agent has the database locked. */
const lockMs = 5_000;

/**
 * Run by Node with the database's path. Only its session's status, which is stored twice, marks a run as active; the
 * other fields would be left over from an attempt to resume it. OpenClaw also goes by rows whose entry is not JSON, so
 * those are marked too.
 */
const script = `
const { DatabaseSync } = require("node:sqlite");
const leftOver = [
  "abortedLastRun",
  "mainRestartRecovery",
  "restartRecoveryDeliveryRunId",
  "restartRecoveryDeliverySourceRunId",
  "restartRecoveryForceSafeTools",
  "restartRecoveryRuns",
].map((name) => "'$." + name + "'");
try {
  new DatabaseSync(process.argv[1], { timeout: ${lockMs} }).exec(\`
    UPDATE session_nodes
    SET status = 'killed', entry_json = iif(
      json_valid(entry_json),
      json_set(json_remove(entry_json, \${leftOver}), '$.status', 'killed'),
      entry_json
    )
    WHERE status = 'running'
  \`);
} catch (error) {
  process.stderr.write(error.message);
  process.exitCode = 1;
}
`;

/**
 * Marks the interrupted runs of OpenClaw's conversations as ended. OpenClaw must not be running. Half a second after
 * its start it would resume whatever it was killed in. That makes model calls that belong to no turn, runs commands
 * that somebody has cancelled, and refuses the next message until it is done (`SESSION_WORK_START_CHANGED`). No setting
 * prevents it. The messages stay, since their conversation is not OpenClaw's main one. Never rejects: failures are
 * logged.
 */
export async function endInterruptedRuns(node: string, context: RuntimeContext): Promise<void> {
  const { home, uid, gid, log } = context;
  const database = join(home, ".openclaw/agents/main/agent/openclaw-agent.sqlite");
  const isThere = await access(database).then(
    () => true,
    () => false,
  );
  if (!isThere) return;
  try {
    const options = {
      cwd: home,
      env: loginEnvironment(context),
      uid,
      gid,
      timeout: maximumMs,
      killSignal: "SIGKILL" as const,
    };
    await promisify(execFile)(node, ["--no-warnings", "--eval", script, database], options);
  } catch (error) {
    const { code, killed, stderr } = error as ExecFileException & { stderr?: string };
    const reason = killed ? "its database took too long" : stderr || code;
    log(`openclaw may go on with what was interrupted: ${reason}`);
  }
}
