import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { headerOf, partsOf, type ReceivedMail } from "../support/mail-server.ts";
import { NotifiedService, type Reached } from "../support/notified-service.ts";

// The events that people are notified of, and the time at which they are.

let notified: NotifiedService;

const patient = { timeout: 20_000 };

beforeAll(async () => {
  notified = await NotifiedService.start();
});
afterAll(() => notified?.[Symbol.asyncDispose]());
beforeEach(() => {
  notified.ntfy.status = 200;
  notified.mail.answer = () => 0;
});

const subjectsOf = (mails: ReceivedMail[]) => mails.map(({ raw }) => headerOf(raw, "subject"));

interface Asking {
  turnId: string;
  approvalId: string;
  /** Settles once the turn's stream has ended. */
  ended: Promise<unknown>;
}

/** A turn that waits for an approval. Its stream is read to its end. */
async function asking({ client }: Reached, agent: string): Promise<Asking> {
  const body = { message: "use execute rm -rf build", include: ["approvals"] };
  const response = await client.fetch("POST", `/agents/${agent}/chat`, body);
  const turnId = response.headers.get("x-turn-id")!;
  if (response.status !== 200) throw new Error(await response.text());
  const ended = response.text().catch(() => {});
  const open = async () => {
    const { status, body } = await client.call("GET", `/agents/${agent}/turns/${turnId}/approvals`);
    if (status !== 200) throw new Error(JSON.stringify(body));
    return body.data;
  };
  await expect.poll(async () => (await open()).length, patient).toBe(1);
  return { turnId, approvalId: (await open())[0].id, ended };
}

/** Allows what a turn asks for, and waits for its end, so that the agent takes the next message. */
async function answer({ client }: Reached, agent: string, { turnId, approvalId, ended }: Asking): Promise<void> {
  const path = `/agents/${agent}/turns/${turnId}/approvals/${approvalId}`;
  expect((await client.call("POST", path, { decision: "allow" })).status).toBe(200);
  await ended;
}

const asks = { permissions: { execute: "ask" } };

describe("a person who started a turn", () => {
  test("hears that it failed, and with `all` that it completed, with the reply", async () => {
    const person = await notified.newPerson();
    await person.client.createAgent("ada");
    await person.client.chat("ada", "hello");
    expect(await notified.waiting(person)).toEqual([]);
    const { turnId } = await person.client.chat("ada", "crash");
    const [failed] = await notified.arrive(person);
    expect(headerOf(failed!.raw, "subject")).toBe("ada: a turn failed");
    expect(partsOf(failed!.raw).text).toContain(`${notified.people.service.server.url}/-/agents/ada/turns/${turnId}`);
    await person.client.call("PUT", "/me/profile/agents/ada", { notify: "all" });
    const { text } = await person.client.chat("ada", "hello");
    const [completed] = await notified.arrive(person);
    expect(headerOf(completed!.raw, "subject")).toBe("ada completed a turn");
    expect(text).not.toBe("");
    expect(partsOf(completed!.raw).text).toContain(text);
    await person.client.call("PUT", "/me/profile/agents/ada", { notify: "none" });
    await person.client.chat("ada", "crash");
    expect(await notified.waiting(person)).toEqual([]);
  });

  test("hears of an approval that waits, and not of one that was answered before", async () => {
    const person = await notified.newPerson();
    await person.client.createAgent("ada", asks);
    const first = await asking(person, "ada");
    expect(await notified.waiting(person)).toEqual(["turn.waiting"]);
    expect(subjectsOf(await notified.arrive(person))).toEqual(["ada waits for an approval"]);
    await answer(person, "ada", first);
    const second = await asking(person, "ada");
    await answer(person, "ada", second);
    expect(await notified.waiting(person)).toEqual(["turn.waiting"]);
    expect(await notified.arrive(person)).toEqual([]);
  });

  test("hears that messages are held, unless they were released before", async () => {
    const person = await notified.newPerson();
    await person.client.createAgent("ada");
    const hold = async () => {
      const response = await person.client.fetch("POST", "/agents/ada/chat", { message: "hang" });
      const ended = response.text();
      const queued = await person.client.fetch("POST", "/agents/ada/chat", { message: "next", whenBusy: "queue" });
      void queued.text().catch(() => {});
      await person.client.call("POST", `/agents/ada/turns/${response.headers.get("x-turn-id")}/cancel`);
      await ended;
    };
    await hold();
    expect(subjectsOf(await notified.arrive(person))).toEqual(["ada holds its messages"]);
    await person.client.call("POST", "/agents/ada/queue", { action: "discard" });
    await hold();
    await person.client.call("POST", "/agents/ada/queue", { action: "discard" });
    expect(await notified.waiting(person)).toEqual(["turn.held"]);
    expect(await notified.arrive(person)).toEqual([]);
  });
});

describe("in a workspace", () => {
  test("others hear nothing of a turn, and with `all` of what waits", async () => {
    const { owner, others } = await notified.newTeam("member", "member");
    const [starter, watcher] = others as [Reached, Reached];
    await watcher.client.call("PATCH", "/me/profile", { notify: "all" });
    await owner.client.createAgent("ada", asks);
    await starter.client.chat("ada", "crash");
    await asking(starter, "ada");
    expect(await notified.waiting(starter)).toEqual(["turn.failed", "turn.waiting"]);
    expect(await notified.waiting(watcher)).toEqual(["turn.waiting"]);
    expect(await notified.waiting(owner)).toEqual([]);
    const [seen] = await notified.arrive(watcher);
    const workspace = (await owner.client.call("GET", "/me")).body.workspace;
    expect(partsOf(seen!.raw).text).toContain(`Workspace: ${workspace.name}`);
    expect(partsOf(seen!.raw).text).toContain(`?workspace=${workspace.id}`);
  });

  test("owners and admins hear of turns that nobody there is responsible for, and of credits and webhooks", async () => {
    const { owner, others } = await notified.newTeam("admin", "member", "member");
    const [admin, member, leaver] = others as [Reached, Reached, Reached];
    await owner.client.createAgent("ada", asks);
    const turn = await asking(leaver, "ada");
    expect(await notified.waiting(leaver)).toEqual(["turn.waiting"]);
    await leaver.client.call("DELETE", `/workspaces/${owner.client.workspace}/members/${leaver.id}`);
    expect(await notified.arrive(leaver)).toEqual([]);
    await answer(owner, "ada", turn);
    await sql`
      insert into account_events (account_id, event)
      select account_id, event from account_events
      where event ->> 'type' = 'approval.requested' and event ->> 'turnId' = ${turn.turnId}`.execute(notified.database);
    expect([await notified.waiting(owner), await notified.waiting(admin), await notified.waiting(member)]).toEqual([
      ["turn.waiting"],
      ["turn.waiting"],
      [],
    ]);
    const { id: account } = (await owner.client.call("GET", "/me")).body.workspace;
    await owner.client.call("PATCH", "/billing", { lowCredits: "99" });
    await notified.people.service.client.call("POST", "/admin/credits/grants", { account, credits: "-50" });
    const webhook = { url: notified.ntfy.url("/hook") };
    const { id } = (await owner.client.call("POST", "/webhooks", webhook)).body;
    await owner.client.call("PATCH", `/webhooks/${id}`, { disabled: true });
    await owner.client.call("PATCH", `/webhooks/${id}`, { disabled: false });
    await sql`
      update webhooks set disabled = true, disabled_reason = '{"code": "gone", "message": "It is gone."}'
      where id = ${id}`.execute(notified.database);
    expect([await notified.waiting(owner), await notified.waiting(admin), await notified.waiting(member)]).toEqual([
      ["turn.waiting", "credits.low", "webhook.disabled"],
      ["turn.waiting", "credits.low", "webhook.disabled"],
      [],
    ]);
    await admin.client.call("PATCH", "/me/profile", { notify: "none" });
    expect(await notified.arrive(admin)).toEqual([]);
    const [seen] = await notified.arrive(owner);
    expect(partsOf(seen!.raw).text).toMatch(/A webhook was disabled.*It is gone\./s);
  });

  test("nobody hears of another's private agent", async () => {
    const { owner, others } = await notified.newTeam("admin", "member");
    const [admin, maker] = others as [Reached, Reached];
    await owner.client.call("PATCH", "/me/profile", { notify: "all" });
    await admin.client.call("PATCH", "/me/profile", { notify: "all" });
    await maker.client.createAgent("shy", { private: true, ...asks });
    await asking(maker, "shy");
    expect([await notified.waiting(owner), await notified.waiting(admin), await notified.waiting(maker)]).toEqual([
      [],
      [],
      ["turn.waiting"],
    ]);
    await maker.client.createAgent("ada", asks);
    await asking(maker, "ada");
    expect(await notified.waiting(admin)).toEqual(["turn.waiting"]);
    await maker.client.call("PATCH", "/agents/ada", { private: true });
    expect(await notified.arrive(admin)).toEqual([]);
    expect(subjectsOf(await notified.arrive(maker)).toSorted()).toEqual([
      "ada waits for an approval",
      "shy waits for an approval",
    ]);
  });

  test("a person who lost the membership hears nothing", async () => {
    const { owner, others } = await notified.newTeam("member");
    const [member] = others as [Reached];
    await member.client.createAgent("ada");
    await member.client.chat("ada", "crash");
    expect(await notified.waiting(member)).toEqual(["turn.failed"]);
    await owner.client.call("DELETE", `/workspaces/${owner.client.workspace}/members/${member.id}`);
    expect(await notified.arrive(member)).toEqual([]);
  });
});

describe("an automation", () => {
  test("reports failed runs and its pause to its maker, and completed ones to those who want all", async () => {
    const { owner, others } = await notified.newTeam("member", "member");
    const [maker, reader] = others as [Reached, Reached];
    await owner.client.createAgent("ada");
    await reader.client.call("PUT", "/me/profile/agents/ada", { notify: "all" });
    const trigger = { type: "schedule", cron: "0 3 1 1 *", timeZone: "UTC" };
    const made = await maker.client.call("POST", "/automations", {
      name: "check",
      agent: "ada",
      message: "crash",
      trigger,
    });
    expect(made.status).toBe(201);
    const statuses = async () =>
      (await maker.client.call("GET", "/automations/check/runs")).body.data.map(
        (run: { status: string }) => run.status,
      );
    for (let runs = 1; runs <= 3; runs++) {
      await maker.client.call("POST", "/automations/check/run");
      await expect.poll(statuses, patient).toEqual(Array(runs).fill("failed"));
    }
    const failed = ["run.failed", "run.failed", "run.failed"];
    await expect
      .poll(async () => (await notified.waiting(maker)).toSorted(), patient)
      .toEqual(["automation.paused", ...failed]);
    expect((await notified.waiting(reader)).toSorted()).toEqual(["automation.paused", ...failed]);
    expect(await notified.waiting(owner)).toEqual([]);
    const [summary, ...rest] = await notified.arrive(maker);
    expect([headerOf(summary!.raw, "subject"), rest]).toEqual(["ada: 4 notifications", []]);
    expect(partsOf(summary!.raw).text).toContain("3 runs in a row failed.");
    await notified.arrive(reader);
    await maker.client.call("PATCH", "/automations/check", { message: "hello" });
    await maker.client.call("POST", "/automations/check/resume");
    await maker.client.call("POST", "/automations/check/run");
    await expect.poll(async () => (await statuses())[0], patient).toBe("completed");
    expect([await notified.waiting(maker), await notified.waiting(owner)]).toEqual([[], []]);
    const [report] = await notified.arrive(reader);
    expect(headerOf(report!.raw, "subject")).toBe("check completed");
    const { reply } = (await maker.client.call("GET", "/automations/check/runs")).body.data[0];
    expect(partsOf(report!.raw).text).toContain(reply);
  });
});

describe("several events", () => {
  test("of one agent are one notification, and many agents a summary", async () => {
    const person = await notified.newPerson();
    for (const name of ["ada", "bea", "cleo", "dora"]) await person.client.createAgent(name);
    await person.client.chat("ada", "crash");
    await person.client.chat("ada", "crash");
    await person.client.chat("bea", "crash");
    expect(subjectsOf(await notified.arrive(person)).toSorted()).toEqual([
      "ada: 2 notifications",
      "bea: a turn failed",
    ]);
    for (const name of ["ada", "bea", "cleo", "dora"]) await person.client.chat(name, "crash");
    expect(subjectsOf(await notified.arrive(person))).toEqual(["Berth: 4 notifications"]);
  });

  test("wait for a person without any channel not at all, and up to 200 for others", async () => {
    const person = await notified.newPerson({ emailNotifications: false });
    await person.client.createAgent("ada");
    await person.client.chat("ada", "crash");
    expect(await notified.waiting(person)).toEqual([]);
    await person.client.call("PATCH", "/me/profile", { emailNotifications: true });
    await person.client.chat("ada", "crash");
    for (let copies = 0; copies < 8; copies++) {
      await sql`
        insert into account_events (account_id, event)
        select account_id, event from account_events where event ->> 'status' = 'failed'
          and account_id = (select account_id from people where id = ${person.id})`.execute(notified.database);
    }
    const { length } = await notified.waiting(person);
    expect(length).toBe(200);
    expect(subjectsOf(await notified.arrive(person))).toEqual(["ada: 200 notifications"]);
  });
});

describe("in quiet hours", () => {
  test("notifications wait, and then are one summary", async () => {
    const person = await notified.newPerson();
    for (const name of ["ada", "bea"]) await person.client.createAgent(name);
    const { rows } = await sql<{ from: string; to: string }>`
      select to_char(now() at time zone 'Asia/Kathmandu' - interval '1 hour', 'HH24:MI') as from,
        to_char(now() at time zone 'Asia/Kathmandu' + interval '1 hour', 'HH24:MI') as to`.execute(notified.database);
    await person.client.call("PATCH", "/me/profile", { quietHours: rows[0], timeZone: "Asia/Kathmandu" });
    await person.client.chat("ada", "crash");
    await person.client.chat("bea", "crash");
    await notified.due(person);
    const heldUntil = async () => {
      const held = await sql<{ until: string }>`
        select distinct to_char(due_at at time zone 'Asia/Kathmandu', 'HH24:MI') as until
        from notifications where person_id = ${person.id} and held`.execute(notified.database);
      return held.rows.map(({ until }) => until);
    };
    await expect.poll(heldUntil, patient).toEqual([rows[0]!.to]);
    expect(notified.mail.to(person.email)).toEqual([]);
    // The end of the quiet hours: they are looked at again.
    await person.client.call("PATCH", "/me/profile", { quietHours: null });
    await notified.settled(person);
    expect(subjectsOf(notified.mail.to(person.email))).toEqual(["Berth: 2 notifications"]);
  });

  test("what could not be sent before waits, too", async () => {
    const person = await notified.newPerson();
    await person.client.createAgent("ada");
    notified.mail.answer = () => 451;
    await person.client.chat("ada", "crash");
    await notified.due(person);
    const sends = async () => {
      const found = await sql<{ attempts: number; later: boolean }>`
        select attempts, next_try_at > now() + interval '30 minutes' as later from notification_sends
        where person_id = ${person.id} and next_try_at - created_at < interval '110 seconds'
          or person_id = ${person.id} and next_try_at > now() + interval '30 minutes'`.execute(notified.database);
      return found.rows;
    };
    await expect.poll(sends, patient).toEqual([{ attempts: 1, later: false }]);
    notified.mail.answer = () => 0;
    const { rows } = await sql<{ from: string; to: string }>`
      select to_char(now() at time zone 'UTC' - interval '1 hour', 'HH24:MI') as from,
        to_char(now() at time zone 'UTC' + interval '1 hour', 'HH24:MI') as to`.execute(notified.database);
    await person.client.call("PATCH", "/me/profile", { quietHours: rows[0] });
    const retry = () =>
      sql`update notification_sends set next_try_at = now() where person_id = ${person.id}`.execute(notified.database);
    await retry();
    await expect.poll(sends, patient).toEqual([{ attempts: 1, later: true }]);
    expect(notified.mail.to(person.email)).toEqual([]);
    await person.client.call("PATCH", "/me/profile", { quietHours: null });
    await retry();
    await notified.settled(person);
    expect(notified.mail.to(person.email)).toHaveLength(1);
  });
});
