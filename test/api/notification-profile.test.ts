import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../../src/core/database/database.ts";
import { databaseOf } from "../support/accounts.ts";
import type { TestClient } from "../support/client.ts";
import { headerOf, MailServer, partsOf } from "../support/mail-server.ts";
import { inside, PeoplesService } from "../support/people.ts";

// How people are notified: their profile, and the links that confirm addresses, by a real mail server.

let mail: MailServer;
let people: PeoplesService;
let database: Database;

beforeAll(async () => {
  mail = await MailServer.start();
  people = await PeoplesService.start({ mail: mail.config(), webhooksInside: ["ntfy.corp:80"] });
  database = await databaseOf(people.service);
});
afterAll(async () => {
  await database?.destroy();
  await people?.[Symbol.asyncDispose]();
  await mail?.[Symbol.asyncDispose]();
});

let addresses = 0;
const newAddress = () => `person-${addresses++}@example.com`;

async function change(person: TestClient, fields: object) {
  const { status, body } = await person.call("PATCH", "/me/profile", fields);
  expect([status, body]).toEqual([200, body]);
  return body;
}

/** The token of the last mail to an address. */
function tokenTo(address: string): string {
  return /#([\w-]{40,})/.exec(partsOf(mail.to(address).at(-1)!.raw).text)![1]!;
}

const verify = (person: TestClient, token: string) => person.call("POST", "/me/profile/verify-email", { token });

describe("a profile", () => {
  test("has the sign-in's address and time zone, and defaults", async () => {
    const email = newAddress();
    const person = await people.person({ email, email_verified: true, zoneinfo: "Asia/Kathmandu" });
    expect((await person.call("GET", "/me/profile")).body).toEqual({
      email,
      emailVerified: true,
      pendingEmail: null,
      emailNotifications: true,
      timeZone: null,
      effectiveTimeZone: "Asia/Kathmandu",
      quietHours: null,
      notify: "needs-me",
      ntfy: null,
      channels: [
        {
          channel: "push",
          ready: false,
          missing: "No browser shows notifications. Turn them on in the dashboard.",
          failure: null,
        },
        { channel: "email", ready: true, missing: null, failure: null },
        { channel: "ntfy", ready: false, missing: "There is no ntfy topic.", failure: null },
      ],
    });
  });

  test("is changed field by field", async () => {
    const person = await people.person({ zoneinfo: "Not/AZone" });
    expect((await person.call("GET", "/me/profile")).body).toMatchObject({ email: null, effectiveTimeZone: "UTC" });
    const quietHours = { from: "22:00", to: "07:00" };
    await change(person, { quietHours, timeZone: "Europe/Berlin" });
    const ntfy = { url: "https://ntfy.sh/topic", token: "tk_secret" };
    const changed = await change(person, { notify: "all", ntfy, emailNotifications: false });
    expect(changed).toMatchObject({
      quietHours,
      timeZone: "Europe/Berlin",
      effectiveTimeZone: "Europe/Berlin",
      notify: "all",
      ntfy: { url: "https://ntfy.sh/topic", hasToken: true },
    });
    expect(changed.channels).toMatchObject([
      { ready: false },
      { ready: false, missing: "Notifications by mail are off." },
      { ready: true, missing: null },
    ]);
    expect(JSON.stringify(changed)).not.toContain("tk_secret");
    expect(await change(person, { quietHours: null, timeZone: null })).toMatchObject({
      quietHours: null,
      timeZone: null,
      notify: "all",
    });
  });

  test("keeps the token of a topic for the same address alone", async () => {
    const person = await people.person();
    const hasToken = async (ntfy: object) => (await change(person, { ntfy })).ntfy.hasToken;
    const url = "https://ntfy.sh/one";
    expect(await hasToken({ url, token: "tk_1" })).toBe(true);
    expect(await hasToken({ url })).toBe(true);
    expect(await hasToken({ url: "https://ntfy.example/one" })).toBe(false);
    expect(await hasToken({ url, token: "tk_1" })).toBe(true);
    expect(await hasToken({ url, token: null })).toBe(false);
    expect((await change(person, { ntfy: null })).ntfy).toBeNull();
  });

  test.each([
    [{}, /At least one field/],
    [{ email: "a@example.com, b@example.com" }, /e-mail address/],
    [{ email: "a@example.com\r\nBcc: b@example.com" }, /e-mail address/],
    [{ email: `${"a".repeat(250)}@example.com` }, /email/],
    [{ timeZone: "Europe/Nowhere" }, /IANA/],
    [{ timeZone: "+02:00" }, /IANA/],
    [{ quietHours: { from: "22:00", to: "22:00" } }, /the same/],
    [{ quietHours: { from: "24:00", to: "07:00" } }, /time of day/],
    [{ notify: "some" }, /notify/],
    [{ ntfy: { url: "https://ntfy.sh/" } }, /HOST\/TOPIC/],
    [{ ntfy: { url: "https://ntfy.sh/a/b" } }, /HOST\/TOPIC/],
    [{ ntfy: { url: "https://127.0.0.1/topic" } }, /public internet/],
    [{ ntfy: { url: "https://user:secret@ntfy.sh/topic" } }, /address is https/],
    [{ ntfy: { url: "http://ntfy.sh/topic" } }, /Only https/],
    [{ ntfy: { url: "https://ntfy.sh/topic", token: "a\r\nb: c" } }, /ntfy\.token/],
  ])("%j is refused", async (fields, message) => {
    const person = await people.person();
    const { status, body } = await person.call("PATCH", "/me/profile", fields);
    expect([status, body.code]).toEqual([400, "request_invalid"]);
    expect(body.message).toMatch(message);
  });

  test("a topic of an inner host that the operator listed is allowed", async () => {
    const person = await people.person();
    await change(person, { ntfy: { url: "http://ntfy.corp/topic" } });
  });

  test("belongs to a person, and not to a key", async () => {
    const { status, body } = await people.service.client.call("GET", "/me/profile");
    expect([status, body.code]).toEqual([403, "forbidden"]);
  });
});

describe("an address", () => {
  test("is used once its link was opened by the person who asked for it", async () => {
    const [first, email] = [newAddress(), newAddress()];
    const person = await people.person({ email: first, email_verified: true });
    expect(await change(person, { email })).toMatchObject({ email: first, emailVerified: true, pendingEmail: email });
    const [sent] = mail.to(email);
    expect(sent).toMatchObject({ from: "berth@example.com", to: [email], secure: true, user: "berth" });
    expect(headerOf(sent!.raw, "subject")).toBe("Confirm your e-mail address");
    const token = tokenTo(email);
    expect(partsOf(sent!.raw).text).toContain(`${people.service.server.url}/-/verify-email#${token}`);
    const other = await people.person();
    expect((await verify(other, token)).body.code).toBe("email_link_ended");
    expect((await verify(person, token)).body).toMatchObject({ email, emailVerified: true, pendingEmail: null });
    expect((await verify(person, token)).status).toBe(410);
    expect(await change(person, { email: null })).toMatchObject({ email: first, emailVerified: true });
  });

  test("has one valid link: a new one replaces the one before", async () => {
    const email = newAddress();
    const person = await people.person({ email, email_verified: false });
    expect((await person.call("GET", "/me/profile")).body.channels[1].missing).toMatch(/not verified/);
    await change(person, { email });
    const old = tokenTo(email);
    await change(person, { email });
    expect((await verify(person, old)).status).toBe(410);
    expect((await verify(person, tokenTo(email))).body).toMatchObject({ email, emailVerified: true });
  });

  test("has a link that ends after a day", async () => {
    const email = newAddress();
    const person = await people.person();
    await change(person, { email });
    await sql`
      update profiles set pending_until = pending_until - interval '24 hours' where pending_email = ${email}`.execute(
      database,
    );
    expect((await person.call("GET", "/me/profile")).body.pendingEmail).toBeNull();
    expect((await verify(person, tokenTo(email))).status).toBe(410);
  });

  test("that is verified already gets no link", async () => {
    const email = newAddress();
    const person = await people.person({ email, email_verified: true });
    expect(await change(person, { email: email.toUpperCase() })).toMatchObject({ email, pendingEmail: null });
    expect(mail.to(email)).toEqual([]);
  });

  test("of several people gets three links a day, and a person five", async () => {
    const email = newAddress();
    for (let count = 0; count < 3; count++) await change(await people.person(), { email });
    const fourth = await (await people.person()).call("PATCH", "/me/profile", { email });
    expect([fourth.status, fourth.body.code, fourth.body.message]).toEqual([
      429,
      "rate_limited",
      expect.stringMatching(/Too many links were sent\. Again in \d+ s\./),
    ]);
    expect(Number(fourth.headers.get("retry-after"))).toBeGreaterThan(86_000);
    expect(mail.to(email)).toHaveLength(3);
    const busy = await people.person();
    for (let count = 0; count < 5; count++) await change(busy, { email: newAddress() });
    expect((await busy.call("PATCH", "/me/profile", { email: newAddress() })).body.code).toBe("rate_limited");
  });

  test("that the mail server refuses is not stored", async () => {
    const email = newAddress();
    const person = await people.person();
    mail.refusal = (address) => (address === email ? 550 : 0);
    const { status, body } = await person.call("PATCH", "/me/profile", { email, notify: "none" });
    expect([status, body.code, body.message]).toEqual([
      502,
      "email_not_sent",
      "The link was not sent. The mail server refused the address (550).",
    ]);
    expect((await person.call("GET", "/me/profile")).body).toMatchObject({ pendingEmail: null, notify: "needs-me" });
  });

  test("is refused by a server that sends no mail", async () => {
    await using silent = await PeoplesService.start();
    const person = await silent.person({ email: newAddress(), email_verified: true });
    const { body } = await person.call("PATCH", "/me/profile", { email: newAddress() });
    expect([body.statusCode, body.code]).toEqual([409, "email_not_configured"]);
    expect((await person.call("GET", "/me/profile")).body.channels[1]).toMatchObject({
      ready: false,
      missing: expect.stringContaining("BERTH_SMTP_URL"),
    });
  });
});

describe("a choice for an agent", () => {
  test("is set, listed by name, and removed", async () => {
    const person = await people.person();
    for (const name of ["bea", "ada", "cleo"]) await person.createAgent(name);
    for (const agent of ["bea", "ada", "cleo"]) {
      const { body } = await person.call("PUT", `/me/profile/agents/${agent}`, { notify: "none" });
      expect(body).toEqual({ agent, notify: "none" });
    }
    await person.call("PUT", "/me/profile/agents/ada", { notify: "all" });
    const first = (await person.call("GET", "/me/profile/agents?limit=2")).body;
    expect(first.data).toEqual([
      { agent: "ada", notify: "all" },
      { agent: "bea", notify: "none" },
    ]);
    const second = (await person.call("GET", `/me/profile/agents?cursor=${first.nextCursor}`)).body;
    expect(second).toEqual({ data: [{ agent: "cleo", notify: "none" }], nextCursor: null });
    for (let count = 0; count < 2; count++) {
      expect((await person.call("DELETE", "/me/profile/agents/ada")).status).toBe(204);
    }
    expect((await person.call("GET", "/me/profile/agents")).body.data).toHaveLength(2);
    expect((await person.call("PUT", "/me/profile/agents/dora", { notify: "all" })).body.code).toBe("agent_not_found");
  });

  test("ends with the membership, and hides while the agent is private", async () => {
    const owner = await people.person();
    const workspace = await people.newWorkspace(owner);
    const [team, member] = [inside(owner, workspace), await people.join(owner, workspace, "member")];
    await team.createAgent("ada");
    await member.call("PUT", "/me/profile/agents/ada", { notify: "all" });
    expect((await member.call("GET", "/me/profile/agents")).body.data).toHaveLength(1);
    await team.call("PATCH", "/agents/ada", { private: true });
    expect((await member.call("GET", "/me/profile/agents")).body.data).toEqual([]);
    await team.call("PATCH", "/agents/ada", { private: false });
    expect((await member.call("GET", "/me/profile/agents")).body.data).toHaveLength(1);
    const { id } = (await member.call("GET", "/me")).body.person;
    await member.call("DELETE", `/workspaces/${encodeURIComponent(workspace)}/members/${id}`);
    const { rows } = await sql`select from agent_notify where person_id = ${id}`.execute(database);
    expect(rows).toEqual([]);
  });
});
