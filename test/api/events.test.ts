import { once } from "node:events";
import { request } from "node:http";
import { join } from "node:path";
import { Berth } from "@berth/client";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AccountEvent } from "../../src/contract/account-events.ts";
import type { Fault } from "../../src/contract/agents.ts";
import type { Database } from "../../src/core/database/database.ts";
import { startEmbeddedPostgres } from "../../src/core/database/embedded.ts";
import { AccountEventStore } from "../../src/events/store.ts";
import { cleanUp } from "../../src/upkeep/clean-up-store.ts";
import { databaseOf, newAccount, newKey } from "../support/accounts.ts";
import { TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { TcpRelay } from "../support/tcp-relay.ts";

// The stream of what happens in an account.

let service: ScriptedService;
let database: Database;
beforeAll(async () => {
  service = await ScriptedService.start();
  database = await databaseOf(service);
});
afterAll(async () => {
  await database.destroy();
  await service[Symbol.asyncDispose]();
});

/** An open stream of events. Disposing it hangs up. */
class Stream implements Disposable {
  /** The received events, except for the balance. */
  readonly seen: AccountEvent[] = [];
  readonly balances: string[] = [];
  readonly #hangUp = new AbortController();
  readonly #reading: Promise<void>;

  private constructor(response: Response, hangUp: AbortController) {
    this.#hangUp = hangUp;
    this.#reading = this.#read(response).catch(() => {});
  }

  /** `cursor`: a query such as `?after=5`, or the value of the header. */
  static async open(client: TestClient, cursor: string | { lastEventId: string } = ""): Promise<Stream> {
    const hangUp = new AbortController();
    const response = await fetch(`${client.url}/events${typeof cursor === "string" ? cursor : ""}`, {
      headers: {
        authorization: `Bearer ${client.key}`,
        ...(typeof cursor === "string" ? {} : { "last-event-id": cursor.lastEventId }),
      },
      signal: hangUp.signal,
    });
    expect(response.status).toBe(200);
    return new Stream(response, hangUp);
  }

  async #read(response: Response): Promise<void> {
    const messages = response.body!.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
    for await (const { id, data } of messages) {
      const event = AccountEvent.parse(JSON.parse(data));
      if (event.type === "credits.changed") this.balances.push(event.balance);
      else {
        expect(id).toBe(String(event.id));
        this.seen.push(event);
      }
    }
  }

  /** Resolves when an event of this type has come, and with all up to it. */
  async until(type: AccountEvent["type"], about: Record<string, unknown> = {}): Promise<AccountEvent[]> {
    const wanted = expect.objectContaining({ type, ...about });
    await expect.poll(() => this.seen).toContainEqual(wanted);
    return this.seen;
  }

  /** Resolves when the service has ended the stream. */
  ended(): Promise<void> {
    return this.#reading;
  }

  [Symbol.dispose](): void {
    this.#hangUp.abort();
  }
}

async function opened(client: TestClient): Promise<Stream> {
  const stream = await Stream.open(client);
  await stream.until("events.opened");
  return stream;
}

/** Writes events as the triggers do, each with a number of its own. */
async function write(on: Database, account: string, from: number, to: number): Promise<void> {
  await sql`
    select add_account_event(${account}::uuid, jsonb_build_object('type', 'agent.deleted', 'agent', n::text))
    from generate_series(${from}::integer, ${to}::integer) n`.execute(on);
}

async function accountOf(client: TestClient): Promise<string> {
  return (await client.call("GET", "/account")).body.id;
}

function agentsIn(events: readonly AccountEvent[]): string[] {
  return events.flatMap((event) => ("agent" in event ? [event.agent] : []));
}

test("every change is sent in order, with a failed turn's reason", async () => {
  const { client } = service;
  using stream = await opened(client);
  await client.createAgent("ada");
  const { turnId } = await client.chat("ada", `hello ${"ü".repeat(300)}`);
  await client.call("PATCH", "/agents/ada", { instructions: "Be brief." });
  const failed = await client.chat("ada", "crash");
  const { body: key } = await client.call("POST", "/keys", { name: "a key" });
  await client.call("DELETE", `/keys/${key.id}`);
  await client.call("POST", "/agents/ada/suspend");
  await client.call("DELETE", "/agents/ada");
  const seen = await stream.until("agent.deleted", { agent: "ada" });
  const changes = seen.map((event) => ("status" in event ? `${event.type} ${event.status}` : event.type));
  expect(changes.slice(0, 2)).toEqual(["events.opened", "agent.created provisioning"]);
  expect(changes).toContain("agent.changed ready");
  expect(changes).toContain("agent.changed suspended");
  expect(changes).toContain("agent.changed deleting");
  const ofTurn = (id: string) => seen.filter((event) => "turnId" in event && event.turnId === id);
  expect(ofTurn(turnId)).toMatchObject([
    { type: "turn.started", agent: "ada", message: `hello ${"ü".repeat(194)}` },
    { type: "turn.ended", agent: "ada", status: "completed", error: null },
  ]);
  expect(ofTurn(failed.turnId)).toMatchObject([
    { type: "turn.started", message: "crash" },
    { type: "turn.ended", status: "failed", error: (failed.events.at(-1)!.event as { error: Fault }).error },
  ]);
  const ofKey = { keyId: key.id, name: "a key", kind: "full" };
  expect(seen).toContainEqual(expect.objectContaining({ type: "key.created", ...ofKey }));
  expect(seen).toContainEqual(expect.objectContaining({ type: "key.revoked", ...ofKey }));
  expect(seen.map(({ id }) => id)).toEqual(seen.map(({ id }) => id).sort((a, b) => a - b));
  expect(new Set(seen.slice(1).map(({ id }) => id)).size).toBe(seen.length - 1);
});

test("a refused connection is sent; a turn's own events are not", async () => {
  const { client } = service;
  await client.createAgent("refused");
  using stream = await opened(client);
  await client.chat("refused", "count 50");
  const asked = request(service.driver.proxyOf(service.driver.running.at(-1)!), {
    method: "CONNECT",
    path: "127.0.0.1:9",
  });
  asked.end();
  const [response] = await once(asked, "connect");
  response.resume();
  await stream.until("host.refused", { agent: "refused", host: "127.0.0.1", port: 9, reason: "inside", count: 1 });
  expect(stream.seen.map(({ type }) => type)).toEqual([
    "events.opened",
    "turn.started",
    "conversation.changed",
    "turn.ended",
    "host.refused",
  ]);
});

test("the balance is sent at the start and after each change", async () => {
  const client = await newAccount(service);
  using stream = await opened(client);
  await expect.poll(() => stream.balances).toEqual(["1000"]);
  const account = await accountOf(client);
  await service.client.call("POST", "/admin/credits/grants", { account, credits: "5" });
  await expect.poll(() => stream.balances).toEqual(["1000", "1005"]);
});

test("another account's events are not sent", async () => {
  const [one, other] = [await newAccount(service), await newAccount(service)];
  using stream = await opened(one);
  using theirs = await opened(other);
  await other.call("POST", "/keys", { name: "theirs" });
  await one.call("POST", "/keys", { name: "own" });
  await stream.until("key.created");
  await theirs.until("key.created");
  expect(stream.seen).toMatchObject([{ type: "events.opened" }, { name: "own" }]);
  expect(theirs.seen).toMatchObject([{ type: "events.opened" }, { name: "theirs" }]);
});

test("a stream resumes from any event, by query or header", async () => {
  const client = await newAccount(service);
  using stream = await opened(client);
  for (const name of ["a", "b", "c"]) await client.call("POST", "/keys", { name });
  const [, ...whole] = await stream.until("key.created", { name: "c" });
  for (const [index, { id }] of whole.entries()) {
    for (const cursor of [`?after=${id}`, { lastEventId: String(id) }]) {
      using again = await Stream.open(client, cursor);
      await expect.poll(() => again.seen).toEqual(whole.slice(index + 1));
    }
  }
});

test("a client sees each event once, over lost connections and a new server", async () => {
  const client = await newAccount(service);
  const account = await accountOf(client);
  const port = () => Number(new URL(service.server.url).port);
  using relay = await TcpRelay.start(port());
  const done = new AbortController();
  const seen: AccountEvent[] = [];
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const read = async () => {
    for await (const event of new Berth({ url: relay.url, key: client.key }).events({ signal: done.signal })) {
      if (event.type === "events.opened") begin();
      else if (event.type !== "credits.changed") seen.push(event);
    }
  };
  const reading = read().catch(() => {});
  await begun;
  for (let n = 1; n <= 20; n++) {
    await write(database, account, n, n);
    if (n === 5 || n === 15) relay.cut();
    if (n === 10) await service.restart();
    relay.target = port();
  }
  const expected = Array.from({ length: 20 }, (_, n) => String(n + 1));
  await expect.poll(() => agentsIn(seen)).toEqual(expected);
  done.abort();
  await reading;
});

test("an event of a transaction that ends later is not missed", async () => {
  const client = await newAccount(service);
  const account = await accountOf(client);
  using stream = await opened(client);
  await database.transaction().execute(async (slow) => {
    // It writes first, and is committed last.
    await write(slow, account, 1, 1);
    await write(database, account, 2, 2);
    await stream.until("agent.deleted", { agent: "2" });
    expect(agentsIn(stream.seen)).toEqual(["2"]);
  });
  await stream.until("agent.deleted", { agent: "1" });
  await write(database, account, 3, 3);
  await stream.until("agent.deleted", { agent: "3" });
  expect(agentsIn(stream.seen)).toEqual(["2", "1", "3"]);
  using again = await Stream.open(client, `?after=${stream.seen[0]!.id}`);
  await expect.poll(() => again.seen).toEqual(stream.seen.slice(1));
});

test("readers agree on the order of what many transactions write at once", async () => {
  const client = await newAccount(service);
  const account = await accountOf(client);
  using one = await opened(client);
  using other = await opened(client);
  const writer = async (_: unknown, n: number) => {
    for (let i = 0; i < 20; i++) await write(database, account, n * 100 + i, n * 100 + i);
  };
  await Promise.all(Array.from({ length: 5 }, writer));
  await expect.poll(() => one.seen.length).toBe(101);
  await expect.poll(() => other.seen.slice(1)).toEqual(one.seen.slice(1));
  const seen = agentsIn(one.seen).map(Number);
  for (let n = 0; n < 5; n++)
    expect(seen.filter((each) => Math.floor(each / 100) === n)).toEqual(
      Array.from({ length: 20 }, (_, i) => n * 100 + i),
    );
});

test("a stream resumes at another server with the first one's events", async () => {
  const { user, password, host } = (await startEmbeddedPostgres(join(service.config.dataFolder, "postgres"))).config;
  const databaseUrl = `postgres://${user}:${password}@localhost/postgres?host=${encodeURIComponent(String(host))}`;
  await using second = await ScriptedService.start({ databaseUrl });
  const client = await newAccount(service);
  const there = new TestClient(second.server.url, client.key);
  using stream = await opened(client);
  using live = await opened(there);
  await client.createAgent("ada");
  await there.createAgent("bob");
  const [first, ...rest] = await stream.until("agent.changed", { agent: "bob", status: "ready" });
  await live.until("agent.changed", { agent: "bob", status: "ready" });
  expect(live.seen.slice(1)).toEqual(rest);
  using again = await Stream.open(there, { lastEventId: String(first!.id) });
  await expect.poll(() => again.seen).toEqual(rest);
});

test("rolled back changes are not sent", async () => {
  const client = await newAccount(service);
  const account = await accountOf(client);
  using stream = await opened(client);
  const rolledBack = database.transaction().execute(async (transaction) => {
    await write(transaction, account, 1, 1);
    throw new Error("no");
  });
  await expect(rolledBack).rejects.toThrow("no");
  await write(database, account, 2, 2);
  await stream.until("agent.deleted");
  expect(agentsIn(stream.seen)).toEqual(["2"]);
});

test("ten thousand events are read in order", async () => {
  const client = await newAccount(service);
  using stream = await opened(client);
  const { id } = stream.seen[0]!;
  await write(database, await accountOf(client), 1, 10_500);
  using late = await Stream.open(client, `?after=${id}`);
  for (const each of [stream, late]) {
    await expect.poll(() => each.seen.length).toBeGreaterThanOrEqual(10_500);
    expect(agentsIn(each.seen)).toEqual(Array.from({ length: 10_500 }, (_, n) => String(n + 1)));
  }
  // However many there are, a reader holds one page.
  const { events } = await new AccountEventStore(database).page(
    { accountId: await accountOf(client), personId: null, role: "owner" },
    id,
  );
  expect(events).toHaveLength(500);
});

test("a reader of expired events gets an error and continues from now", async () => {
  const client = await newAccount(service);
  const other = await newAccount(service);
  const account = await accountOf(client);
  using stream = await opened(client);
  await write(database, account, 1, 3);
  await stream.until("agent.deleted", { agent: "3" });
  const [first, one, two, three] = stream.seen;
  const old = sql`update account_events set at = now() - interval '7 days 1 minute' where number = ${two!.id}`;
  await old.execute(database);
  await cleanUp(database, service.config, expect.unreachable);
  const [before, atEnd] = [
    await Stream.open(client, `?after=${one!.id}`),
    await Stream.open(client, `?after=${two!.id}`),
  ];
  using foreign = await Stream.open(other, `?after=${first!.id}`);
  await before.until("events.dropped");
  await atEnd.until("agent.deleted", { agent: "3" });
  expect(atEnd.seen).toEqual([three]);
  await write(database, account, 4, 4);
  await write(database, await accountOf(other), 5, 5);
  for (const each of [before, atEnd]) await each.until("agent.deleted", { agent: "4" });
  await foreign.until("agent.deleted", { agent: "5" });
  expect(before.seen).toMatchObject([{ type: "events.dropped" }, { agent: "4" }]);
  // Nothing of the other account was removed.
  expect(foreign.seen).toHaveLength(1);
  for (const each of [before, atEnd]) each[Symbol.dispose]();
});

test.each([
  ["?after=abc", "after: after is the id of an event"],
  ["?after=-1", "after: "],
  ["?after=1.5", "after: "],
  ["?after=999999999999", "after: no event has had the id 999999999999 yet"],
])("%s is refused with what is wrong", async (query, told) => {
  const { status, body } = await service.client.call("GET", `/events${query}`);
  expect([status, body.code, body.message]).toEqual([400, "request_invalid", expect.stringContaining(told)]);
});

test("the stream ends when its key is revoked", async () => {
  const { body } = await service.client.call("POST", "/keys", {});
  using stream = await opened(new TestClient(service.client.url, body.key));
  await service.client.call("DELETE", `/keys/${body.id}`);
  await stream.ended();
});

test("an agent's key may not follow the account", async () => {
  await service.client.createAgent("keyed");
  const key = await newKey(service.client, { kind: "agent", agents: ["keyed"] });
  expect((await key.call("GET", "/events")).body).toMatchObject({ statusCode: 403, code: "forbidden" });
});

test("a database that goes away and comes back ends no stream", async ({ skip }) => {
  skip(service.config.databaseUrl !== null, "the database is not the server's own");
  const client = await newAccount(service);
  using stream = await opened(client);
  await (await startEmbeddedPostgres(join(service.config.dataFolder, "postgres"))).stop();
  await expect.poll(async () => (await client.call("POST", "/keys", { name: "after" })).status).toBe(201);
  await stream.until("key.created", { name: "after" });
  expect(stream.seen).toHaveLength(2);
});
