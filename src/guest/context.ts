import { environmentFile, guestFunctionsPort, guestGatewayPort, guestProxyPort } from "../contract/guest.ts";
import type { RuntimeContext } from "../runtimes/runtime.ts";

/** Where a guest's runtimes are and what they reach. The image's build prepares them for exactly this. */
export const guestContext: RuntimeContext = {
  // The agent's user, created in the image.
  uid: 1000,
  gid: 1000,
  home: "/home/agent",
  packages: "/opt/berth/node_modules",
  preparedFolder: "/opt/berth/prepared",
  stateFolder: "/var/lib/berth",
  gatewayUrl: `http://127.0.0.1:${guestGatewayPort}`,
  proxyUrl: `http://127.0.0.1:${guestProxyPort}`,
  functionsUrl: `http://127.0.0.1:${guestFunctionsPort}/mcp`,
  environmentFile,
  log: console.error,
};
