import { ResponsesWS } from "openai/resources/responses/ws";
import { expect, test } from "vitest";
import { openAiOf } from "../support/openai-client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

/** The types of a socket's events and the codes of its errors, until it closes. */
function heardOn(socket: ResponsesWS) {
  const heard: string[] = [];
  const { promise: begun, resolve: begin } = Promise.withResolvers<string>();
  const { promise: closed, resolve: close } = Promise.withResolvers<number>();
  socket.on("event", (event) => {
    if (event.type === "response.created") begin(event.response.id);
    heard.push(event.type === "error" ? (event as never as { error: { code: string } }).error.code : event.type);
  });
  socket.on("error", () => {});
  socket.on("close", (code) => close(code));
  return { heard, begun, closed };
}

test("a WebSocket whose time is over finishes its response, and another continues", async () => {
  await using service = await ScriptedService.start({ responseSocketMs: 3_000 });
  await service.client.createAgent("ada");
  const openai = openAiOf(service.client);
  const busy = new ResponsesWS(openai);
  const { heard, begun, closed } = heardOn(busy);
  // Longer than the connection's time. The second request comes too late to be answered here.
  busy.send({ type: "response.create", model: "ada", input: "count 100 50" });
  busy.send({ type: "response.create", model: "ada", input: "late" });
  const idle = heardOn(new ResponsesWS(openai));
  expect([await closed, await idle.closed]).toEqual([1000, 1000]);
  expect(heard.slice(-2)).toEqual(["response.completed", "websocket_connection_limit_reached"]);
  expect(heard.filter((each) => each === "response.created")).toHaveLength(1);
  expect(idle.heard).toEqual(["websocket_connection_limit_reached"]);
  const next = new ResponsesWS(openai);
  const later = heardOn(next);
  next.send({ type: "response.create", model: "ada", input: "late", previous_response_id: await begun });
  await later.closed;
  expect(later.heard).toContain("response.completed");
});
