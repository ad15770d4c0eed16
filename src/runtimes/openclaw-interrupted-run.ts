import { type ExecFileException, execFile } from "node:child_process";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { loginEnvironment } from "./process.ts";
import type { RuntimeContext } from "./runtime.ts";

/** A matter of a tenth of a second, and under software emulation of one. */
const maximumMs = 60_000;

/** How long a program of the agent's may have the database to itself. */
const lockMs = 5_000;

/**
 * To be run by Node with the database's path. A run that goes on is known by its session's status alone, which is
 * kept twice; the rest would be left over from a try to take it up again. OpenClaw itself goes by what is no JSON, too.
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
 * Has OpenClaw, which must not be running, take its conversations' interrupted runs as ended. Half a second after its
 * start it takes up by itself what it was killed in: with calls of models that belong to nobody's turn, commands that
 * somebody has cancelled, and the next message refused for as long (`SESSION_WORK_START_CHANGED`). No setting keeps it from
 * it. What was said in them stays, since their conversation is not OpenClaw's main one. Never rejects: what fails is logged.
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
