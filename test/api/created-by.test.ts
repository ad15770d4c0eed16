import { afterAll, beforeAll, expect, test } from "vitest";
import { TestClient } from "../support/client.ts";
import { authorOf, inside, PeoplesService } from "../support/people.ts";

// The authors of what happens in a workspace: people, keys, and agents that ask others.

let people: PeoplesService;
/** The owner and a member of one workspace, and the member's key. */
let ada: TestClient;
let bob: TestClient;
let key: TestClient;
let byAda: object;
let byBob: object;
let byKey: object;

beforeAll(async () => {
  people = await PeoplesService.start();
  const owner = await people.person({ name: "Ada Lövelace" });
  const workspace = await people.newWorkspace(owner);
  ada = inside(owner, workspace);
  bob = await people.join(owner, workspace, "member", { name: "Bob 東京" });
  const { body } = await bob.call("POST", "/keys", { name: "laptop" });
  key = new TestClient(ada.url, body.key);
  [byAda, byBob] = [await authorOf(ada, "Ada Lövelace"), await authorOf(bob, "Bob 東京")];
  byKey = { kind: "key", id: body.id, name: "laptop", person: "Bob 東京" };
  await ada.createAgent("ada");
  await ada.createAgent("other");
});
afterAll(() => people[Symbol.asyncDispose]());

/** The authors of what each of the three makes. */
async function seen(make: (client: TestClient) => Promise<unknown>, read: () => Promise<{ createdBy: object }>) {
  const authors: object[] = [];
  for (const client of [ada, bob, key]) {
    await make(client);
    authors.push((await read()).createdBy);
  }
  return authors;
}

const all = () => [byAda, byBob, byKey];
const first = async (path: string) => (await ada.call("GET", path)).body.data[0];
const last = async (path: string) => (await ada.call("GET", path)).body.data.at(-1);

test("a turn says who asked, in the agent's list, alone and in the list of all agents", async () => {
  const send = (client: TestClient) => client.ask("ada", "hello");
  expect(await seen(send, () => first("/agents/ada/turns"))).toEqual(all());
  expect(await seen(send, () => first("/turns"))).toEqual(all());
  const { id } = await first("/agents/ada/turns");
  expect((await ada.call("GET", `/agents/ada/turns/${id}`)).body.createdBy).toEqual(byKey);
});

test("a turn that an agent started is the agent's, for the person who asked that agent", async () => {
  await ada.call("PATCH", "/agents/other", { agents: ["ada"] });
  expect(await bob.ask("other", "consult ada hello")).toBe("hello");
  expect((await first("/agents/ada/turns")).createdBy).toEqual({
    kind: "automation",
    id: expect.any(String),
    name: "other",
    person: "Bob 東京",
  });
});

test("a command says who started it, whatever its machine says", async () => {
  const run = (client: TestClient) => client.call("POST", "/agents/ada/commands", { command: "true", detach: true });
  expect(await seen(run, () => first("/agents/ada/commands"))).toEqual(all());
  const { body } = await run(bob);
  expect(body.createdBy).toEqual(byBob);
  expect((await ada.call("GET", `/agents/ada/commands/${body.id}`)).body.createdBy).toEqual(byBob);
});

test("a retry by the same person leaves a command's author as it was", async () => {
  const headers = { "idempotency-key": "once" };
  const run = () => bob.call("POST", "/agents/ada/commands", { command: "true", detach: true }, headers);
  const [one, two] = [await run(), await run()];
  expect(two.body).toEqual(one.body);
  expect(one.body.createdBy).toEqual(byBob);
});

test("settings say who set them last: secrets, network rules, shares and snapshots", async () => {
  const secret = { value: "s3cret", hosts: ["api.example.com"] };
  const rules = { allow: ["*"], deny: ["example.com"] };
  expect((await ada.call("GET", "/agents/ada/network")).body.createdBy).toBeNull();
  expect(
    await seen(
      (client) => client.call("PUT", "/agents/ada/secrets/TOKEN", secret),
      () => first("/agents/ada/secrets"),
    ),
  ).toEqual(all());
  expect(
    await seen(
      (client) => client.call("PUT", "/agents/ada/network", rules),
      async () => (await ada.call("GET", "/agents/ada/network")).body,
    ),
  ).toEqual(all());
  expect(
    await seen(
      (client) => client.call("POST", "/agents/ada/ports/3000/share", { public: true }),
      () => last("/agents/ada/shares"),
    ),
  ).toEqual(all());
  expect(
    await seen(
      (client) => client.call("POST", "/agents/ada/snapshots", {}),
      () => last("/agents/ada/snapshots"),
    ),
  ).toEqual(all());
});

test("a snapshot before a rollback is of whoever rolls back, and one before a turn has no author", async () => {
  const { id } = await last("/agents/ada/snapshots");
  expect((await bob.call("POST", "/agents/ada/rollback?wait=ready", { snapshot: id })).status).toBe(200);
  expect(await last("/agents/ada/snapshots")).toMatchObject({ reason: "rollback", createdBy: byBob });
  await ada.call("PATCH", "/agents/ada", { autoSnapshot: 1 });
  await bob.ask("ada", "hello");
  expect(await last("/agents/ada/snapshots")).toMatchObject({ reason: "turn", createdBy: null });
});

test("a copy by a fork has no author", async () => {
  expect((await bob.call("POST", "/agents", { name: "copy", from: { agent: "ada", secrets: true } })).status).toBe(201);
  expect(await first("/agents/copy/secrets")).toMatchObject({ name: "TOKEN", createdBy: null });
  expect((await ada.call("GET", "/agents/copy/network")).body).toMatchObject({
    deny: ["example.com"],
    createdBy: null,
  });
});

test("the audit log says who did it, also what was refused", async () => {
  const rename = (client: TestClient) => client.call("PATCH", "/agents/ada", { instructions: "Be brief." });
  expect(await seen(rename, () => first("/audit"))).toEqual(all());
  expect((await bob.call("POST", "/admin/credits/grants", {})).status).toBe(403);
  expect(await first("/audit")).toMatchObject({ status: 403, createdBy: byBob });
  const found = async (text: string) =>
    (await ada.call("GET", `/audit?search=${encodeURIComponent(text)}`)).body.data.map(
      ({ createdBy }: { createdBy: object }) => createdBy,
    );
  expect(new Set((await found("LAPTOP")).map((each: object) => JSON.stringify(each)))).toEqual(
    new Set([JSON.stringify(byKey)]),
  );
  expect(await found("東京")).toContainEqual(byBob);
  expect(await found("東京")).not.toContainEqual(byAda);
});

test("the holder of an external agent key learns no names", async () => {
  const { body } = await ada.call("POST", "/keys", { name: "customer", kind: "agent", agents: ["ada"] });
  const customer = new TestClient(ada.url, body.key);
  const { turnId } = await customer.chat("ada", "hello");
  expect((await customer.call("GET", `/agents/ada/turns/${turnId}`)).body.createdBy).toBeNull();
  expect((await first("/agents/ada/turns")).createdBy).toMatchObject({ kind: "key", name: "customer" });
});

test("a revoked key keeps its name in what it did, and a removed person theirs", async () => {
  const { body: made } = await bob.call("POST", "/keys", {});
  await bob.ask("ada", "hello");
  await new TestClient(ada.url, made.key).ask("ada", "hello");
  const workspace = (await ada.call("GET", "/me")).body.workspace.id;
  const { id } = (await bob.call("GET", "/me")).body.person;
  expect((await ada.call("DELETE", `/workspaces/${workspace}/members/${id}`)).status).toBe(204);
  const { data } = (await ada.call("GET", "/agents/ada/turns")).body;
  expect(data[0].createdBy).toEqual({ kind: "key", id: made.id, name: null, person: "Bob 東京" });
  expect(data[1].createdBy).toEqual(byBob);
});
