import { once } from "node:events";
import { readConfig } from "./config/env.ts";
import { ConfigError } from "./config/variables.ts";
import { createServer, type Server } from "./server.ts";

// The server's program: `berth up` and `make up` end here.

/** From SIGTERM to the exit, without the suspension of agents; what is not stored by then is read again from the machines at the next start. */
const exitDeadlineMs = 5_000;

// Files of the server are its own; the few that others read are given to them by name.
process.umask(0o077);
try {
  const config = readConfig(process.env);
  const signals = Promise.race([once(process, "SIGTERM"), once(process, "SIGINT")]);
  await using server = await createServer(config);
  // On a terminal, the signal says that it was closed, and ends the server.
  if (server.reloadCertificate && !process.stdin.isTTY) process.on("SIGHUP", server.reloadCertificate);
  void announce(server);
  const isDeposed = await Promise.race([signals.then(() => false), server.deposed.then(() => true)]);
  if (isDeposed) endAtOnce();
  const deadlineMs = exitDeadlineMs + config.stopSuspendMs;
  setTimeout(giveUp, deadlineMs, server, deadlineMs).unref();
} catch (error) {
  console.error(error instanceof ConfigError || error instanceof Error ? `berth: ${error.message}` : error);
  process.exitCode = 1;
}

/** Ends without what has not stopped by now. */
function giveUp(server: Server, deadlineMs: number): never {
  const parts = server.stopping().join(", ") || "connections";
  console.error(`berth: the stop took more than ${deadlineMs / 1000} s; given up: ${parts}`);
  process.exit(0);
}

/** Another server has what this one led: nothing that is under way here may still be done. */
function endAtOnce(): never {
  console.error("berth: another server has taken over: this one had lost its lease, and ends");
  process.exit(1);
}

/** Prints the ready line once all is there; before that what is missing, once, and that one can sign in already. */
async function announce({ readiness, url, secureUrl, firstSignIn }: Server): Promise<void> {
  const at = secureUrl === null ? url : `${url} and ${secureUrl}`;
  const invitation = firstSignIn ? `\nTo sign in for the first time: ${firstSignIn}` : "";
  let told = "";
  for (;;) {
    const { ready, checks } = await readiness();
    if (ready) break;
    if (told === "") console.log(`Berth answers at ${at} and gets its machines ready.${invitation}`);
    const missing = Object.entries(checks)
      .filter(([, { ok }]) => !ok)
      .map(([name, { message }]) => `berth: not ready: ${name}: ${message}`)
      .join("\n");
    if (missing !== told) console.error(missing);
    told = missing;
    await new Promise((resolve) => setTimeout(resolve, 1_000).unref());
  }
  // At once, so that who reads the first line of a log finds the second there too.
  console.log(`Berth is ready at ${at}${told === "" ? invitation : ""}`);
}
