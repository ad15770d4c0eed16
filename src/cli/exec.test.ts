import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { refuse, ScriptedApi } from "../../test/support/scripted-api.ts";

// Cases that the real service cannot be made to produce; the rest is in test/api/tool-exec.test.ts.

const id = "7c0a8e5e-8f27-4c0c-9a33-1c5f3f0d9a11";
const path = `/agents/ada/commands/${id}`;

let api: ScriptedApi;
/** The stream of the command's events. */
let events: ServerResponse;
beforeAll(async () => {
  api = await ScriptedApi.listen();
});
afterAll(() => api[Symbol.dispose]());
beforeEach(() => {
  api.clear();
  api.answers["POST /agents/ada/commands"] = [
    (response) => {
      events = response;
      response.writeHead(200, { "content-type": "text/event-stream", "x-command-id": id });
      response.flushHeaders();
    },
  ];
});

function send(...all: object[]): void {
  for (const event of all) events.write(`data: ${JSON.stringify(event)}\n\n`);
}

function exited(exitCode: number | null, signal: string | null = null) {
  return { type: "command.exited", exitCode, signal, timedOut: false, lost: false };
}

test("a command whose input cannot be sent is killed, and the tool says why", async () => {
  api.answers[`POST ${path}/stdin?end=false`] = [refuse(500, "The service is broken.", "internal")];
  api.answers[`POST ${path}/signal`] = [
    (response, { body }) => {
      expect(JSON.parse(body)).toEqual({ signal: "SIGKILL" });
      response.writeHead(204).end();
      send(exited(null, "SIGKILL"));
    },
  ];
  const { code, stderr } = await api.berth(["exec", "ada", "cat"], { input: "hello" });
  expect([code, stderr]).toEqual([1, expect.stringContaining("could not be sent: The service is broken.")]);
});

test("a command whose input cannot be taken yet gets it later, and its end", async () => {
  const full = refuse(409, "The command does not read its input.", "command_input_full");
  const accept = (response: ServerResponse) => response.writeHead(204).end();
  api.answers[`POST ${path}/stdin?end=false`] = [full, full, accept];
  api.answers[`POST ${path}/stdin?end=true`] = [
    full,
    (response) => {
      accept(response);
      send(exited(0));
    },
  ];
  expect(await api.berth(["exec", "ada", "cat"], { input: "hello" })).toEqual({ code: 0, stdout: "", stderr: "" });
  expect(api.seen.map(({ body }) => body).slice(1)).toEqual(["hello", "hello", "hello", "", ""]);
});

test("a command whose output is incomplete fails", async () => {
  api.answers[`POST ${path}/stdin?end=true`] = [
    (response) => {
      response.writeHead(204).end();
      send({ type: "command.output_dropped", bytes: 12 }, { type: "command.stdout", text: "rest" }, exited(0));
    },
  ];
  const { code, stdout, stderr } = await api.berth(["exec", "ada", "cat BIG"]);
  expect([code, stdout, stderr]).toEqual([1, "rest", expect.stringContaining("12 bytes are lost")]);
});
