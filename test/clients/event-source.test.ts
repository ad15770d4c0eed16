import { EventSource } from "eventsource";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ScriptedService } from "../support/scripted-service.ts";

// The package `eventsource`, which does as browsers do: it reconnects until the service has nothing more to send.

let service: ScriptedService;
beforeAll(async () => {
  service = await ScriptedService.start({ stallMs: 2_000 });
  await service.client.createAgent("ada");
});
afterAll(() => service[Symbol.asyncDispose]());

/** The data of all messages, until the source closes, which it does only if it is sent away. */
async function followed(path: string): Promise<{ data: string[]; code: number | undefined }> {
  const { url, key } = service.client;
  const authorized: typeof fetch = (address, init) =>
    fetch(address, { ...init, headers: { ...(init?.headers as object), authorization: `Bearer ${key}` } });
  const source = new EventSource(url + path, { fetch: authorized as never });
  const data: string[] = [];
  source.addEventListener("message", (event) => data.push(event.data));
  const { promise: closed, resolve } = Promise.withResolvers<number | undefined>();
  source.addEventListener("error", ({ code }) => {
    if (source.readyState === source.CLOSED) resolve(code);
  });
  // The events of responses have names.
  for (const type of ["response.created", "response.completed", "response.failed", "response.incomplete"])
    source.addEventListener(type, (event) => data.push(event.data));
  return { code: await closed, data };
}

const typesIn = (data: string[]) => data.map((each) => (each === "[DONE]" ? each : JSON.parse(each).type));

test("an EventSource stops after the end of each turn, however it ended", async () => {
  const { client } = service;
  const events = (id: string) => `/agents/ada/turns/${id}/events`;
  const { turnId: completed } = await client.chat("ada", "hello");
  const { turnId: failed } = await client.chat("ada", "crash");
  const running = await client.fetch("POST", "/agents/ada/chat", { message: "hang until cancelled" });
  const cancelled = running.headers.get("x-turn-id")!;
  const waiting = await client.fetch("POST", "/agents/ada/chat", { message: "later", whenBusy: "queue" });
  const dropped = waiting.headers.get("x-turn-id")!;
  const live = followed(events(cancelled));
  for (const id of [dropped, cancelled]) await client.call("POST", `${events(id).slice(0, -7)}/cancel`);
  await Promise.all([running.text(), waiting.text()]);
  const ends: [string, string][] = [
    [events(completed), "response.completed"],
    [events(failed), "response.failed"],
    [events(cancelled), "response.cancelled"],
    [events(dropped), "response.cancelled"],
    [`${events(failed)}?after=999`, "response.failed"],
  ];
  const all = await Promise.all([live, ...ends.map(([path]) => followed(path))]);
  const last = all.map(({ code, data }) => [code, typesIn(data).filter((type) => !/delta|message/.test(type))]);
  expect(last).toEqual([["response.cancelled"], ...ends.map(([, type]) => [type])].map((types) => [204, types]));
});

test("an EventSource stops after the end of each response, and resumes from its last event", async () => {
  const { client } = service;
  const respond = async (input: string) => (await client.call("POST", "/v1/responses", { model: "ada", input })).body;
  const [completed, failed] = [await respond("count 3"), await respond("crash")];
  const of = ({ id }: { id: string }) => `/v1/responses/${id}?stream=true`;
  const after = await client.fetch("GET", of(completed), undefined, { "last-event-id": "1" });
  const [whole, resumed] = [await (await client.fetch("GET", of(completed))).text(), await after.text()];
  expect(whole.endsWith(resumed)).toBe(true);
  expect(resumed.split("\n")[0]).toBe("id: 2");
  const last = /id: (\d+)\nevent: response.completed/.exec(whole)![1];
  const [first, second, third] = await Promise.all(
    [of(completed), of(failed), `${of(completed)}&starting_after=${last}`].map(followed),
  );
  expect([first!.code, typesIn(first!.data)]).toEqual([204, ["response.created", "response.completed", "[DONE]"]]);
  expect([second!.code, typesIn(second!.data)]).toEqual([204, ["response.created", "response.failed", "[DONE]"]]);
  expect([third!.code, typesIn(third!.data)]).toEqual([204, ["[DONE]"]]);
});

test("an EventSource stops after the end of a command, an installation and a machine's log", async () => {
  const { client } = service;
  const command = await client.call("POST", "/agents/ada/commands", { command: "echo hi", detach: true });
  await client.createAgent("asleep");
  expect((await client.call("POST", "/agents/asleep/suspend")).status).toBeLessThan(300);
  await expect.poll(async () => (await client.call("GET", "/agents/asleep")).body.status).toBe("suspended");
  const [exited, installed, logged] = await Promise.all(
    [
      `/agents/ada/commands/${command.body.id}/events`,
      "/agents/ada/install-status",
      "/agents/asleep/logs?follow=true",
    ].map(followed),
  );
  expect([exited!.code, typesIn(exited!.data).at(-1)]).toEqual([204, "command.exited"]);
  expect([installed!.code, installed!.data.length, JSON.parse(installed!.data[0]!).status]).toEqual([
    204,
    1,
    "installed",
  ]);
  expect([logged!.code, JSON.parse(logged!.data.at(-1)!)]).toEqual([204, { ended: true }]);
});
