import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isProof } from "../../src/core/channel-proof.ts";
import { readJsonLine, writeJsonLine } from "../../src/core/socket-line.ts";
import { dialPort, openChannel } from "../../src/machines/connect.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// How a channel to a guest is opened: neither end trusts the other before it has proved that it knows the token.

let service: ScriptedService;
let id: string;
let token: string;

beforeAll(async () => {
  service = await ScriptedService.start();
  await service.client.createAgent("ada");
  id = (await service.driver.list())[0]!.id;
  token = await service.driver.token(id);
});
afterAll(() => service[Symbol.asyncDispose]());

const signal = () => AbortSignal.timeout(10_000);
const control = (tokens: string[]) => ({ channel: "control", tokens, handshake: "proof" }) as const;

test("the guest opens a channel for one of several tokens, and says which it knows", async () => {
  using socket = await dial();
  expect(await openChannel(socket.socket, control(["another", token]), 10_000)).toBe(token);
});

test("a server that does not know the token is refused, and so is one that sends it", async () => {
  {
    using socket = await dial();
    await expect(openChannel(socket.socket, control(["wrong"]), 10_000)).rejects.toThrow("does not know the token");
  }
  for (const proof of ["", "wrong", null]) {
    using socket = await dial();
    writeJsonLine(socket.socket, { channel: "control", nonce: "n" });
    const challenge = (await readJsonLine(socket.socket, signal())) as { nonce: string; proof: string };
    // Its own proof, sent back, is of the guest and not of the server.
    writeJsonLine(socket.socket, { proof: proof ?? challenge.proof });
    expect(await readJsonLine(socket.socket, signal())).toEqual({ ok: false, reason: "wrong token" });
  }
  for (const line of [{ channel: "control", token }, { channel: "elsewhere", nonce: "n" }, null, 1, "x".repeat(2000)]) {
    using socket = await dial();
    socket.socket.write(`${JSON.stringify(line)}\n`);
    const answer = (await readJsonLine(socket.socket, signal())) as { ok?: boolean; proof?: string };
    expect(answer.ok ?? "asks for a proof").not.toBe(true);
  }
});

test("a program on a dead machine's port learns no token", async () => {
  for (const answer of ["{}", '{"nonce":"n","proof":"wrong"}', '{"ok":true}', "no json", ""]) {
    const heard: string[] = [];
    const impostor = createServer((socket) => {
      socket.on("data", (chunk) => heard.push(chunk.toString())).on("error", () => {});
      if (answer) socket.write(`${answer}\n`);
      else socket.end();
    }).listen(0, "127.0.0.1");
    await once(impostor, "listening");
    using socket = disposable(await dialPort((impostor.address() as { port: number }).port));
    await expect(openChannel(socket.socket, control([token]), 2_000)).rejects.toThrow();
    expect(heard.join("")).not.toContain(token);
    const hello = JSON.parse(heard.join("").split("\n")[0] || '{"channel":"control","nonce":""}');
    expect(Object.keys(hello)).toEqual(["channel", "nonce"]);
    impostor.close();
  }
});

test("a proof is for one role, channel and pair of nonces", () => {
  const claim = { role: "guest", channel: "control", serverNonce: "s", guestNonce: "g" } as const;
  const good = "3ShdqWpOzaavogCaNtVEo5uFlVEq-12yAP_ALo3gX_A";
  expect(isProof(good, "the token", claim)).toBe(true);
  for (const other of [
    { ...claim, role: "server" as const },
    { ...claim, channel: "uplink" },
    { ...claim, serverNonce: "g", guestNonce: "s" },
  ]) {
    expect(isProof(good, "the token", other)).toBe(false);
  }
  expect(isProof(good, "another token", claim)).toBe(false);
  expect(isProof(undefined, "the token", claim)).toBe(false);
});

async function dial() {
  return disposable(await service.driver.dial(id));
}

function disposable(socket: Socket) {
  socket.on("error", () => {});
  return { socket, [Symbol.dispose]: () => void socket.destroy() };
}
