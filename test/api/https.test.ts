import { once } from "node:events";
import { chmod, mkdtempDisposable, writeFile } from "node:fs/promises";
import { type IncomingMessage, request as requestPlainly } from "node:http";
import { request } from "node:https";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { connect } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { CertificateFolder, httpsOf } from "../support/certificates.ts";
import { folderPrefix } from "../support/config.ts";
import { Program } from "../support/http-program.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { ServerProcess } from "../support/server-process.ts";

const host = "berth.example.com";
const pages = "berth-pages.example";

describe("HTTPS", () => {
  let folder: Awaited<ReturnType<typeof mkdtempDisposable>>;
  let files: CertificateFolder;
  let service: ScriptedService;
  let ca: string;
  let authorization: string;
  let port: number;

  beforeAll(async () => {
    folder = await mkdtempDisposable(`${folderPrefix}https-`);
    files = new CertificateFolder(folder.path);
    ca = await files.write(host);
    service = await ScriptedService.start({
      publicUrl: `https://${host}:7443`,
      previewDomain: pages,
      https: { ...httpsOf(files), hstsSeconds: 3_600 },
    });
    authorization = `Bearer ${service.client.key}`;
    port = Number(new URL(service.server.secureUrl!).port);
    await service.client.createAgent("ada");
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  /** Connects by address, with the certificate's name. */
  const tls = () => ({ host: "127.0.0.1", port, servername: host, ca });
  async function begin(path: string, { method = "GET", headers = {}, body = "" } = {}) {
    const sent = request({ ...tls(), method, path, headers: { host, authorization, ...headers } });
    sent.end(body);
    return ((await once(sent, "response")) as [IncomingMessage])[0];
  }
  /** The serial number of the certificate that a new connection gets. */
  async function serial(): Promise<string> {
    const socket = connect({ ...tls(), rejectUnauthorized: false });
    await once(socket, "secureConnect");
    const { serialNumber } = socket.getPeerCertificate();
    socket.destroy();
    return serialNumber;
  }

  test("a reload keeps an open stream and gives new connections the new certificate", async () => {
    const message = JSON.stringify({ message: "tool hang", include: ["tools"] });
    const headers = { "content-type": "application/json" };
    const stream = await begin("/agents/ada/chat", { method: "POST", headers, body: message });
    const pieces = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    let text = "";
    while (!text.includes("response.tool_call.started")) text += String((await pieces.next()).value);
    const before = await serial();
    ca = await files.write(host);
    await service.server.reloadCertificate!();
    expect(await serial()).not.toBe(before);
    const cancel = await begin(`/agents/ada/turns/${stream.headers["x-turn-id"]}/cancel`, { method: "POST" });
    expect(cancel.statusCode).toBe(202);
    for (let next = await pieces.next(); !next.done; next = await pieces.next()) text += String(next.value);
    expect(text).toContain("response.cancelled");
  });

  test("changed files are used without a signal", async () => {
    const before = await serial();
    ca = await files.write(host);
    await expect.poll(serial, { timeout: 20_000 }).not.toBe(before);
  });

  test("a reload of a bad file keeps the certificate in use", async () => {
    const before = await serial();
    await writeFile(files.keyFile, "no key");
    await service.server.reloadCertificate!();
    expect(await serial()).toBe(before);
    expect((await begin("/healthz")).statusCode).toBe(200);
    ca = await files.write(host);
    await service.server.reloadCertificate!();
    expect(await serial()).not.toBe(before);
  });

  test("a WebSocket carries bytes both ways", async () => {
    const echo = createServer((socket) => socket.pipe(socket)).listen(0, "127.0.0.1");
    await once(echo, "listening");
    const { port: echoPort } = echo.address() as AddressInfo;
    const socket = new WebSocket(`wss://${host}:${port}/agents/ada/ports/${echoPort}/connection`, {
      ca,
      headers: { authorization },
      lookup: (_, { all }, done) =>
        all ? done(null, [{ address: "127.0.0.1", family: 4 }]) : done(null, "127.0.0.1", 4),
    });
    await once(socket, "open");
    socket.send(Buffer.from("over and back"));
    let text = "";
    while (!text.includes("over and back")) text += String(((await once(socket, "message")) as [Buffer])[0]);
    socket.terminate();
    echo.close();
  });

  test("a page of an agent has a secure cookie", async () => {
    using program = await Program.start();
    const ticket = await service.client.call("POST", "/agents/ada/tickets", { for: "preview", port: program.port });
    const { host: named, pathname, search, origin } = new URL(ticket.body.url);
    expect(origin).toMatch(/^https:.*:7443$/);
    const entered = await begin(pathname + search, { headers: { host: named, authorization: "" } });
    const [cookie] = entered.headers["set-cookie"]!;
    expect(cookie).toContain("; Secure");
    expect(entered.headers["strict-transport-security"]).toBe("max-age=3600");
    program.answer = (request, response) => {
      response.setHeader("strict-transport-security", "max-age=0; includeSubDomains");
      response.end(`page ${request.url}`);
    };
    const page = await begin("/deep", { headers: { host: named, authorization: "", cookie: cookie!.split(";")[0]! } });
    expect(String(await buffer(page))).toBe("page /deep");
    expect(page.headers["strict-transport-security"]).toBe("max-age=3600");
    expect(program.asked.at(-1)!.headers).toMatchObject({ "x-forwarded-proto": "https" });
  });

  test("all responses over HTTPS have HSTS, and those over HTTP do not", async () => {
    for (const path of ["/healthz", "/agents/ada", "/nowhere", "/-/"]) {
      expect([path, (await begin(path)).headers["strict-transport-security"]]).toEqual([path, "max-age=3600"]);
    }
    const rejected = await begin("/agents", { method: "POST", body: "{" });
    expect(rejected.headers["strict-transport-security"]).toBe("max-age=3600");
    expect((await fetch(`${service.server.url}/healthz`)).headers.get("strict-transport-security")).toBeNull();
  });

  test("a client older than TLS 1.2 is rejected", async () => {
    const ciphers = "ALL:@SECLEVEL=0";
    const socket = connect({ ...tls(), minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers });
    const [error] = (await once(socket, "error")) as [Error];
    expect(error.message).toMatch(/protocol version|unsupported protocol/);
  });

  test("bytes that are no TLS do not disturb others", async () => {
    const plain = requestPlainly({ host: "127.0.0.1", port, path: "/healthz" }).end();
    await once(plain, "error");
    expect((await begin("/healthz")).statusCode).toBe(200);
  });

  test("the metrics name the expiry of the certificate, at the HTTP address only", async () => {
    expect((await begin("/metrics")).statusCode).toBe(403);
    const text = await (await fetch(`${service.server.url}/metrics`)).text();
    const [, seconds] = /^berth_tls_certificate_expires_timestamp_seconds\{[^}]*\} (\S+)$/m.exec(text)!;
    expect(Number(seconds) * 1000).toBeGreaterThan(Date.now());
  });
});

test("a server with a bad certificate does not start, and says why", async () => {
  await using folder = await mkdtempDisposable(`${folderPrefix}https-`);
  const files = new CertificateFolder(folder.path);
  const https = httpsOf(files);
  await expect(ScriptedService.start({ publicUrl: `https://${host}`, https })).rejects.toThrow(
    `BERTH_TLS_CERT_FILE: ${files.certificateFile} does not exist.`,
  );
});

test("SIGHUP reloads the certificate of the server's program", async () => {
  await using folder = await mkdtempDisposable(`${folderPrefix}https-`);
  await chmod(folder.path, 0o711); // The database's user enters it.
  const files = new CertificateFolder(folder.path);
  const ca = await files.write(host);
  await using program = new ServerProcess(join(folder.path, "data"), {
    BERTH_TLS_CERT_FILE: files.certificateFile,
    BERTH_TLS_KEY_FILE: files.keyFile,
    BERTH_TLS_HOST: "127.0.0.1",
    BERTH_TLS_PORT: "0",
    BERTH_PUBLIC_URL: `https://${host}:7443`,
    BERTH_IMAGE_DIR: "/nonexistent",
  });
  const [, port] = await program.line(/^Berth answers at \S+ and https:\/\/127\.0\.0\.1:(\d+) and gets/);
  await program.line(/^To sign in for the first time: https:\/\/berth\.example\.com:7443\//);
  await writeFile(files.keyFile, "no key");
  program.child.kill("SIGHUP");
  await program.line(/the one in use is kept: BERTH_TLS_KEY_FILE: the file contains no private key/);
  const socket = connect({ host: "127.0.0.1", port: Number(port), servername: host, ca });
  await once(socket, "secureConnect");
  socket.destroy();
});
