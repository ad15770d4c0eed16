import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Database } from "../../src/core/database/database.ts";
import { databaseOf } from "../support/accounts.ts";
import type { TestClient } from "../support/client.ts";
import { headerOf, MailServer, partsOf, type ReceivedMail } from "../support/mail-server.ts";
import { NtfyServer } from "../support/ntfy-server.ts";
import { inside, PeoplesService } from "../support/people.ts";

// Notifications of people, by a mail server and an ntfy server that speak the real protocols.

let mail: MailServer;
let ntfy: NtfyServer;
let people: PeoplesService;
let database: Database;

const patient = { timeout: 20_000 };

beforeAll(async () => {
  mail = await MailServer.start();
  ntfy = await NtfyServer.start();
  people = await PeoplesService.start({ mail: mail.config(), webhooksInside: [ntfy.authorityText] });
  database = await databaseOf(people.service);
});
afterAll(async () => {
  await database?.destroy();
  await people?.[Symbol.asyncDispose]();
  ntfy?.[Symbol.dispose]();
  await mail?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  ntfy.status = 200;
  mail.answer = () => 0;
});

let count = 0;

/** A person with a verified address. */
interface Reached {
  client: TestClient;
  id: string;
  email: string;
}

async function reached(client: TestClient, email: string): Promise<Reached> {
  return { client, email, id: (await client.call("GET", "/me")).body.person.id };
}

const newClaims = () => ({ email: `reader-${count++}@example.com`, email_verified: true });

async function newPerson(profile: object = {}): Promise<Reached> {
  const claims = newClaims();
  const person = await reached(await people.person(claims), claims.email);
  if (Object.keys(profile).length > 0) await person.client.call("PATCH", "/me/profile", profile);
  return person;
}

/** A workspace with an owner and people of other roles. */
async function newTeam(...roles: string[]): Promise<{ name: string; owner: Reached; others: Reached[] }> {
  const owner = await newPerson();
  const name = await people.newWorkspace(owner.client);
  const others: Reached[] = [];
  for (const role of roles) {
    const claims = newClaims();
    others.push(await reached(await people.join(owner.client, name, role, claims), claims.email));
  }
  return { name, owner: { ...owner, client: inside(owner.client, name) }, others };
}

/** The events that wait for a person. */
async function waiting({ id }: Reached): Promise<string[]> {
  const { rows } = await sql<{ type: string }>`
    select event ->> 'type' as type from notifications where person_id = ${id} order by number`.execute(database);
  return rows.map(({ type }) => type);
}

/** Has what waits for the person sent now. */
async function due({ id }: Reached): Promise<void> {
  await sql`update notifications set due_at = now() where person_id = ${id}`.execute(database);
}

/** Waits until nothing waits for the person. */
async function settled({ id }: Reached): Promise<void> {
  const rest = async () => {
    const { rows } = await sql`
      select from notifications where person_id = ${id} union all
      select from notification_sends where person_id = ${id}`.execute(database);
    return rows.length;
  };
  await expect.poll(rest, patient).toBe(0);
}

/** The mails of what waits for the person. */
async function arrive(person: Reached): Promise<ReceivedMail[]> {
  const before = mail.to(person.email).length;
  await due(person);
  await settled(person);
  return mail.to(person.email).slice(before);
}

/** Tries to notify somebody by ntfy, so far. */
async function tries(outcome: string): Promise<number> {
  const text = String((await people.service.client.call("GET", "/metrics")).body);
  const line = text.split("\n").find((each) => each.includes(`channel="ntfy",outcome="${outcome}"`));
  return Number(line?.split(" ").at(-1) ?? 0);
}

const subjectsOf = (mails: ReceivedMail[]) => mails.map(({ raw }) => headerOf(raw, "subject"));

/** A turn that waits for an approval. Its stream is read to its end. */
async function asking({ client }: Reached, agent: string): Promise<{ turnId: string; approvalId: string }> {
  const body = { message: "use execute rm -rf build", include: ["approvals"] };
  const response = await client.fetch("POST", `/agents/${agent}/chat`, body);
  const turnId = response.headers.get("x-turn-id")!;
  if (response.status !== 200) throw new Error(await response.text());
  void response.text().catch(() => {});
  const open = async () => {
    const { status, body } = await client.call("GET", `/agents/${agent}/turns/${turnId}/approvals`);
    if (status !== 200) throw new Error(JSON.stringify(body));
    return body.data;
  };
  await expect.poll(async () => (await open()).length, patient).toBe(1);
  return { turnId, approvalId: (await open())[0].id };
}

const answer = ({ client }: Reached, agent: string, { turnId, approvalId }: Awaited<ReturnType<typeof asking>>) =>
  client.call("POST", `/agents/${agent}/turns/${turnId}/approvals/${approvalId}`, { decision: "allow" });

const asks = { permissions: { execute: "ask" } };

describe("a person who started a turn", () => {
  test("hears that it failed, and with `all` that it completed, with the reply", async () => {
    const person = await newPerson();
    await person.client.createAgent("ada");
    await person.client.chat("ada", "hello");
    expect(await waiting(person)).toEqual([]);
    const { turnId } = await person.client.chat("ada", "crash");
    const [failed] = await arrive(person);
    expect(headerOf(failed!.raw, "subject")).toBe("ada: a turn failed");
    expect(partsOf(failed!.raw).text).toContain(`${people.service.server.url}/-/agents/ada/turns/${turnId}`);
    await person.client.call("PUT", "/me/profile/agents/ada", { notify: "all" });
    const { text } = await person.client.chat("ada", "hello");
    const [completed] = await arrive(person);
    expect(headerOf(completed!.raw, "subject")).toBe("ada completed a turn");
    expect(text).not.toBe("");
    expect(partsOf(completed!.raw).text).toContain(text);
    await person.client.call("PUT", "/me/profile/agents/ada", { notify: "none" });
    await person.client.chat("ada", "crash");
    expect(await waiting(person)).toEqual([]);
  });

  test("hears of an approval that waits, and not of one that was answered before", async () => {
    const person = await newPerson();
    await person.client.createAgent("ada", asks);
    const first = await asking(person, "ada");
    expect(await waiting(person)).toEqual(["turn.waiting"]);
    expect(subjectsOf(await arrive(person))).toEqual(["ada waits for an approval"]);
    await answer(person, "ada", first);
    const second = await asking(person, "ada");
    await answer(person, "ada", second);
    expect(await waiting(person)).toEqual(["turn.waiting"]);
    expect(await arrive(person)).toEqual([]);
  });

  test("hears that messages are held, unless they were released before", async () => {
    const person = await newPerson();
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
    expect(subjectsOf(await arrive(person))).toEqual(["ada holds its messages"]);
    await person.client.call("POST", "/agents/ada/queue", { action: "discard" });
    await hold();
    await person.client.call("POST", "/agents/ada/queue", { action: "discard" });
    expect(await waiting(person)).toEqual(["turn.held"]);
    expect(await arrive(person)).toEqual([]);
  });
});

describe("in a workspace", () => {
  test("others hear nothing of a turn, and with `all` of what waits", async () => {
    const { owner, others } = await newTeam("member", "member");
    const [starter, watcher] = others as [Reached, Reached];
    await watcher.client.call("PATCH", "/me/profile", { notify: "all" });
    await owner.client.createAgent("ada", asks);
    await starter.client.chat("ada", "crash");
    await asking(starter, "ada");
    expect(await waiting(starter)).toEqual(["turn.failed", "turn.waiting"]);
    expect(await waiting(watcher)).toEqual(["turn.waiting"]);
    expect(await waiting(owner)).toEqual([]);
    const [seen] = await arrive(watcher);
    const workspace = (await owner.client.call("GET", "/me")).body.workspace;
    expect(partsOf(seen!.raw).text).toContain(`Workspace: ${workspace.name}`);
    expect(partsOf(seen!.raw).text).toContain(`?workspace=${workspace.id}`);
  });

  test("owners and admins hear of turns that nobody there is responsible for, and of credits and webhooks", async () => {
    const { owner, others } = await newTeam("admin", "member", "member");
    const [admin, member, leaver] = others as [Reached, Reached, Reached];
    await owner.client.createAgent("ada", asks);
    const turn = await asking(leaver, "ada");
    await leaver.client.call("DELETE", `/workspaces/${owner.client.workspace}/members/${leaver.id}`);
    expect(await arrive(leaver)).toEqual([]);
    await answer(owner, "ada", turn);
    await sql`
      insert into account_events (account_id, event)
      select account_id, event from account_events
      where event ->> 'type' = 'approval.requested' and event ->> 'turnId' = ${turn.turnId}`.execute(database);
    expect([await waiting(owner), await waiting(admin), await waiting(member)]).toEqual([
      ["turn.waiting"],
      ["turn.waiting"],
      [],
    ]);
    const { id: account } = (await owner.client.call("GET", "/me")).body.workspace;
    await owner.client.call("PATCH", "/billing", { lowCredits: "99" });
    await people.service.client.call("POST", "/admin/credits/grants", { account, credits: "-50" });
    const webhook = { url: ntfy.url("/hook") };
    const { id } = (await owner.client.call("POST", "/webhooks", webhook)).body;
    await owner.client.call("PATCH", `/webhooks/${id}`, { disabled: true });
    await owner.client.call("PATCH", `/webhooks/${id}`, { disabled: false });
    await sql`
      update webhooks set disabled = true, disabled_reason = '{"code": "gone", "message": "It is gone."}'
      where id = ${id}`.execute(database);
    expect([await waiting(owner), await waiting(admin), await waiting(member)]).toEqual([
      ["turn.waiting", "credits.low", "webhook.disabled"],
      ["turn.waiting", "credits.low", "webhook.disabled"],
      [],
    ]);
    await admin.client.call("PATCH", "/me/profile", { notify: "none" });
    expect(await arrive(admin)).toEqual([]);
    const [seen] = await arrive(owner);
    expect(partsOf(seen!.raw).text).toMatch(/A webhook was disabled.*It is gone\./s);
  });

  test("nobody hears of another's private agent", async () => {
    const { owner, others } = await newTeam("admin", "member");
    const [admin, maker] = others as [Reached, Reached];
    await owner.client.call("PATCH", "/me/profile", { notify: "all" });
    await admin.client.call("PATCH", "/me/profile", { notify: "all" });
    await maker.client.createAgent("shy", { private: true, ...asks });
    await asking(maker, "shy");
    expect([await waiting(owner), await waiting(admin), await waiting(maker)]).toEqual([[], [], ["turn.waiting"]]);
    await maker.client.createAgent("ada", asks);
    await asking(maker, "ada");
    expect(await waiting(admin)).toEqual(["turn.waiting"]);
    await maker.client.call("PATCH", "/agents/ada", { private: true });
    expect(await arrive(admin)).toEqual([]);
    expect(subjectsOf(await arrive(maker)).toSorted()).toEqual([
      "ada waits for an approval",
      "shy waits for an approval",
    ]);
  });

  test("a person who lost the membership hears nothing", async () => {
    const { owner, others } = await newTeam("member");
    const [member] = others as [Reached];
    await member.client.createAgent("ada");
    await member.client.chat("ada", "crash");
    expect(await waiting(member)).toEqual(["turn.failed"]);
    await owner.client.call("DELETE", `/workspaces/${owner.client.workspace}/members/${member.id}`);
    expect(await arrive(member)).toEqual([]);
  });
});

describe("an automation", () => {
  test("reports failed runs and its pause to its maker, and completed ones to those who want all", async () => {
    const { owner, others } = await newTeam("member", "member");
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
    await expect.poll(async () => (await waiting(maker)).toSorted(), patient).toEqual(["automation.paused", ...failed]);
    expect((await waiting(reader)).toSorted()).toEqual(["automation.paused", ...failed]);
    expect(await waiting(owner)).toEqual([]);
    const [summary, ...rest] = await arrive(maker);
    expect([headerOf(summary!.raw, "subject"), rest]).toEqual(["ada: 4 notifications", []]);
    expect(partsOf(summary!.raw).text).toContain("3 runs in a row failed.");
    await arrive(reader);
    await maker.client.call("PATCH", "/automations/check", { message: "hello" });
    await maker.client.call("POST", "/automations/check/resume");
    await maker.client.call("POST", "/automations/check/run");
    await expect.poll(async () => (await statuses())[0], patient).toBe("completed");
    expect([await waiting(maker), await waiting(owner)]).toEqual([[], []]);
    const [report] = await arrive(reader);
    expect(headerOf(report!.raw, "subject")).toBe("check completed");
    const { reply } = (await maker.client.call("GET", "/automations/check/runs")).body.data[0];
    expect(partsOf(report!.raw).text).toContain(reply);
  });
});

describe("several events", () => {
  test("of one agent are one notification, and many agents a summary", async () => {
    const person = await newPerson();
    for (const name of ["ada", "bea", "cleo", "dora"]) await person.client.createAgent(name);
    await person.client.chat("ada", "crash");
    await person.client.chat("ada", "crash");
    await person.client.chat("bea", "crash");
    expect(subjectsOf(await arrive(person)).toSorted()).toEqual(["ada: 2 notifications", "bea: a turn failed"]);
    for (const name of ["ada", "bea", "cleo", "dora"]) await person.client.chat(name, "crash");
    expect(subjectsOf(await arrive(person))).toEqual(["Berth: 4 notifications"]);
  });

  test("wait for a person without any channel not at all, and up to 200 for others", async () => {
    const person = await newPerson({ emailNotifications: false });
    await person.client.createAgent("ada");
    await person.client.chat("ada", "crash");
    expect(await waiting(person)).toEqual([]);
    await person.client.call("PATCH", "/me/profile", { emailNotifications: true });
    await person.client.chat("ada", "crash");
    for (let copies = 0; copies < 8; copies++) {
      await sql`
        insert into account_events (account_id, event)
        select account_id, event from account_events where event ->> 'status' = 'failed'
          and account_id = (select account_id from people where id = ${person.id})`.execute(database);
    }
    const { length } = await waiting(person);
    expect(length).toBe(200);
    expect(subjectsOf(await arrive(person))).toEqual(["ada: 200 notifications"]);
  });
});

describe("in quiet hours", () => {
  test("notifications wait, and then are one summary", async () => {
    const person = await newPerson();
    for (const name of ["ada", "bea"]) await person.client.createAgent(name);
    const { rows } = await sql<{ from: string; to: string }>`
      select to_char(now() at time zone 'Asia/Kathmandu' - interval '1 hour', 'HH24:MI') as from,
        to_char(now() at time zone 'Asia/Kathmandu' + interval '1 hour', 'HH24:MI') as to`.execute(database);
    await person.client.call("PATCH", "/me/profile", { quietHours: rows[0], timeZone: "Asia/Kathmandu" });
    await person.client.chat("ada", "crash");
    await person.client.chat("bea", "crash");
    await due(person);
    const heldUntil = async () => {
      const held = await sql<{ until: string }>`
        select distinct to_char(due_at at time zone 'Asia/Kathmandu', 'HH24:MI') as until
        from notifications where person_id = ${person.id} and held`.execute(database);
      return held.rows.map(({ until }) => until);
    };
    await expect.poll(heldUntil, patient).toEqual([rows[0]!.to]);
    expect(mail.to(person.email)).toEqual([]);
    // The end of the quiet hours: they are looked at again.
    await person.client.call("PATCH", "/me/profile", { quietHours: null });
    await settled(person);
    expect(subjectsOf(mail.to(person.email))).toEqual(["Berth: 2 notifications"]);
  });

  test("what could not be sent before waits, too", async () => {
    const person = await newPerson();
    await person.client.createAgent("ada");
    mail.answer = () => 451;
    await person.client.chat("ada", "crash");
    await due(person);
    const sends = async () => {
      const found = await sql<{ attempts: number; later: boolean }>`
        select attempts, next_try_at > now() + interval '30 minutes' as later from notification_sends
        where person_id = ${person.id} and next_try_at - created_at < interval '110 seconds'
          or person_id = ${person.id} and next_try_at > now() + interval '30 minutes'`.execute(database);
      return found.rows;
    };
    await expect.poll(sends, patient).toEqual([{ attempts: 1, later: false }]);
    mail.answer = () => 0;
    const { rows } = await sql<{ from: string; to: string }>`
      select to_char(now() at time zone 'UTC' - interval '1 hour', 'HH24:MI') as from,
        to_char(now() at time zone 'UTC' + interval '1 hour', 'HH24:MI') as to`.execute(database);
    await person.client.call("PATCH", "/me/profile", { quietHours: rows[0] });
    const retry = () =>
      sql`update notification_sends set next_try_at = now() where person_id = ${person.id}`.execute(database);
    await retry();
    await expect.poll(sends, patient).toEqual([{ attempts: 1, later: true }]);
    expect(mail.to(person.email)).toEqual([]);
    await person.client.call("PATCH", "/me/profile", { quietHours: null });
    await retry();
    await settled(person);
    expect(mail.to(person.email)).toHaveLength(1);
  });
});

describe("ntfy", () => {
  test("gets a message with a title, a link and a priority, and the token", async () => {
    const topic = `private-${randomUUID()}`;
    const person = await newPerson({
      emailNotifications: false,
      ntfy: { url: ntfy.url(`/${topic}`), token: ntfy.token },
    });
    await person.client.createAgent("ada");
    const { turnId } = await person.client.chat("ada", "crash");
    await arrive(person);
    expect(ntfy.of(topic)).toEqual([
      {
        topic,
        title: "ada: a turn failed",
        message: expect.stringMatching(/./),
        click: `${people.service.server.url}/-/agents/ada/turns/${turnId}?workspace=personal`,
        priority: 4,
        tags: ["robot"],
      },
    ]);
    await person.client.call("PATCH", "/me/profile", { notify: "all" });
    const { text } = await person.client.chat("ada", "hello");
    await arrive(person);
    expect(ntfy.of(topic)[1]).toMatchObject({ title: "ada completed a turn", priority: 3 });
    expect(JSON.stringify(ntfy.of(topic)[1])).not.toContain(text);
  });

  test("that refuses for good says so in the profile, until it takes one", async () => {
    const topic = `private-${randomUUID()}`;
    const person = await newPerson({ emailNotifications: false, ntfy: { url: ntfy.url(`/${topic}`) } });
    await person.client.createAgent("ada");
    await person.client.chat("ada", "crash");
    await arrive(person);
    const failure = async () => (await person.client.call("GET", "/me/profile")).body.channels[2].failure;
    expect(await failure()).toEqual({
      message: "The ntfy server answered 403. Check the token.",
      at: expect.any(String),
    });
    await person.client.call("PATCH", "/me/profile", { ntfy: { url: ntfy.url(`/${topic}`), token: ntfy.token } });
    expect(await failure()).toBeNull();
    ntfy.status = 404;
    expect((await person.client.call("POST", "/me/profile/test")).body.channels[2]).toMatchObject({
      sent: false,
      error: "The ntfy server answered 404.",
    });
    expect(await failure()).not.toBeNull();
    ntfy.status = 200;
    await person.client.chat("ada", "crash");
    await arrive(person);
    expect(await failure()).toBeNull();
    expect(ntfy.of(topic)).toHaveLength(1);
  });

  test.each([429, 500])("that answers %d gets it later", async (status) => {
    const topic = randomUUID();
    const person = await newPerson({ emailNotifications: false, ntfy: { url: ntfy.url(`/${topic}`) } });
    await person.client.createAgent("ada");
    await person.client.chat("ada", "crash");
    ntfy.status = status;
    await due(person);
    const sends = async () => {
      const { rows } = await sql<{ attempts: number }>`
        select attempts from notification_sends where person_id = ${person.id}
          and next_try_at < now() + interval '20 seconds' and next_try_at > now()`.execute(database);
      return rows;
    };
    await expect.poll(sends, patient).toEqual([{ attempts: 1 }]);
    await expect.poll(() => tries("failed"), patient).toBeGreaterThan(0);
    const sent = await tries("sent");
    ntfy.status = 200;
    await sql`update notification_sends set next_try_at = now() where person_id = ${person.id}`.execute(database);
    await settled(person);
    expect(ntfy.of(topic)).toHaveLength(1);
    await expect.poll(() => tries("sent"), patient).toBe(sent + 1);
  });
});

describe("a test", () => {
  test("goes over all channels, also in quiet hours, ten times an hour", async () => {
    const topic = randomUUID();
    const quietHours = { from: "00:00", to: "23:59" };
    const person = await newPerson({ quietHours, ntfy: { url: ntfy.url(`/${topic}`) } });
    const { body } = await person.client.call("POST", "/me/profile/test");
    expect(body.channels).toEqual([
      { channel: "push", sent: false, error: expect.stringContaining("No browser") },
      { channel: "email", sent: true, error: null },
      { channel: "ntfy", sent: true, error: null },
    ]);
    expect(subjectsOf(mail.to(person.email))).toEqual(["Test of Berth"]);
    expect(ntfy.of(topic)).toMatchObject([{ title: "Test of Berth" }]);
    for (let tests = 1; tests < 10; tests++) await person.client.call("POST", "/me/profile/test");
    expect((await person.client.call("POST", "/me/profile/test")).body.code).toBe("rate_limited");
  });
});

describe("a mail", () => {
  test("turns itself off with one click, by POST alone", async () => {
    const person = await newPerson();
    await person.client.call("POST", "/me/profile/test");
    const [{ raw } = { raw: "" }] = mail.to(person.email);
    // The service of this test has no https address, without which no mail program does it.
    expect(headerOf(raw, "list-unsubscribe-post")).toBeUndefined();
    expect(headerOf(raw, "auto-submitted")).toBe("auto-generated");
    const url = /^<(.+)>$/.exec(headerOf(raw, "list-unsubscribe")!)![1]!;
    const off = async () => !(await person.client.call("GET", "/me/profile")).body.emailNotifications;
    const shown = await fetch(url, { redirect: "manual" });
    expect([shown.status, shown.headers.get("location"), await off()]).toEqual([302, "/-/notifications", false]);
    const click = (address: string) =>
      fetch(address, { method: "POST", body: new URLSearchParams({ "List-Unsubscribe": "One-Click" }) });
    expect((await click(`${url.slice(0, -4)}AAAA`)).status).toBe(204);
    expect(await off()).toBe(false);
    expect([(await click(url)).status, await off()]).toEqual([204, true]);
    expect([(await click(url)).status, await off()]).toEqual([204, true]);
  });

  test("cannot be changed by names and replies", async () => {
    const owner = await newPerson({ notify: "all" });
    const workspace = await people.newWorkspace(owner.client);
    const { id } = (await inside(owner.client, workspace).call("GET", "/me")).body.workspace;
    const client = inside(owner.client, id);
    const name = '<b>"Ünï & 日本\u202e</b>\r\nBcc: victim@example.com';
    await sql`update accounts set name = ${name} where id = ${id}`.execute(database);
    await client.createAgent("ada");
    const reply = "</pre><script>alert(1)</script>\r\nBcc: victim@example.com\r\n\r\n.\r\nQUIT\r\n\u0007";
    await client.chat("ada", `say ${reply}`);
    const [received] = await arrive(owner);
    const { raw, to } = received!;
    expect(to).toEqual([owner.email]);
    expect(headerOf(raw, "bcc")).toBeUndefined();
    const { text, html } = partsOf(raw);
    expect(text).toContain("<script>alert(1)</script>\nBcc: victim@example.com");
    for (const sign of ["\u0007", "\u202e"]) expect(text).not.toContain(sign);
    expect(text).toMatch(/^Workspace: .* Bcc: victim@example\.com$/m);
    expect(html).not.toContain("<script>");
    expect(html).not.toContain("<b>");
    expect(html).toContain("&lt;b&gt;&quot;Ünï &amp; 日本");
  });

  test.each([
    ["recipient", 550, "The mail server refused the address (550)."],
    ["body", 554, "The mail server refused the mail (554)."],
  ])("whose %s is refused with %d is not tried again", async (part, status, message) => {
    const person = await newPerson();
    await person.client.createAgent("ada");
    mail.refusal = (address) => (part === "recipient" && address === person.email ? status : 0);
    mail.answer = () => (part === "body" ? status : 0);
    await person.client.chat("ada", "crash");
    expect(await arrive(person)).toEqual([]);
    expect((await person.client.call("GET", "/me/profile")).body.channels[1]).toMatchObject({
      ready: true,
      failure: { message },
    });
  });
});
