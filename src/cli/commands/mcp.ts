import { setTimeout as sleep } from "node:timers/promises";
import { ApiError, type WorkspaceSecret } from "@berth/client";
import { Option } from "commander";
import { openInBrowser } from "../browser.ts";
import type { ToolCommand } from "../command.ts";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { CliError, InterruptedError } from "../errors.ts";
import { repeatable } from "../options.ts";
import { readAnswer, readSecret } from "../prompt.ts";
import { printable } from "../terminal.ts";
import { note } from "../verbosity.ts";
import { secretText } from "./secrets.ts";

const pollMs = 2_000;
const about = { secret: "the secret's name, such as LINEAR" };

const connectHelp = `
A person signs in at the MCP server's authorization server in a browser. The token is a secret of the workspace: agents use it
as \${NAME} in a header of the MCP server, and never see it. See berth secrets list for all of them and their state; berth secrets
set NAME --keep-value --agent ada changes who can use one.

Examples:
  berth mcp connect LINEAR https://mcp.linear.app/mcp
  berth agents update ada --mcp-servers '{"linear": {"url": "https://mcp.linear.app/mcp",
    "headers": {"Authorization": "Bearer \${LINEAR}"}}}'
  berth mcp connect LINEAR                              # again, after it has failed
  berth mcp connect CRM https://crm.example.com/mcp --client-id berth --client-secret --agent ada`;

interface ConnectOptions {
  agent?: string[];
  clientId?: string;
  clientSecret?: true;
  scope?: string[];
  /** False with `--no-browser`. */
  browser: boolean;
  /** False with `--no-wait`. */
  wait: boolean;
}

export function register(program: ToolCommand): void {
  const mcp = program.add("mcp", "sign in to MCP servers, for agents");
  mcp
    .add("connect <secret>", "sign in to an MCP server, or sign in again", about)
    .argument("[url]", "the MCP server's address; default: the one of before")
    .addOption(repeatable("--agent <name>", "an agent that can use it; can be repeated (default: all)"))
    .option("--client-id <id>", "a client that is registered at the authorization server")
    .addOption(new Option("--client-secret", "ask for the client's secret"))
    .addOption(repeatable("--scope <scope>", "what to ask for; can be repeated (default: what the server names)"))
    .option("--no-browser", "only print the page's address")
    .option("--no-wait", "do not wait for the code of the last page; see berth mcp confirm")
    .addHelpText("after", connectHelp)
    .prints(connectServer, secretText);
  mcp
    .add("confirm <secret>", "finish a sign-in with the code of the last page", about)
    .argument("<code>", "the code that the browser shows")
    .prints((secret: string, code: string) => connect().secrets.confirm(secret, { code }), secretText);
  mcp
    .add("disconnect <secret>", "delete a sign-in, and revoke its token where that is possible", about)
    .confirms(
      (secret: string) => `Disconnect ${printable(secret)}? Requests of agents that use it fail from then on.`,
      "Nothing was disconnected.",
    )
    .prints(
      (secret: string) => connect().secrets.delete(secret),
      (_, secret) => note(`Disconnected ${printable(secret)}.`),
    );
}

async function connectServer(
  secret: string,
  url: string | undefined,
  options: ConnectOptions,
): Promise<WorkspaceSecret> {
  const { agent, clientId, clientSecret, scope, browser, wait } = options;
  const { secrets } = connect();
  if (clientSecret && clientId === undefined) throw new CliError("--client-secret needs --client-id.", 2);
  const begun = await secrets.connect(secret, {
    ...(url !== undefined && { url }),
    ...(agent && { agents: agent }),
    ...(clientId !== undefined && { clientId }),
    ...(clientSecret && { clientSecret: (await readSecret(`Secret of ${clientId}: `)).trim() }),
    ...(scope && { scopes: scope }),
  });
  // Also where the tool is quiet: without it, nobody can finish the sign-in.
  console.error(`Open this page and sign in:\n\n  ${printable(begun.authorizationUrl)}\n`);
  const isPage = /^https?:\/\//.test(begun.authorizationUrl);
  if (browser && isPage && readEnvironment().hasDisplay) await openInBrowser(begun.authorizationUrl);
  if (wait && process.stdin.isTTY) return confirmed(secret);
  note(`Then: berth mcp confirm ${printable(secret)} CODE, with the code of the last page.`);
  return secrets.get(secret);
}

/** Asks for the code, until the sign-in has ended. */
async function confirmed(secret: string): Promise<WorkspaceSecret> {
  const { secrets } = connect();
  const ended = new AbortController();
  const isOver = async () => (await secrets.get(secret)).login?.attemptExpiresAt == null;
  const watching = (async () => {
    while (!ended.signal.aborted) {
      await sleep(pollMs, undefined, { signal: ended.signal }).catch(() => {});
      // An error of the service is reported by the call that sends the code.
      if (!ended.signal.aborted && (await isOver().catch(() => false))) ended.abort();
    }
  })();
  try {
    for (;;) {
      const code = await readAnswer("Code of the last page: ", ended.signal);
      if (ended.signal.aborted) {
        const { login } = await secrets.get(secret);
        throw new CliError(`Not connected. ${printable(login?.reason ?? "")}`);
      }
      if (code === null) throw new InterruptedError();
      if (code.trim() === "") continue;
      try {
        return await secrets.confirm(secret, { code: code.trim() });
      } catch (error) {
        if (!(error instanceof ApiError && error.code === "request_invalid")) throw error;
        console.error(printable(error.message));
      }
    }
  } finally {
    ended.abort();
    await watching;
  }
}
