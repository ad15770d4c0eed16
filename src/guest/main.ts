import { guestGatewayPort, guestPort } from "../contract/guest.ts";
import { claudeCode } from "../runtimes/claude-code.ts";
import { adopt, firmwareToken, loadIdentity, startRenewer } from "./identity.ts";
import { createRunner } from "./runner.ts";
import { Uplink } from "./uplink.ts";

// The one program of ours in a guest: the runner, as root, with the runtime as the agent's user.

const renew = startRenewer();
const uplink = new Uplink();
uplink.listen(guestGatewayPort);
const identity = await loadIdentity();
const runner = await createRunner({
  runtimes: [claudeCode],
  surroundings: {
    // The agent's user, made with the image.
    uid: 1000,
    gid: 1000,
    home: "/home/agent",
    gatewayUrl: `http://127.0.0.1:${guestGatewayPort}`,
    log: console.error,
  },
  journalFolder: "/var/lib/berth/turns",
  uplink,
  identity,
  firstToken: identity ? identity.token : await firmwareToken(),
  adopt: (adoption) => adopt(adoption, renew),
});
runner.listen(guestPort);
