import { once } from "node:events";
import { ScriptedService } from "../../test/support/scripted-service.ts";

// A service with scripted machines, up to as many at once as the first argument says. Prints `{url, key, dataFolder}`.

{
  await using service = await ScriptedService.start({
    maximumAwake: Number(process.argv[2]),
    rateLimits: { requests: 0, account: 0, address: 0, agents: 0, keys: 0, hooks: 0 },
    startingCredits: "1000000",
  });
  const { server, client, config } = service;
  console.log(JSON.stringify({ url: server.url, key: client.key, dataFolder: config.dataFolder }));
  process.stdin.resume();
  await once(process.stdin, "end");
}
process.exit();
