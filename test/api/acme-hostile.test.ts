import { once } from "node:events";
import { mkdtempDisposable } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { freePort } from "../../src/core/ports.ts";
import { databaseOf } from "../support/accounts.ts";
import { issued, ordering, serialAt } from "../support/acme-service.ts";
import { folderPrefix } from "../support/config.ts";
import { HostileDirectory } from "../support/hostile-directory.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// A directory that breaks off, exaggerates and lies. Each order fails with a reason, and the service continues.

const say = HostileDirectory.saying;
const problem = (type: string, detail: string) => ({ type: `urn:ietf:params:acme:error:${type}`, detail });
const hourMs = 3_600_000;

let folder: Awaited<ReturnType<typeof mkdtempDisposable>>;
let directory: HostileDirectory;
let service: ScriptedService;
beforeAll(async () => {
  folder = await mkdtempDisposable(`${folderPrefix}acme-`);
  directory = await HostileDirectory.start(folder.path);
  directory.answers["/dir"] = say({}, 500);
  service = await ScriptedService.start(await settings());
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});
beforeEach(() => {
  directory.issued = { name: "berth.example.com", days: 90, isForOtherKey: false };
});

async function settings(path = "/dir") {
  const ports = { httpPort: await freePort(), tlsPort: await freePort() };
  return ordering({ directory: directory.url + path, caFile: directory.caFile, ...ports }, "http-01");
}

/** Orders now, and returns what the service says then. */
async function order(answers: Record<string, RequestListener>): Promise<string> {
  directory.answers = answers;
  await service.server.reloadCertificate!();
  const { body } = await service.client.call("GET", "/readyz");
  return body.checks.certificate.message as string;
}

/** The time of the next order, and allows one now whatever the directory has said. */
async function release(): Promise<{ delayMs: number; limited: boolean }> {
  const database = await databaseOf(service);
  const row = await database.selectFrom("acme_certificates").selectAll().executeTakeFirstOrThrow();
  await sql`update acme_certificates set limited = false, next_order_at = null`.execute(database);
  await database.destroy();
  return { delayMs: row.next_order_at!.getTime() - Date.now(), limited: row.limited };
}

describe("an order fails with its reason", () => {
  const pem: RequestListener = (_, response) =>
    response.writeHead(200, { "content-type": "application/pem-certificate-chain", "replay-nonce": "n" }).end("no PEM");
  const endless: RequestListener = (_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const more = () => {
      while (!response.destroyed && response.write(" ".repeat(64 * 1024)));
    };
    response.on("drain", more);
    more();
  };
  const headers: RequestListener = (_, response) => response.writeHead(200, { "x-large": "x".repeat(20_000) }).end();

  test.each<[string, Record<string, RequestListener>, RegExp]>([
    ["an error of the server", { "/dir": say({}, 500) }, /rejected a request with status 500: it gave no reason/],
    [
      "no JSON",
      { "/dir": (_, response) => response.writeHead(200, { "content-type": "application/json" }).end("{") },
      /not a JSON object/,
    ],
    ["a list", { "/dir": say([]) }, /not a JSON object/],
    ["an empty directory", { "/dir": say({}) }, /Unable to locate API resource URL/],
    ["a redirect", { "/dir": say({}, 302, { location: "https://127.0.0.1:1/" }) }, /Unable to locate API resource URL/],
    ["an endless body", { "/dir": endless }, /larger than 256 KiB/],
    ["large headers", { "/dir": headers }, /cannot be used: .*[Hh]eader/],
    ["a closed connection", { "/dir": ({ socket }) => socket.destroy() }, /cannot be used: socket hang up/],
    [
      "plain HTTP",
      { "/dir": say({ newNonce: "http://127.0.0.1/", newAccount: "https://127.0.0.1:1/" }) },
      /does not begin with https:\/\/: http:\/\/127\.0\.0\.1\//,
    ],
    ["no URL", { "/dir": say({ newNonce: 7, newAccount: "x" }) }, /does not begin with https:\/\/: 7/],
    ["no nonce", { "/nonce": (_, response) => response.end() }, /Failed to get nonce/],
    ["bad nonces only", { "/account": say(problem("badNonce", "again"), 400) }, /again/],
    [
      "terms that were not agreed to",
      { "/account": say(problem("userActionRequired", "Agree first"), 403) },
      /status 403: Agree first \(userActionRequired\)/,
    ],
    [
      "a reason with control characters",
      { "/account": say(problem("malformed", `a\n\u001b[2Jb${"c".repeat(9_000)}`), 400) },
      /: a \[2Jbc{250,300} \(malformed\)/,
    ],
    [
      "a rejected name",
      { "/new-order": say(problem("rejectedIdentifier", "forbidden by policy"), 400) },
      /forbidden by policy \(rejectedIdentifier\)/,
    ],
    ["an order without an address", { "/new-order": say({}, 201) }, /did not return an order link/],
    ["an order without fields", { "/new-order": say({}, 201, { location: "https://127.0.0.1/" }) }, /invalid: status/],
    [
      "no challenge of the type",
      {
        "/authorization": say({
          status: "pending",
          challenges: [{ type: "dns-01", url: "u", status: "pending", token: "t" }],
        }),
      },
      /does not offer http-01 for berth\.example\.com\. It offers: dns-01\./,
    ],
    [
      "a token that is a path",
      {
        "/authorization": say({
          status: "pending",
          challenges: [{ type: "http-01", url: "u", status: "pending", token: "../etc" }],
        }),
      },
      /invalid: challenges\.0\.token/,
    ],
    [
      "an invalid order",
      { "/order": say({ status: "invalid", authorizations: ["a"], error: problem("caa", "CAA forbids it") }) },
      /did not issue the certificate: CAA forbids it \(caa\)/,
    ],
    ["no certificate", { "/order": say({ status: "valid", authorizations: ["a"] }) }, /Unable to download certificate/],
    ["no PEM", { "/certificate": pem }, /cannot be used: .*no certificate in PEM/],
  ])("for %s", async (_, answers, message) => {
    const said = await order(answers);
    expect(said).toMatch(message);
    expect(said.length).toBeLessThan(1_200);
    await release();
  });

  test("for many authorizations, without asking for each", async () => {
    const authorizations = Array.from({ length: 2_000 }, (_, at) => `${directory.url}/authorization/${at}`);
    const answer = say(directory.order({ authorizations }), 201, { location: `${directory.url}/order` });
    const before = directory.asked.length;
    expect(await order({ "/new-order": answer })).toMatch(/invalid: authorizations/);
    expect(directory.asked.length - before).toBeLessThan(10);
    await release();
  });

  test.each([
    ["for another name", { name: "other.example.com" }, /it is for other names: other\.example\.com/],
    ["for another key", { isForOtherKey: true }, /the key does not belong to the first certificate/],
    ["that has expired", { days: -1 }, /the certificate expired on/],
  ])("for a certificate %s", async (_, changes, message) => {
    Object.assign(directory.issued, changes);
    expect(await order({})).toMatch(message);
    expect(await serialAt(service.server.secureUrl!, directory.authority)).toMatch(/HANDSHAKE_FAILURE/);
    await release();
  });
});

describe("the next order waits", () => {
  const limited = (after: string) => say(problem("rateLimited", "too many"), 429, { "retry-after": after });

  test.each([
    ["as long as the directory says", "90000", 25 * hourMs],
    ["a week at most", "99999999999", 7 * 24 * hourMs],
    ["until a date", new Date(Date.now() + 100 * hourMs).toUTCString(), 100 * hourMs],
  ])("%s, also for a reload", async (_, after, ms) => {
    expect(await order({ "/new-order": limited(after) })).toMatch(/too many \(rateLimited\)/);
    const before = directory.asked.length;
    await service.server.reloadCertificate!();
    expect(directory.asked.length).toBe(before);
    const { delayMs, limited: isLimited } = await release();
    expect(isLimited).toBe(true);
    expect(Math.abs(delayMs - ms)).toBeLessThan(hourMs / 2);
  });

  test.each(["soon", "-5", "", "0", "2099-01-01"])("its own time for the delay %j", async (after) => {
    await order({ "/new-order": limited(after) });
    expect((await release()).limited).toBe(false);
  });
});

test("an authority that is not trusted is named with its setting", async () => {
  const file = service.config.https!.acme!.caFile;
  service.config.https!.acme!.caFile = null;
  expect(await order({})).toMatch(/its certificate is not trusted \(\w+\)\. .*set BERTH_ACME_DIRECTORY_CA_FILE/);
  service.config.https!.acme!.caFile = "/nonexistent";
  expect(await order({})).toMatch(/BERTH_ACME_DIRECTORY_CA_FILE cannot be read: ENOENT/);
  service.config.https!.acme!.caFile = file;
  await release();
});

test("a server that stops ends an order with a silent directory, and blames nobody", async () => {
  const began = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  directory.answers = {
    "/silent": async ({ socket }) => {
      began.resolve();
      await once(socket, "close");
      ended.resolve();
    },
  };
  const silent = await ScriptedService.start(await settings("/silent"));
  await began.promise;
  await silent.server[Symbol.asyncDispose]();
  await ended.promise;
  await silent.restart();
  const { body } = await silent.client.call("GET", "/readyz");
  expect(body.checks.certificate.message).not.toContain("failed");
  directory.answers = {};
  await silent[Symbol.asyncDispose]();
});

test("an order ends when another server has taken its lease", async () => {
  const began = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  directory.answers = {
    "/taken": async ({ socket }) => {
      began.resolve();
      await once(socket, "close");
      ended.resolve();
    },
  };
  const taken = await ScriptedService.start(await settings("/taken"));
  await began.promise;
  const database = await databaseOf(taken);
  const lease = "00000000-0000-4000-8000-000000000001";
  await sql`update acme_certificates set lease = ${lease}, leased_until = now() + interval '1 day'`.execute(database);
  await database.destroy();
  await ended.promise;
  const { body } = await taken.client.call("GET", "/readyz");
  expect(body.checks.certificate.message).not.toContain("failed");
  directory.answers = {};
  await taken[Symbol.asyncDispose]();
});

test("an honest certificate is used after all failures", async () => {
  expect(await order({})).toMatch(/^berth\.example\.com, expires on/);
  expect(await serialAt(service.server.secureUrl!, directory.authority)).toMatch(issued);
});
