import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

// The floor: a Node program that only relays streams. Its argument is the port it relays from.

const server = createServer((incoming, outgoing) => {
  request({ port: process.argv[2], path: incoming.url, agent: false }, (response) => {
    outgoing.writeHead(200, response.headers);
    response.pipe(outgoing);
  }).end();
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
console.log(JSON.stringify({ port: (server.address() as AddressInfo).port }));
process.stdin.resume();
await once(process.stdin, "end");
process.exit();
