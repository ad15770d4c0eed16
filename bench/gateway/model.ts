import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

// A model server. It answers Anthropic's Messages API after 5 ms, then streams `max_tokens` words, one every 20 ms.
// Without `stream` it answers at once. Prints `{port}` and exits when its standard input closes.

const thinkMs = 5;
const paceMs = 20;

const server = createServer((request, response) => {
  let body = "";
  request.on("data", (chunk: Buffer) => {
    body += chunk.toString();
  });
  request.on("end", () => {
    if (request.method === "GET") return void response.end(JSON.stringify({ data: [{ id: "claude-haiku-4-5" }] }));
    const { max_tokens: words, stream } = JSON.parse(body) as { max_tokens: number; stream?: boolean };
    if (stream) void answer(response, words);
    else response.end(JSON.stringify({ type: "message", content: [], usage: { input_tokens: 9, output_tokens: 1 } }));
  });
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
console.log(JSON.stringify({ port: (server.address() as AddressInfo).port }));
process.stdin.resume();
await once(process.stdin, "end");
process.exit();

async function answer(response: ServerResponse, words: number): Promise<void> {
  await sleep(thinkMs);
  const send = (event: { type: string; [field: string]: unknown }) =>
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  response.writeHead(200, { "content-type": "text/event-stream" });
  send({ type: "message_start", message: { usage: { input_tokens: 9, output_tokens: 1 } } });
  for (let word = 0; word < words && !response.destroyed; word++) {
    await sleep(paceMs);
    send({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "word " } });
  }
  send({ type: "message_delta", usage: { output_tokens: words } });
  send({ type: "message_stop" });
  response.end();
}
