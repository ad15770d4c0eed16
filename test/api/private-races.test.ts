import { type ControlledTransaction, sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../src/core/database/database.ts";
import type { Tables } from "../../src/core/database/tables.ts";
import { databaseOf } from "../support/accounts.ts";
import type { TestClient } from "../support/client.ts";
import { inside, PeoplesService } from "../support/people.ts";

// Requests that meet while an agent becomes private. A transaction of the test holds the rows until all wait for it.

let people: PeoplesService;
let database: Database;
let mia: TestClient;
let max: TestClient;

beforeAll(async () => {
  people = await PeoplesService.start();
  database = await databaseOf(people.service);
  const alone = await people.person();
  const workspace = await people.newWorkspace(alone);
  const owner = inside(alone, workspace);
  [mia, max] = [await people.join(owner, workspace, "member"), await people.join(owner, workspace, "member")];
});
afterAll(async () => {
  await database.destroy();
  await people[Symbol.asyncDispose]();
});

/** The number of requests that wait for a lock to share an agent's port, or to change an agent. */
async function waiting(): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int from pg_stat_activity
    where wait_event_type = 'Lock' and query ~ '"?private"?|for update'`.execute(database);
  return rows[0]!.count;
}

/** Returns the answers of requests that begin together, and before `during` is committed. */
async function together(
  during: (transaction: ControlledTransaction<Tables>) => Promise<unknown>,
  requests: readonly (() => ReturnType<TestClient["call"]>)[],
) {
  const transaction = await database.startTransaction().execute();
  await during(transaction);
  let answered = 0;
  const answers = requests.map((request) => request().finally(() => answered++));
  await expect.poll(async () => answered + (await waiting())).toBe(requests.length);
  await transaction.commit().execute();
  return Promise.all(answers);
}

const privateOf = async (client: TestClient, name: string) => {
  const { private: isPrivate, agents } = (await client.call("GET", `/agents/${name}`)).body;
  return { isPrivate, agents };
};

test("an agent that becomes private gets no share of another person", async () => {
  await mia.createAgent("shared");
  const hide = (transaction: Database) =>
    transaction.updateTable("agents").set({ private: true }).where("name", "=", "shared").execute();
  const share = (client: TestClient) => () => client.call("POST", "/agents/shared/ports/3000/share", { public: true });
  const [others, own] = await together(hide, [share(max), share(mia)]);
  expect(others!.body).toMatchObject({ code: "agent_not_found", message: "There is no agent shared." });
  expect(own!.status).toBe(201);
  expect((await mia.call("GET", "/agents/shared/shares")).body.data).toMatchObject([{ id: own!.body.id }]);
});

test.each([
  ["settings", {}],
  ["runtimes", { runtime: "opencode" }],
])("agents that may call each other become private together, with their %s", async (what, changes) => {
  const [first, second] = [`first-${what}`, `second-${what}`];
  await mia.createAgent(first);
  await max.createAgent(second, { agents: [first] });
  await mia.call("PATCH", `/agents/${first}`, { agents: [second] });
  const lock = (transaction: Database) =>
    transaction.selectFrom("agents").select("id").where("name", "in", [first, second]).forNoKeyUpdate().execute();
  const hide = (client: TestClient, name: string) => () =>
    client.call("PATCH", `/agents/${name}`, { private: true, ...changes });
  const answers = await together(lock, [hide(mia, first), hide(max, second)]);
  expect(answers.map(({ body }) => body.code ?? body.private)).toEqual([true, true]);
  expect(await privateOf(mia, first)).toEqual({ isPrivate: true, agents: [] });
  expect(await privateOf(max, second)).toEqual({ isPrivate: true, agents: [] });
});
