import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { MailServer } from "../../test/support/mail-server.ts";
import type { MailConfig } from "../config/mail.ts";
import { freePort } from "../core/ports.ts";
import { Sealer } from "../core/sealing.ts";
import { testNotification } from "./compose.ts";
import { Mail } from "./mail.ts";
import type { ProfileState } from "./profile.ts";

const sealer = new Sealer(Buffer.alloc(32, 1).toString("base64"));
const address = { public: "https://berth.example" };
const profile = { personId: "p1", email: "ada@example.com" } as ProfileState;

const mailBy = (config: MailConfig) => new Mail(config, sealer, address);
const never = new AbortController().signal;
const send = (config: MailConfig, signal = never) => mailBy(config).send(profile, testNotification("id-1"), signal);

let server: MailServer;
beforeAll(async () => {
  server = await MailServer.start();
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => {
  server.received.length = 0;
});

describe("a mail", () => {
  test.each([["required"], ["offered"]] as const)("is sent over STARTTLS that is %s, after signing in", async (tls) => {
    expect(await send(server.config({ tls }))).toBeNull();
    const [mail] = server.received;
    expect(mail).toMatchObject({ secure: true, user: "berth", to: ["ada@example.com"] });
    expect(mail!.raw).toContain("Message-ID: <id-1@example.com>");
    expect(mail!.raw).toContain("List-Unsubscribe-Post: List-Unsubscribe=One-Click");
  });

  test("is sent over TLS from the first byte", async () => {
    await using secure = await MailServer.start({ secure: true });
    expect(await send(secure.config({ isSecure: true }))).toBeNull();
    expect(secure.received).toMatchObject([{ secure: true, user: "berth" }]);
  });

  test("is sent in plain text to a relay, if the operator says so", async () => {
    await using relay = await MailServer.start({ authOptional: true });
    expect(await send(relay.config({ tls: "off", auth: null }))).toBeNull();
    expect(relay.received).toMatchObject([{ secure: false }]);
  });

  test("is not sent to a server that offers no TLS where it is required", async () => {
    await using plain = await MailServer.start({ hideSTARTTLS: true, disabledCommands: ["STARTTLS"] });
    expect(await send(plain.config())).toMatchObject({ isFinal: false });
    expect(plain.received).toEqual([]);
  });

  test("is not sent to a server whose certificate is for another host", async () => {
    expect(await send(server.config({ host: "127.0.0.1" }))).toMatchObject({
      message: expect.stringMatching(/^The mail server could not be used\./),
      isFinal: false,
    });
    expect(server.received).toEqual([]);
  });

  test("is not sent with a wrong password, which is not the receiver's fault", async () => {
    expect(await send(server.config({ auth: { user: "berth", pass: "wrong" } }))).toEqual({
      message: "The mail server answered 535 to AUTH.",
      isFinal: false,
    });
  });

  test.each([
    [421, false],
    [451, false],
    [550, true],
    [552, true],
  ])("that is refused with %d is tried again: %s", async (status, isFinal) => {
    server.refusal = () => status;
    expect(await send(server.config())).toMatchObject({ isFinal });
    server.refusal = () => 0;
    server.answer = () => status;
    expect(await send(server.config())).toMatchObject({ isFinal });
    server.answer = () => 0;
  });

  test("is not sent to a server that is away", async () => {
    expect(await send(server.config({ port: await freePort() }))).toEqual({
      message: "The mail server could not be used. The connection failed.",
      isFinal: false,
    });
  });

  test("ends its connection when it is aborted", async () => {
    server.answer = () => "stall";
    const aborting = new AbortController();
    const sending = send(server.config(), aborting.signal);
    await expect.poll(() => server.stalled).toBe(1);
    aborting.abort(new Error("late"));
    await expect(sending).rejects.toThrow("late");
    await expect.poll(() => server.connections).toBe(0);
    server.answer = () => 0;
  });

  test("is not sent before it is aborted", async () => {
    await expect(send(server.config(), AbortSignal.abort(new Error("late")))).rejects.toThrow("late");
    expect(server.received).toEqual([]);
  });
});

test.each([
  ["no SMTP", "HTTP/1.1 200 OK\r\n\r\n"],
  ["an endless line", "220 ".padEnd(3_000_000, "x")],
])("a server that speaks %s gets no mail", async (_, greeting) => {
  const sockets = new Set<Socket>();
  const other: Server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    socket.write(greeting);
  }).listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  expect(await send(server.config({ host: "127.0.0.1", port }))).toMatchObject({ isFinal: false });
  for (const socket of sockets) socket.destroy();
  other.close();
});

test("the token of a mail names its person, and no other token does", () => {
  const mail = mailBy(server.config());
  const tokenFor = (purpose: string) => sealer.seal("p1", purpose).toString("base64url");
  expect(mail.unsubscribed(tokenFor("unsubscribe"))).toBe("p1");
  for (const token of [tokenFor("profiles p1"), "", "x", "é".repeat(50)]) expect(mail.unsubscribed(token)).toBeNull();
});
