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

/** What these requests answer if they begin together, and before `during` is committed. */
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
