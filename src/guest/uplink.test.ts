import { once } from "node:events";
import { request } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import { type AddressInfo, connect, createServer } from "node:net";
import { expect, test } from "vitest";
import { Uplink } from "./uplink.ts";

test("a program that leaves while the server is away leaves no call behind", async () => {
  const uplink = new Uplink();
  const local = uplink.listen(0);
  await once(local, "listening");
  const { port } = local.address() as AddressInfo;

  const left = request({ port, host: "127.0.0.1", method: "POST", path: "/anthropic/v1/messages" });
  left.on("error", () => {});
  left.end("{}");
  await expect.poll(() => uplink.calls).toBe(1);
  left.destroy();
  const open = () => new Promise<number>((resolve) => local.getConnections((_, count) => resolve(count)));
  await expect.poll(open).toBe(0);

  const paths: string[] = [];
  const http2 = createHttp2Server((asked, response) => {
    paths.push(asked.url);
    response.end("an answer");
  });
  const gateway = createServer((socket) => http2.emit("connection", socket)).listen(0, "127.0.0.1");
  await once(gateway, "listening");
  const socket = connect((gateway.address() as AddressInfo).port, "127.0.0.1");
  await once(socket, "connect");
  uplink.attach(socket);
  expect(await (await fetch(`http://127.0.0.1:${port}/openai/v1/responses`)).text()).toBe("an answer");
  expect(paths).toEqual(["/openai/v1/responses"]);

  socket.destroy();
  gateway.close();
  local.close();
  local.closeAllConnections();
});

test("an answer without a body, which ends while answers are held, arrives", async () => {
  const uplink = new Uplink();
  const local = uplink.listen(0);
  await once(local, "listening");
  const arrived = Promise.withResolvers<void>();
  const http2 = createHttp2Server().on("stream", (stream) => {
    stream.respond({ ":status": 404 }, { endStream: true });
    const session = stream.session!;
    stream.once("close", () => session.ping(() => arrived.resolve()));
  });
  const gateway = createServer((socket) => http2.emit("connection", socket)).listen(0, "127.0.0.1");
  await once(gateway, "listening");
  const socket = connect((gateway.address() as AddressInfo).port, "127.0.0.1");
  await once(socket, "connect");
  uplink.attach(socket);

  const held = Promise.withResolvers<void>();
  uplink.hold(held.promise);
  const { port } = local.address() as AddressInfo;
  const asked = fetch(`http://127.0.0.1:${port}/skills/none/0`);
  await arrived.promise;
  held.resolve();
  const answer = await asked;
  expect([answer.status, await answer.text()]).toEqual([404, ""]);

  socket.destroy();
  gateway.close();
  local.close();
  local.closeAllConnections();
});
