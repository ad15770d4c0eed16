import { once } from "node:events";
import { join } from "node:path";
import fastify from "fastify";
import { serializerCompiler, validatorCompiler } from "fastify-type-provider-zod";
import { toAgentView } from "../../src/agents/agent.ts";
import { AgentStore } from "../../src/agents/store.ts";
import { AgentList, ListQuery } from "../../src/contract/agents.ts";
import { openDatabase } from "../../src/core/database/database.ts";
import { startEmbeddedPostgres } from "../../src/core/database/embedded.ts";
import { ScriptedService } from "../../test/support/scripted-service.ts";

// A service with ten agents, and a bare Fastify route that answers the same list from the same database without
// authentication. Prints `{url, key, bare}`.

const agents = 10;

{
  await using service = await ScriptedService.start({
    logLevel: "info",
    rateLimits: { requests: 1_000_000, account: 1_000_000, address: 1_000_000, agents: 0, keys: 0, hooks: 0 },
  });
  for (let number = 0; number < agents; number++) await service.client.createAgent(`agent-${number}`);

  const { config } = await startEmbeddedPostgres(join(service.config.dataFolder, "postgres"));
  const database = openDatabase(config, () => {});
  const { id } = await database.selectFrom("accounts").select("id").executeTakeFirstOrThrow();
  const caller = { accountId: id, personId: null, role: "owner" as const, agentIds: null };
  const rows = new AgentStore(database, "here", 1_000);
  const bare = fastify();
  bare.setValidatorCompiler(validatorCompiler);
  bare.setSerializerCompiler(serializerCompiler);
  const schema = { querystring: ListQuery, response: { 200: AgentList } };
  bare.get("/agents", { schema }, async () => {
    return {
      data: (await rows.list(caller, 51, null, "oversee")).map((agent) =>
        toAgentView(agent, { queuePosition: null, newestImage: null }),
      ),
      nextCursor: null,
    };
  });
  const url = await bare.listen({ host: "127.0.0.1", port: 0 });

  console.log(JSON.stringify({ url: service.server.url, key: service.client.key, bare: url }));
  process.stdin.resume();
  await once(process.stdin, "end");
  await bare.close();
  await database.destroy();
}
process.exit();
