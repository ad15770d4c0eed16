import { randomUUID } from "node:crypto";
import { cpus } from "node:os";
import { sql } from "kysely";
import { TestClient } from "../test/support/client.ts";
import { makeDatabaseSeed } from "../test/support/database-seed.ts";
import { Issuer, newSigningKey } from "../test/support/issuer.ts";
import { quantile } from "./relay/streams.ts";

// `node bench/workspaces.ts [rounds]`: how long requests of one person take on a server with 200 people in 50 workspaces
// with 5,000 agents, and next to it on a server with that person alone. Both list 100 agents. The requests alternate.

const rounds = Number(process.argv[2] ?? 400);
const people = 200;
const workspaces = 50;
const agents = 5_000;

process.env.BERTH_TEST_RUN ??= "bench";
await using _ = await makeDatabaseSeed();
const { databaseOf } = await import("../test/support/accounts.ts");
const { ScriptedService } = await import("../test/support/scripted-service.ts");
await using issuer = await Issuer.start([await newSigningKey("bench")]);
const oidc = { issuer: issuer.url, audience: issuer.audience, clientId: "berth", unknownKeyMs: 600_000 };
const settings = {
  oidc,
  startingCredits: "1000000",
  rateLimits: { requests: 0, account: 0, address: 0, agents: 0, keys: 0, hooks: 0 },
};
await using one = await ScriptedService.start(settings);
await using many = await ScriptedService.start(settings);

/** Clients of a person with 100 agents in their workspace: with a token, and with a key. */
async function prepare(service: typeof one): Promise<{ token: TestClient; key: TestClient }> {
  const personal = new TestClient(
    service.server.url,
    await issuer.sign({ exp: Math.floor(Date.now() / 1000) + 86_400 }),
  );
  const { body } = await personal.call("POST", "/workspaces", { name: "measured" });
  await service.client.call("POST", "/admin/credits/grants", { account: body.id, credits: "1000" });
  const token = new TestClient(personal.url, personal.key, "measured");
  await token.createAgent("agent-0");
  await token.call("POST", "/agents/agent-0/suspend");
  await copyAgents(service, body.id, agents / workspaces - 1);
  return { token, key: new TestClient(personal.url, (await token.call("POST", "/keys", {})).body.key) };
}

/** Adds copies of the agent `agent-0`, which sleeps, to a workspace. */
async function copyAgents(service: typeof one, account: string, count: number): Promise<void> {
  const database = await databaseOf(service);
  await sql`insert into agents select copy.* from (select * from agents where name = 'agent-0' limit 1) one,
    generate_series(1, ${count}) number,
    jsonb_populate_record(null::agents, to_jsonb(one) || jsonb_build_object('name', 'agent-' || number,
      'id', gen_random_uuid(), 'account_id', ${account}::text)) copy`.execute(database);
  await sql`analyze`.execute(database);
  await database.destroy();
}

/** Adds the other people, each with a personal workspace and in one of the others, which have four members each. */
async function addOthers(service: typeof one): Promise<void> {
  const database = await databaseOf(service);
  const shared = Array.from({ length: workspaces - 1 }, () => randomUUID());
  for (const [index, id] of shared.entries()) {
    await database
      .insertInto("accounts")
      .values({ id, name: `team ${index}`, name_key: `team ${index}` })
      .execute();
  }
  for (let index = 1; index < people; index++) {
    const [person, personal] = [randomUUID(), randomUUID()];
    const subject = `person ${index}`;
    await database.insertInto("accounts").values({ id: personal, name: subject }).execute();
    await database
      .insertInto("people")
      .values({ id: person, issuer: issuer.url, subject, account_id: personal, name: subject })
      .execute();
    for (const account of [personal, shared[index % shared.length]!]) {
      await database
        .insertInto("memberships")
        .values({ person_id: person, account_id: account, role: "owner" })
        .execute();
    }
  }
  await database.destroy();
  for (const id of shared) await copyAgents(service, id, agents / workspaces);
}

const [alone, among] = [await prepare(one), await prepare(many)];
await addOthers(many);

console.log(`${cpus().length} × ${cpus()[0]!.model}, ${rounds} rounds`);
console.log("  ms                     one person p50   p95   200 people p50   p95   ratio of p50");
for (const credential of ["token", "key"] as const) {
  for (const path of ["/agents?limit=100", "/agents/agent-0", "/account"]) {
    const times: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round++) {
      for (const [index, clients] of [alone, among].entries()) {
        const began = performance.now();
        const { status } = await clients[credential].call("GET", path);
        if (status !== 200) throw new Error(`${path}: ${status}`);
        if (round >= rounds / 10) times[index]!.push(performance.now() - began);
      }
    }
    const [[p50, p95], [others50, others95]] = times.map((each) => {
      const sorted = each.toSorted((a, b) => a - b);
      return [0.5, 0.95].map((at) => quantile(sorted, at));
    }) as [[number, number], [number, number]];
    const columns = [p50, p95, others50, others95].map((each, index) =>
      each.toFixed(2).padStart([13, 6, 16, 6][index]!),
    );
    console.log(
      `  ${`${credential} ${path}`.padEnd(24)}${columns.join("")}${(others50 / p50).toFixed(2).padStart(15)}`,
    );
  }
}
