import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import {
  environmentFile,
  guestFunctionsPort,
  guestGatewayPort,
  guestPort,
  guestProxyPort,
  guestRuntimePort,
} from "../contract/guest.ts";
import { runtimes } from "../runtimes/all.ts";
import { Approvals } from "../runtimes/approvals.ts";
import { busy } from "./activity.ts";
import { ClientFunctions } from "./client-functions.ts";
import { Downloads } from "./downloads.ts";
import { listenEgressProxy } from "./egress-proxy.ts";
import { adopt, firmwareToken, loadIdentity, startRenewer } from "./identity.ts";
import { boundLog } from "./log.ts";
import { createRunner } from "./runner.ts";
import { provideSecrets } from "./secrets.ts";
import { startSyncer } from "./sync.ts";
import { Uplink } from "./uplink.ts";

// The runner, Berth's only program in a guest. It runs as root and starts the runtime as the agent's user.

/**
 * This program's log, opened by `image/rootfs/usr/lib/berth/runner`. Addressed by descriptor, so that logging continues
 * even if an agent with root removes the file.
 */
const logFile = "/proc/self/fd/2";

boundLog(logFile);
const renew = startRenewer();
const uplink = new Uplink();
uplink.listen(guestGatewayPort);
const downloads = new Downloads("/usr/lib/berth/splice");
listenEgressProxy(uplink, downloads, guestProxyPort);
const functions = new ClientFunctions();
functions.listen(guestFunctionsPort);
const identity = await loadIdentity();
const stateFolder = "/var/lib/berth";
await mkdir(stateFolder, { recursive: true, mode: 0o711 });
const [uid, gid] = [1000, 1000];
const runner = await createRunner({
  runtimes,
  context: {
    uid,
    gid,
    home: "/home/agent",
    packages: "/opt/berth/node_modules",
    stateFolder,
    gatewayUrl: `http://127.0.0.1:${guestGatewayPort}`,
    proxyUrl: `http://127.0.0.1:${guestProxyPort}`,
    functionsUrl: `http://127.0.0.1:${guestFunctionsPort}/mcp`,
    runtimePort: guestRuntimePort,
    environmentFile,
    approvals: new Approvals(),
    log: console.error,
  },
  machine: {
    identity,
    firstToken: identity ? identity.token : await firmwareToken(),
    adopt: (adoption, before) => adopt(adoption, before, renew),
    provide: provideSecrets,
    setClock: (time) => renew({ time: time / 1000, entropy: randomBytes(64).toString("hex") }),
    sync: startSyncer(),
    busy,
  },
  uplink,
  downloads,
  functions,
  logFile,
});
runner.listen(guestPort);
