import { once } from "node:events";
import type { RequestListener, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Certified, certify, makeAuthority, makeKeys } from "../egress/authority.ts";
import { DirectoryRequests } from "./directory-requests.ts";

let authority: Certified;
let server: Server;
let answer: RequestListener = () => {};
beforeAll(async () => {
  authority = await makeAuthority("test");
  const { certificate, key } = await certify(authority, { kind: "address", text: "127.0.0.1" }, await makeKeys());
  server = createServer({ cert: certificate, key }, (request, response) => answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterAll(async () => {
  server.close();
  server.closeAllConnections();
  await once(server, "close");
});

const url = (path = "/") => `https://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
const opened = (signal = new AbortController().signal) => new DirectoryRequests(authority.certificate, "1.0.0", signal);

test("a directory that is silent, or sends a byte now and then, is given up", async () => {
  const open: ServerResponse[] = [];
  answer = (request, response) => {
    open.push(response);
    if (request.url === "/slow") response.writeHead(200).write("{");
  };
  const dripping = setInterval(() => {
    for (const response of open) if (response.headersSent) response.write(" ");
  }, 500);
  const requests = opened();
  const late = /^The directory at 127\.0\.0\.1:\d+ did not respond within 15 s/;
  await Promise.all(
    ["/silent", "/slow"].map((path) => expect(requests.request(url(path), "get")).rejects.toThrow(late)),
  );
  clearInterval(dripping);
  requests.close();
});

test("a request ends when the server stops", async () => {
  const stop = new AbortController();
  const began = Promise.withResolvers<void>();
  answer = () => began.resolve();
  const requests = opened(stop.signal);
  const asked = requests.request(url(), "get");
  await began.promise;
  stop.abort(new Error("stopped"));
  await expect(asked).rejects.toThrow("stopped");
  requests.close();
});

test("an order has a limit of requests", async () => {
  answer = (_, response) => response.end();
  const requests = opened();
  for (let left = 300; left > 0; left--) await requests.request(url(), "get");
  await expect(requests.request(url(), "get")).rejects.toThrow("The order took more than 300 requests.");
  requests.close();
});

test("a response keeps its status, headers and text, and a bad nonce is left to the library", async () => {
  const requests = opened();
  answer = ({ headers }, response) => response.writeHead(200, { "retry-after": "7" }).end(headers["user-agent"]);
  expect(await requests.request(url(), "get")).toMatchObject({ status: 200, data: "berth/1.0.0" });
  expect(requests.retryAfterMs).toBe(7_000);
  const bad = { type: "urn:ietf:params:acme:error:badNonce", detail: "again" };
  answer = (_, response) =>
    response.writeHead(400, { "content-type": "application/problem+json" }).end(JSON.stringify(bad));
  expect(await requests.request(url(), "post", { data: {} })).toMatchObject({ status: 400, data: bad });
  requests.close();
});
