import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { headerOf, partsOf, type ReceivedMail } from "../support/mail-server.ts";
import { NotifiedService } from "../support/notified-service.ts";
import { inside } from "../support/people.ts";

// Notifications by mail and ntfy.

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

/** Tries to notify somebody by ntfy, so far. */
async function tries(outcome: string): Promise<number> {
  const text = String((await notified.people.service.client.call("GET", "/metrics")).body);
  const line = text.split("\n").find((each) => each.includes(`channel="ntfy",outcome="${outcome}"`));
  return Number(line?.split(" ").at(-1) ?? 0);
}

describe("ntfy", () => {
  test("gets a message with a title, a link and a priority, and the token", async () => {
    const topic = `private-${randomUUID()}`;
    const person = await notified.newPerson({
      emailNotifications: false,
      ntfy: { url: notified.ntfy.url(`/${topic}`), token: notified.ntfy.token },
    });
    await person.client.createAgent("ada");
    const { turnId } = await person.client.chat("ada", "crash");
    await notified.arrive(person);
    expect(notified.ntfy.of(topic)).toEqual([
      {
        topic,
        title: "ada: a turn failed",
        message: expect.stringMatching(/./),
        click: `${notified.people.service.server.url}/-/agents/ada/turns/${turnId}?workspace=personal`,
        priority: 4,
        tags: ["robot"],
      },
    ]);
    await person.client.call("PATCH", "/me/profile", { notify: "all" });
    const { text } = await person.client.chat("ada", "hello");
    await notified.arrive(person);
    expect(notified.ntfy.of(topic)[1]).toMatchObject({ title: "ada completed a turn", priority: 3 });
    expect(JSON.stringify(notified.ntfy.of(topic)[1])).not.toContain(text);
  });

  test("that refuses for good says so in the profile, until it takes one", async () => {
    const topic = `private-${randomUUID()}`;
    const person = await notified.newPerson({
      emailNotifications: false,
      ntfy: { url: notified.ntfy.url(`/${topic}`) },
    });
    await person.client.createAgent("ada");
    await person.client.chat("ada", "crash");
    await notified.arrive(person);
    const failure = async () => (await person.client.call("GET", "/me/profile")).body.channels[2].failure;
    expect(await failure()).toEqual({
      message: "The ntfy server answered 403. Check the token.",
      at: expect.any(String),
    });
    await person.client.call("PATCH", "/me/profile", {
      ntfy: { url: notified.ntfy.url(`/${topic}`), token: notified.ntfy.token },
    });
    expect(await failure()).toBeNull();
    notified.ntfy.status = 404;
    expect((await person.client.call("POST", "/me/profile/test")).body.channels[2]).toMatchObject({
      sent: false,
      error: "The ntfy server answered 404.",
    });
    expect(await failure()).not.toBeNull();
    notified.ntfy.status = 200;
    await person.client.chat("ada", "crash");
    await notified.arrive(person);
    expect(await failure()).toBeNull();
    expect(notified.ntfy.of(topic)).toHaveLength(1);
  });

  test.each([429, 500])("that answers %d gets it later", async (status) => {
    const topic = randomUUID();
    const person = await notified.newPerson({
      emailNotifications: false,
      ntfy: { url: notified.ntfy.url(`/${topic}`) },
    });
    await person.client.createAgent("ada");
    await person.client.chat("ada", "crash");
    notified.ntfy.status = status;
    await notified.due(person);
    const sends = async () => {
      const { rows } = await sql<{ attempts: number }>`
        select attempts from notification_sends where person_id = ${person.id}
          and next_try_at < now() + interval '20 seconds' and next_try_at > now()`.execute(notified.database);
      return rows;
    };
    await expect.poll(sends, patient).toEqual([{ attempts: 1 }]);
    await expect.poll(() => tries("failed"), patient).toBeGreaterThan(0);
    const sent = await tries("sent");
    notified.ntfy.status = 200;
    await sql`update notification_sends set next_try_at = now() where person_id = ${person.id}`.execute(
      notified.database,
    );
    await notified.settled(person);
    expect(notified.ntfy.of(topic)).toHaveLength(1);
    await expect.poll(() => tries("sent"), patient).toBe(sent + 1);
  });
});

describe("a test", () => {
  test("goes over all channels, also in quiet hours, ten times an hour", async () => {
    const topic = randomUUID();
    const quietHours = { from: "00:00", to: "23:59" };
    const person = await notified.newPerson({ quietHours, ntfy: { url: notified.ntfy.url(`/${topic}`) } });
    const { body } = await person.client.call("POST", "/me/profile/test");
    expect(body.channels).toEqual([
      { channel: "push", sent: false, error: expect.stringContaining("No browser") },
      { channel: "email", sent: true, error: null },
      { channel: "ntfy", sent: true, error: null },
    ]);
    expect(subjectsOf(notified.mail.to(person.email))).toEqual(["Test of Berth"]);
    expect(notified.ntfy.of(topic)).toMatchObject([{ title: "Test of Berth" }]);
    for (let tests = 1; tests < 10; tests++) await person.client.call("POST", "/me/profile/test");
    expect((await person.client.call("POST", "/me/profile/test")).body.code).toBe("rate_limited");
  });
});

describe("a mail", () => {
  test("turns itself off with one click, by POST alone", async () => {
    const person = await notified.newPerson();
    await person.client.call("POST", "/me/profile/test");
    const [{ raw } = { raw: "" }] = notified.mail.to(person.email);
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
    const owner = await notified.newPerson({ notify: "all" });
    const workspace = await notified.people.newWorkspace(owner.client);
    const { id } = (await inside(owner.client, workspace).call("GET", "/me")).body.workspace;
    const client = inside(owner.client, id);
    const name = '<b>"Ünï & 日本\u202e</b>\r\nBcc: victim@example.com';
    await sql`update accounts set name = ${name} where id = ${id}`.execute(notified.database);
    await client.createAgent("ada");
    const reply = "</pre><script>alert(1)</script>\r\nBcc: victim@example.com\r\n\r\n.\r\nQUIT\r\n\u0007";
    await client.chat("ada", `say ${reply}`);
    const [received] = await notified.arrive(owner);
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
    const person = await notified.newPerson();
    await person.client.createAgent("ada");
    notified.mail.refusal = (address) => (part === "recipient" && address === person.email ? status : 0);
    notified.mail.answer = () => (part === "body" ? status : 0);
    await person.client.chat("ada", "crash");
    expect(await notified.arrive(person)).toEqual([]);
    expect((await person.client.call("GET", "/me/profile")).body.channels[1]).toMatchObject({
      ready: true,
      failure: { message },
    });
  });
});
