import { once } from "node:events";
import { mkdtempDisposable } from "node:fs/promises";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../../src/core/ports.ts";
import { databaseOf } from "../support/accounts.ts";
import { acmeName, ordering } from "../support/acme-service.ts";
import { CertificateFolder, httpsOf } from "../support/certificates.ts";
import { folderPrefix } from "../support/config.ts";
import { ScriptedService } from "../support/scripted-service.ts";

/** Sends bytes, and returns the response's status line, headers and body. */
async function send(port: number, request: string) {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.write(request);
  const received = await text(socket);
  const [head = "", body] = received.split("\r\n\r\n", 2);
  const headers = Object.fromEntries(
    head
      .split("\r\n")
      .slice(1)
      .map((line) => line.split(": ") as [string, string]),
  );
  return { status: Number(head.split(" ")[1]), headers, body };
}

const get = (port: number, target: string, host = "berth.example.com", method = "GET") =>
  send(port, `${method} ${target} HTTP/1.1\r\nhost: ${host}\r\n\r\n`);

describe("redirects to HTTPS", () => {
  let folder: Awaited<ReturnType<typeof mkdtempDisposable>>;
  let service: ScriptedService;
  let port: number;
  beforeAll(async () => {
    folder = await mkdtempDisposable(`${folderPrefix}redirect-`);
    const files = new CertificateFolder(folder.path);
    await files.write("berth.example.com");
    port = await freePort();
    const https = { ...httpsOf(files), redirect: { host: "127.0.0.1", port } };
    service = await ScriptedService.start({ publicUrl: "https://berth.example.com:7443", https });
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  test.each([
    ["/", "berth.example.com", "https://berth.example.com:7443/"],
    ["/-/?a=b#c", "berth.example.com", "https://berth.example.com:7443/-/?a=b#c"],
    ["/agents", "evil.example", "https://berth.example.com:7443/agents"],
    ["/agents", "evil.example\r\nx-forwarded-host: evil.example", "https://berth.example.com:7443/agents"],
    ["//evil.example/", "berth.example.com", "https://berth.example.com:7443//evil.example/"],
    ["/\\evil.example", "berth.example.com", "https://berth.example.com:7443//evil.example"],
    ["@evil.example/", "berth.example.com", null],
    ["http://evil.example/", "evil.example", "https://berth.example.com:7443"],
    ["*", "berth.example.com", "https://berth.example.com:7443"],
    ["/a%0d%0aset-cookie:x=1", "berth.example.com", "https://berth.example.com:7443/a%0d%0aset-cookie:x=1"],
  ])("%s of %j leads to the public URL", async (target, host, location) => {
    const { status, headers } = await get(port, target, host);
    if (location === null) return expect(status).toBe(400);
    expect([status, headers.location]).toEqual([308, location]);
    expect(headers.connection).toBe("close");
    expect(headers["set-cookie"]).toBeUndefined();
  });

  test("other methods than GET and HEAD are rejected", async () => {
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) {
      const { status, headers } = await get(port, "/agents", undefined, method);
      expect([status, headers.allow]).toEqual([405, "GET, HEAD"]);
    }
    expect(await get(port, "/agents", undefined, "HEAD")).toMatchObject({ status: 308, body: "" });
    expect((await get(port, "/", "a\r\nupgrade: websocket\r\nconnection: upgrade")).status).toBe(308);
  });

  test("large and broken requests are rejected", async () => {
    expect((await get(port, `/${"a".repeat(9_000)}`)).status).toBe(431);
    expect((await send(port, "nonsense\r\n\r\n")).status).toBe(400);
    expect((await send(port, "GET / HTTP/1.1\r\n\r\n")).status).toBe(400);
  });

  test("no challenge is known without ACME", async () => {
    const { status, headers } = await get(port, "/.well-known/acme-challenge/token");
    expect([status, headers.location]).toEqual([404, undefined]);
  });
});

test("a challenge is answered by its token alone, and not by that of another type", async () => {
  const ports = { httpPort: await freePort(), tlsPort: await freePort() };
  const directory = `https://127.0.0.1:${await freePort()}/dir`;
  await using service = await ScriptedService.start(
    ordering({ directory, caFile: "/nonexistent", ...ports }, "http-01"),
  );
  const database = await databaseOf(service);
  const expires = (ms: number) => new Date(Date.now() + ms);
  const row = {
    name: acmeName,
    type: "http-01" as const,
    key_authorization: "known.thumb",
    expires_at: expires(60_000),
  };
  await database
    .insertInto("acme_challenges")
    .values([
      { ...row, token: "known" },
      { ...row, token: "other-type", type: "tls-alpn-01" },
      { ...row, token: "expired", expires_at: expires(-1_000) },
    ])
    .execute();
  await database.destroy();
  await service.restart();
  const path = (token: string) => `/.well-known/acme-challenge/${token}`;
  expect(await get(ports.httpPort, path("known"), "any.example")).toMatchObject({ status: 200, body: "known.thumb" });
  expect(await get(ports.httpPort, path("known"), undefined, "HEAD")).toMatchObject({ status: 200, body: "" });
  const hostile = [
    "unknown",
    "expired",
    "other-type",
    "",
    "known/",
    "known?a",
    "../known",
    "%6bnown",
    "k'--",
    "known%00",
  ];
  for (const token of hostile) expect([token, (await get(ports.httpPort, path(token))).status]).toEqual([token, 404]);
});
