import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo, Server } from "node:net";
import { join } from "node:path";
import { Uplink } from "../../src/guest/uplink.ts";
import { folderPrefix } from "../../test/support/config.ts";
import { runner } from "./runner.ts";
import { clock, ticks } from "./ticks.ts";

// Runners for as many machines as its argument says, each on its own port, and the same events as plain HTTP streams.
// Prints `{ports, gateways, source}`, where `gateways` is where their programs reach the models. Exits when its
// standard input closes.

const folder = await mkdtemp(folderPrefix);

async function portOf(server: Server): Promise<number> {
  if (!server.listening) await once(server.listen(0, "127.0.0.1"), "listening");
  return (server.address() as AddressInfo).port;
}

const ports: number[] = [];
const gateways: number[] = [];
for (let number = 0; number < Number(process.argv[2]); number++) {
  const uplink = new Uplink();
  ports.push(await portOf(await runner(join(folder, String(number)), uplink)));
  gateways.push(await portOf(uplink.listen(0)));
}
const source = createServer((request, response) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const event = () => JSON.stringify({ type: "response.output_text.delta", delta: clock() });
  let id = 0;
  void ticks(request.url!.slice(1), () => response.write(`id: ${++id}\ndata: ${event()}\n\n`)).then(() =>
    response.end(),
  );
});
console.log(JSON.stringify({ ports, gateways, source: await portOf(source) }));
process.stdin.resume();
await once(process.stdin, "end");
await rm(folder, { recursive: true });
process.exit();
