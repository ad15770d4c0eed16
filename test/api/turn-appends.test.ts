import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { noUsage } from "../../src/billing/usage.ts";
import type { SequencedEvent } from "../../src/contract/chat.ts";
import { type Database, migrate, openDatabase } from "../../src/core/database/database.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/core/database/embedded.ts";
import { TurnAppends } from "../../src/turns/append-store.ts";
import { TurnStore } from "../../src/turns/store.ts";
import { newFolder } from "../support/config.ts";

// Events of many turns that are handed over at once, over a real PostgreSQL.

let folder: string;
let postgres: EmbeddedPostgres;
let database: Database;

beforeAll(async () => {
  folder = await newFolder();
  postgres = await startEmbeddedPostgres(folder);
  database = openDatabase(postgres.config, () => {});
  await migrate(database);
});
afterAll(async () => {
  await database.destroy();
  await postgres.stop();
  await rm(folder, { recursive: true });
});

/** A running turn of an agent of its own, which has its first event. */
async function newTurn(): Promise<{ id: string; agentId: string }> {
  const [id, agentId, accountId] = [randomUUID(), randomUUID(), randomUUID()];
  await database.insertInto("accounts").values({ id: accountId, name: "somebody" }).execute();
  await database
    .insertInto("agents")
    .values({
      id: agentId,
      account_id: accountId,
      name: "ada",
      runtime: "claude-code",
      model: null,
      instructions: null,
      resources: "{}",
      install_steps: "[]",
      status: "ready",
      desired: "running",
    })
    .execute();
  const turn = {
    id,
    agentId,
    keyId: null,
    personId: null,
    conversation: 1,
    attachments: [],
    namesConversation: false,
    message: "Hello",
    model: null,
    usage: noUsage,
    instructions: null,
    effort: null,
    functions: null,
    onAsk: "deny" as const,
    limits: null,
    outputSchema: null,
    waiting: false,
    queuedAt: null,
    asked: null,
  };
  const first = { seq: 1, event: { type: "response.created" } } as const;
  await new TurnStore(database, "here").insert(
    { ...turn, status: "running" },
    { conversation: 1, runtime: "claude-code", restores: 0 },
    first,
    "reject",
  );
  return { id, agentId };
}

function said(seq: number, delta: string): SequencedEvent {
  return { seq, event: { type: "response.output_text.delta", delta } };
}

async function stored({ id, agentId }: { id: string; agentId: string }) {
  const store = new TurnStore(database, "here");
  return { events: await store.events(id, 1), turn: await store.find(agentId, id) };
}

test("each turn's events, status and usage are its own", async () => {
  const appends = new TurnAppends(database);
  const [one, other] = [await newTurn(), await newTurn()];
  const usage = { ...noUsage, input: 5, microCredits: null };
  const end: SequencedEvent = { seq: 3, event: { type: "response.completed" } };
  await Promise.all([
    appends.add({ id: one.id, events: [said(2, "one")], usage: null }),
    new TurnStore(database, "here").end(other.id, {
      events: [said(2, "other"), end],
      status: "completed",
      usage,
      diffs: null,
      holdsQueue: true,
    }),
  ]);
  expect(await stored(one)).toMatchObject({ events: [said(2, "one")], turn: { status: "running", usage: noUsage } });
  expect(await stored(other)).toMatchObject({ events: [said(2, "other"), end], turn: { status: "completed", usage } });
});

test("stored events stay unchanged; a deleted turn stores nothing", async () => {
  const appends = new TurnAppends(database);
  const turn = await newTurn();
  await appends.add({ id: turn.id, events: [said(2, "first")], usage: null });
  await Promise.all([
    appends.add({ id: turn.id, events: [said(2, "second"), said(3, "third")], usage: null }),
    appends.add({ id: randomUUID(), events: [said(2, "nobody's")], usage: null }),
  ]);
  expect((await stored(turn)).events).toEqual([said(2, "first"), said(3, "third")]);
});

test("a turn that the database rejects fails no other", async () => {
  const appends = new TurnAppends(database);
  const [good, bad] = [await newTurn(), await newTurn()];
  const [first, second] = await Promise.allSettled([
    appends.add({ id: good.id, events: [said(2, "good")], usage: null }),
    appends.add({ id: bad.id, events: [said(2, "\0")], usage: null }),
  ]);
  expect([first!.status, second!.status]).toEqual(["fulfilled", "rejected"]);
  expect((await stored(good)).events).toEqual([said(2, "good")]);
  expect((await stored(bad)).events).toEqual([]);
});

test("events too large for one statement are stored in several", async () => {
  const appends = new TurnAppends(database);
  const turns = [await newTurn(), await newTurn(), await newTurn()];
  const large = said(2, "x".repeat(600 * 1024));
  await Promise.all(turns.map(({ id }) => appends.add({ id: id, events: [large], usage: null })));
  for (const turn of turns) expect((await stored(turn)).events).toEqual([large]);
});
