import { mkdir } from "node:fs/promises";
import { guestGatewayPort, guestPort } from "../contract/guest.ts";
import { runtimes } from "../runtimes/all.ts";
import { adopt, firmwareToken, loadIdentity, startRenewer } from "./identity.ts";
import { createRunner } from "./runner.ts";
import { Uplink } from "./uplink.ts";

// The one program of ours in a guest: the runner, as root, with the runtime as the agent's user.

const renew = startRenewer();
const uplink = new Uplink();
uplink.listen(guestGatewayPort);
const identity = await loadIdentity();
const stateFolder = "/var/lib/berth";
await mkdir(stateFolder, { recursive: true, mode: 0o711 });
const runner = await createRunner({
  runtimes,
  surroundings: {
    // The agent's user, made with the image.
    uid: 1000,
    gid: 1000,
    home: "/home/agent",
    packages: "/opt/berth/node_modules",
    stateFolder,
    gatewayUrl: `http://127.0.0.1:${guestGatewayPort}`,
    log: console.error,
  },
  journalFolder: `${stateFolder}/turns`,
  uplink,
  identity,
  firstToken: identity ? identity.token : await firmwareToken(),
  adopt: (adoption) => adopt(adoption, renew),
});
runner.listen(guestPort);
