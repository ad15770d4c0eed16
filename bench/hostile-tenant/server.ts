import { createInterface } from "node:readline";
import { makeDatabaseSeed } from "../../test/support/database-seed.ts";

// A server with scripted machines, an account to measure and so many hostile ones, for `bench/hostile-tenant.ts`. Each line on standard input is
// answered with the most heap since the last one, in bytes.

await using _ = await makeDatabaseSeed();
const { newAccount } = await import("../../test/support/accounts.ts");
const { ScriptedService } = await import("../../test/support/scripted-service.ts");
await using service = await ScriptedService.start({
  memoryMiB: 20_000,
  maximumAwake: 10,
  startingCredits: "1000000",
  logLevel: "error",
  // As by default.
  rateLimits: { requests: 1_200, account: 6_000, address: 120, agents: 30, keys: 30, hooks: 0 },
  maximumStreams: 100,
  maximumAccountStreams: 400,
});
const victim = await newAccount(service);
/** An account for each attack: none has used up its limits before. */
const hostile: string[] = [];
for (let count = 0; count < Number(process.argv[2]); count++) hostile.push((await newAccount(service)).key);

let heap = 0;
const watch = setInterval(() => {
  heap = Math.max(heap, process.memoryUsage().heapUsed);
}, 10);
console.log(JSON.stringify({ url: service.client.url, hostile, victim: victim.key }));
for await (const _line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify({ heap }));
  heap = 0;
}
clearInterval(watch);
