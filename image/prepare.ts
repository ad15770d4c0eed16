import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import {
  environmentFile,
  guestFunctionsPort,
  guestGatewayPort,
  guestProxyPort,
  guestRuntimePort,
} from "../src/contract/guest.ts";
import { ClientFunctions } from "../src/guest/client-functions.ts";
import { DemoServer } from "../src/models/demo/demo-server.ts";
import { Approvals } from "../src/runtimes/approvals.ts";
import { openclaw } from "../src/runtimes/openclaw.ts";
import { clearLeftovers } from "../src/runtimes/openclaw-leftovers.ts";
import { compileCacheOf, keepPrepared } from "../src/runtimes/openclaw-prepared.ts";
import { endRuntime } from "../src/runtimes/process.ts";
import type { StartContext } from "../src/runtimes/runtime.ts";

// Run by prepare.sh while the image is built. OpenClaw starts as it will in a machine: with the same paths, user and
// configuration. Work that it need not repeat is kept.

const context: StartContext = {
  home: "/home/agent",
  uid: 1000,
  gid: 1000,
  packages: "/opt/berth/node_modules",
  gatewayUrl: `http://127.0.0.1:${guestGatewayPort}`,
  proxyUrl: `http://127.0.0.1:${guestProxyPort}`,
  functionsUrl: `http://127.0.0.1:${guestFunctionsPort}/mcp`,
  runtimePort: guestRuntimePort,
  approvals: new Approvals(),
  stateFolder: "/tmp/prepared",
  environmentFile,
  program: null,
  mcpServers: {},
  session: null,
  log: console.error,
};
const node = process.execPath;
for (const folder of [context.stateFolder, dirname(environmentFile)]) await mkdir(folder, { recursive: true });
await mkdir(compileCacheOf(context));

await startedFor(async () => {});
await clearLeftovers(node, context, true);
await keepPrepared(context);
// Its turns load more code, for the cache. Their output is not kept.
new ClientFunctions().listen(guestFunctionsPort).unref();
using _model = await DemoServer.start([], guestGatewayPort);
await startedFor(async (session) => {
  for (const prompt of openclaw.warmUp) await session.prompt(prompt, () => {}, new AbortController().signal);
});

/** Starts OpenClaw, and ends it in order, so that it writes its cache and gives up its leases. */
async function startedFor(act: (session: Awaited<ReturnType<typeof openclaw.start>>) => Promise<void>): Promise<void> {
  const session = await openclaw.start(context);
  await act(session);
  await endRuntime(context, { inOrder: true });
  await session.ended;
}
