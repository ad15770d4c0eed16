import { guestFunctionsPort, guestGatewayPort } from "../src/contract/guest.ts";
import { DemoServer } from "../src/gateway/demo/demo-server.ts";
import { ClientFunctions } from "../src/guest/client-functions.ts";
import { guestContext } from "../src/guest/context.ts";
import { prepareOpenclaw } from "../src/runtimes/openclaw-prepare.ts";

// Run by `customize.sh` in the guest's root file system, as the agent's user, before it becomes the image: starts
// OpenClaw as in a machine and keeps what later starts need not do again. Its model is the demonstration model.

const model = await DemoServer.start([], guestGatewayPort);
const functions = new ClientFunctions().listen(guestFunctionsPort);
try {
  await prepareOpenclaw({ ...guestContext, mcpServers: {} });
} finally {
  model[Symbol.dispose]();
  functions.closeAllConnections();
  functions.close();
}
