import { execFile } from "node:child_process";
import { once } from "node:events";
import { chmod, copyFile, mkdtempDisposable } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { join } from "node:path";
import { connect } from "node:tls";
import { promisify } from "node:util";
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { freePort } from "../../src/core/ports.ts";
import { certificateFinding } from "../../src/doctor/certificate.ts";
import { databaseOf } from "../support/accounts.ts";
import { acmeName, issued, ordering, serialAt } from "../support/acme-service.ts";
import { folderPrefix } from "../support/config.ts";
import { Pebble } from "../support/pebble.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { ServerProcess } from "../support/server-process.ts";

const run = promisify(execFile);

// Against Debian's `pebble`, which validates names and issues certificates as Let's Encrypt does.

let folder: Awaited<ReturnType<typeof mkdtempDisposable>>;
let pebble: Pebble;
let ca: string;
beforeAll(async () => {
  folder = await mkdtempDisposable(`${folderPrefix}acme-`);
  await chmod(folder.path, 0o711); // For the database's user, whose data folder is in it.
  pebble = await Pebble.start(folder.path);
  ca = await pebble.root();
});
afterAll(async () => {
  await pebble[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

let ordersBefore: number;
beforeEach(() => {
  ordersBefore = pebble.requests("/order-plz");
});
const orders = () => pebble.requests("/order-plz") - ordersBefore;

const untilIssued = (service: ScriptedService) =>
  expect.poll(() => serialAt(service.server.secureUrl!, ca)).toMatch(issued);

async function readiness({ client }: ScriptedService) {
  const { status, body } = await client.call("GET", "/readyz");
  return { status, ...(body.checks.certificate as { ok: boolean; message: string }) };
}

/** Changes the row of the certificate, while the server is stopped or looks again. */
async function change(service: ScriptedService, columns: string): Promise<void> {
  const database = await databaseOf(service);
  await sql.raw(`update acme_certificates set ${columns}`).execute(database);
  await database.destroy();
}

describe.each(["http-01", "tls-alpn-01"] as const)("a first certificate by %s", (challenge) => {
  let service: ScriptedService;
  afterEach(() => service[Symbol.asyncDispose]());

  test("is ordered once, and the service says so before and after", async () => {
    const settings = ordering(pebble, challenge);
    service = await ScriptedService.start({ ...settings, logFormat: "json" });
    const before = await readiness(service);
    expect(before.status).toBe(503);
    expect(before.message).toContain(
      `There is no certificate for ${acmeName} yet. The first certificate is being ordered`,
    );
    expect(await serialAt(service.server.secureUrl!, ca)).toMatch(/ERR_SSL_.*HANDSHAKE_FAILURE/);
    await untilIssued(service);
    const after = await readiness(service);
    expect(after).toMatchObject({ status: 200, ok: true });
    expect(after.message).toMatch(/^berth\.example\.com, expires on [\d-]{10}, renewed from [\d-]{10} on$/);
    const { body } = await service.client.call("GET", "/admin/reachability");
    expect(body.certificate).toEqual({ ok: true, message: `Certificate: ${after.message}` });
    expect(orders()).toBe(1);
  });

  test("is used at once after a restart, without another order", async () => {
    service = await ScriptedService.start(ordering(pebble, challenge));
    await untilIssued(service);
    const serial = await serialAt(service.server.secureUrl!, ca);
    await service.restart();
    expect(await serialAt(service.server.secureUrl!, ca)).toBe(serial);
    await service.server.reloadCertificate!();
    expect(orders()).toBe(1);
  });
});

test("the metrics have the expiry of the certificate and the failed orders", async () => {
  await using service = await ScriptedService.start(ordering(pebble, "http-01"));
  const metrics = async () => (await fetch(`${service.server.url}/metrics`)).text();
  expect(await metrics()).toMatch(/^berth_tls_certificate_failed_orders\{[^}]*\} 0$/m);
  await untilIssued(service);
  expect(await metrics()).toMatch(/^berth_tls_certificate_expires_timestamp_seconds\{[^}]*\} \d+$/m);
});

describe("a connection for TLS-ALPN-01", () => {
  test("fails while no challenge is open, and others work", async () => {
    await using service = await ScriptedService.start(ordering(pebble, "tls-alpn-01"));
    await untilIssued(service);
    const at = { host: "127.0.0.1", port: pebble.tlsPort, ca };
    const fails = async (options: object) => {
      const socket = connect({ ...at, ...options });
      return ((await once(socket, "error")) as [NodeJS.ErrnoException])[0].code;
    };
    const validation = ["acme-tls/1"];
    expect(await fails({ servername: acmeName, ALPNProtocols: validation })).toMatch(/ECONNRESET|ERR_SSL/);
    expect(await fails({ servername: "other.example.com", ALPNProtocols: validation })).toMatch(/ECONNRESET|ERR_SSL/);
    expect(await fails({ ALPNProtocols: validation })).toBe("ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL");
    expect(await fails({ servername: acmeName, ALPNProtocols: ["h2"] })).toMatch(/NO_APPLICATION_PROTOCOL/);
    for (const protocols of [{}, { ALPNProtocols: ["h2", "http/1.1"] }, { maxVersion: "TLSv1.2" as const }]) {
      const socket = connect({ ...at, servername: acmeName, ...protocols });
      await once(socket, "secureConnect");
      socket.destroy();
    }
  });

  test.each(["TLSv1.2", "TLSv1.3"] as const)(
    "gets another server's response over %s, and no HTTP",
    async (maxVersion) => {
      await using hourFolder = await mkdtempDisposable(`${folderPrefix}acme-`);
      // So short that the renewal may have begun by another server's clock.
      await using hour = await Pebble.start(hourFolder.path, { lifetime: 3_600 });
      const root = await hour.root();
      await using service = await ScriptedService.start(ordering(hour, "tls-alpn-01"));
      await expect.poll(() => serialAt(service.server.secureUrl!, root)).toMatch(issued);
      const database = await databaseOf(service);
      const row = { token: "t", name: acmeName, type: "tls-alpn-01" as const, key_authorization: "t.thumb" };
      await database
        .insertInto("acme_challenges")
        .values({ ...row, expires_at: new Date(Date.now() + 60_000) })
        .execute();
      await database.destroy();
      // Its server has read the challenges of its own order.
      await service.restart();
      const socket = connect({
        host: "127.0.0.1",
        port: hour.tlsPort,
        servername: acmeName,
        ALPNProtocols: ["acme-tls/1"],
        rejectUnauthorized: false,
        maxVersion,
      });
      await once(socket, "secureConnect");
      expect(socket.alpnProtocol).toBe("acme-tls/1");
      expect(socket.getPeerX509Certificate()!.subjectAltName).toBe(`DNS:${acmeName}`);
      socket.on("error", () => {});
      socket.write("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
      let answer = "";
      socket.on("data", (data) => {
        answer += String(data);
      });
      await once(socket, "close");
      expect(answer).toBe("");
    },
  );
});

test("a renewal keeps an open stream and gives new connections the new certificate", async () => {
  await using shortFolder = await mkdtempDisposable(`${folderPrefix}acme-`);
  await using short = await Pebble.start(shortFolder.path, { lifetime: 15, badNonces: 30 });
  const root = await short.root();
  await using service = await ScriptedService.start(ordering(short, "http-01"));
  await service.client.createAgent("ada");
  const at = service.server.secureUrl!;
  await expect.poll(() => serialAt(at, root)).toMatch(issued);
  const first = await serialAt(at, root);
  const begin = async (path: string, body: string) => {
    const headers = {
      authorization: `Bearer ${service.client.key}`,
      "content-type": "application/json",
      host: acmeName,
    };
    const port = Number(new URL(at).port);
    const options = { host: "127.0.0.1", port, servername: acmeName, ca: root, agent: false, method: "POST" };
    const sent = request({ ...options, path, headers }).end(body);
    return ((await once(sent, "response")) as [IncomingMessage])[0];
  };
  const stream = await begin("/agents/ada/chat", JSON.stringify({ message: "tool hang", include: ["tools"] }));
  const pieces = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let text = "";
  while (!text.includes("response.tool_call.started")) text += String((await pieces.next()).value);
  await expect
    .poll(async () => issued.test(await serialAt(at, root)) && (await serialAt(at, root)) !== first)
    .toBe(true);
  await service.client.call("POST", `/agents/ada/turns/${stream.headers["x-turn-id"]}/cancel`);
  for (let next = await pieces.next(); !next.done; next = await pieces.next()) text += String(next.value);
  expect(text).toContain("response.cancelled");
});

describe("a rejected validation", () => {
  test("is shown with its reason, delays the next order, and a reload orders now", async () => {
    const settings = ordering(pebble, "http-01");
    const elsewhere = { ...settings.https, redirect: { host: "127.0.0.1", port: await freePort() } };
    const failed = /could not validate berth\.example\.com by http-01: .*(Connection refused|connect).*\(connection\)/i;
    await using service = await ScriptedService.start({ ...settings, https: elsewhere });
    await expect.poll(async () => (await readiness(service)).message).toMatch(failed);
    const { status, message } = await readiness(service);
    expect(status).toBe(503);
    const [, next] = /The next order is at (\S+)\.$/.exec(message)!;
    expect(Date.parse(next!)).toBeGreaterThan(Date.now());
    const { body } = await service.client.call("GET", "/admin/reachability");
    expect(body.certificate).toEqual({ ok: false, message: expect.stringMatching(failed) });
    const { hostname, port } = new URL(service.server.url);
    const finding = await certificateFinding({ ...service.config, host: hostname, port: Number(port) });
    expect(finding).toMatchObject({ ok: false, problem: message, fix: expect.stringContaining("SIGHUP") });
    expect(await (await fetch(`${service.server.url}/metrics`)).text()).toMatch(/_failed_orders\{[^}]*\} 1$/m);
    await service.restart();
    expect((await readiness(service)).message).toMatch(failed);
    // Waits for the check of the start, which orders nothing, then orders.
    await service.server.reloadCertificate!();
    expect(orders()).toBe(2);
    await change(service, "limited = true");
    await service.server.reloadCertificate!();
    expect(orders()).toBe(2);
    await change(service, "limited = false");
    Object.assign(service.config, settings);
    await service.restart();
    await service.server.reloadCertificate!();
    await untilIssued(service);
    expect((await readiness(service)).message).not.toMatch(/failed/);
  });

  test("of TLS-ALPN-01 names the challenge", async () => {
    const settings = ordering(pebble, "tls-alpn-01");
    await using service = await ScriptedService.start({ ...settings, https: { ...settings.https, port: 0 } });
    await expect.poll(async () => (await readiness(service)).message).toMatch(/by tls-alpn-01: .*\(unauthorized\)/);
  });
});

describe("the account", () => {
  const registrations = () => pebble.requests("/sign-me-up");

  test("is used again after a restart, and updated with another address", async () => {
    const before = registrations();
    await using service = await ScriptedService.start(ordering(pebble, "http-01"));
    await untilIssued(service);
    await service.restart(() => change(service, "pair = null"));
    await untilIssued(service);
    expect([orders(), registrations() - before]).toEqual([2, 1]);
    service.config.https!.acme!.email = "admin@example.com";
    await service.restart(() => change(service, "pair = null"));
    await untilIssued(service);
    expect(orders()).toBe(3);
  });

  test("is registered again when the directory has forgotten it", async () => {
    await using ownFolder = await mkdtempDisposable(`${folderPrefix}acme-`);
    await using own = await Pebble.start(ownFolder.path);
    const first = await own.root();
    await using service = await ScriptedService.start(ordering(own, "http-01"));
    await expect.poll(() => serialAt(service.server.secureUrl!, first)).toMatch(issued);
    await own.restart();
    await service.restart(() => change(service, "pair = null"));
    const second = await own.root();
    await expect.poll(() => serialAt(service.server.secureUrl!, second)).toMatch(issued);
    expect(own.requests("/sign-me-up")).toBe(1);
  });
});

test("a restored backup serves the same certificate at once, without another order", async () => {
  const berth = (args: string[], environment: Record<string, string>) =>
    run(join(import.meta.dirname, "../../berth"), ["admin", ...args], {
      env: { PATH: process.env.PATH, HOME: "/nonexistent", ...environment },
    });
  const [backup, secretKey, dataFolder] = ["backup.tar", "kept.key", "restored"].map((name) => join(folder.path, name));
  let serial: string;
  {
    await using service = await ScriptedService.start(ordering(pebble, "http-01"));
    await untilIssued(service);
    serial = await serialAt(service.server.secureUrl!, ca);
    await berth(["backup", backup!], { BERTH_URL: service.server.url, BERTH_API_KEY: service.client.key });
    await copyFile(join(service.config.dataFolder, "secret.key"), secretKey!);
  }
  await berth(["restore", backup!, "--secret-key", secretKey!], { BERTH_DATA_DIR: dataFolder! });
  await using service = await ScriptedService.start({ ...ordering(pebble, "http-01"), dataFolder: dataFolder! });
  expect(await serialAt(service.server.secureUrl!, ca)).toBe(serial);
  await service.server.reloadCertificate!();
  expect(await readiness(service)).toMatchObject({ status: 200, ok: true });
  expect(orders()).toBe(1);
});

test("SIGHUP makes the server's program order now", async () => {
  await using ownFolder = await mkdtempDisposable(`${folderPrefix}acme-`);
  await chmod(ownFolder.path, 0o711); // The database's user enters it.
  await using own = await Pebble.start(ownFolder.path);
  await own.stop();
  await using program = new ServerProcess(join(ownFolder.path, "data"), {
    BERTH_ACME: "true",
    BERTH_ACME_AGREE_TERMS: "true",
    BERTH_ACME_EMAIL: "admin@example.com",
    BERTH_ACME_DIRECTORY: own.directory,
    BERTH_ACME_DIRECTORY_CA_FILE: own.caFile,
    BERTH_TLS_HOST: "127.0.0.1",
    BERTH_TLS_PORT: "0",
    BERTH_HTTP_REDIRECT_PORT: String(own.httpPort),
    BERTH_PUBLIC_URL: `https://${acmeName}`,
    BERTH_IMAGE_DIR: "/nonexistent",
  });
  await program.line(/^berth: not ready: certificate: There is no certificate for berth\.example\.com yet/);
  await program.line(/the certificate was not issued: The directory at .* cannot be used: connect ECONNREFUSED/);
  await own.restart();
  program.child.kill("SIGHUP");
  await program.line(/an ACME account is registered/);
  await program.line(/a TLS certificate is in use/);
});
