import { once } from "node:events";
import { ScriptedService } from "../../test/support/scripted-service.ts";

// A whole server with a scripted machine and one agent, for `bench/clients.ts`. It ends with its standard input.

const service = await ScriptedService.start();
await service.client.createAgent("ada");
console.log(JSON.stringify({ url: service.client.url, key: service.client.key }));
process.stdin.resume();
await once(process.stdin, "end");
await service[Symbol.asyncDispose]();
