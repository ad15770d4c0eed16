import OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ScriptedService } from "../support/scripted-service.ts";

// The `openai` package, unmodified, with an agent as its model.

let service: ScriptedService;
let openai: OpenAI;

beforeAll(async () => {
  service = await ScriptedService.start();
  openai = new OpenAI({ baseURL: `${service.client.url}/v1`, apiKey: service.client.key, maxRetries: 0 });
  await service.client.createAgent("ada");
});
afterAll(() => service[Symbol.asyncDispose]());

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** A fresh agent, since a test's turns are part of its agent's conversation. */
async function newAgent(name: string): Promise<string> {
  await service.client.createAgent(name);
  return name;
}

const image = { type: "input_image" as const, detail: "auto" as const, image_url: "data:image/png;base64,aW1hZ2U=" };
const pdf = { type: "input_file" as const, filename: "../q3.pdf", file_data: "data:application/pdf;base64,cGRm" };

test("images and files of a message are in the agent's machine, and the message names them", async () => {
  const agent = await newAgent("attached");
  const { client } = service;
  const content = [{ type: "input_text" as const, text: "What is this?" }, image, pdf, pdf];
  const request = { model: agent, input: [{ role: "user" as const, content }] };
  const key = { "idempotency-key": "attached-1" };
  const first = await client.call("POST", "/v1/responses", request, key);
  const { data } = (await client.call("GET", `/agents/${agent}/turns`)).body;
  const folder = `inbox/${data[0].id}`;
  const [message, list] = data[0].message.split("\n\n");
  expect(message).toBe("What is this?");
  expect(list.split("\n")).toEqual([
    "Attached files:",
    ...["image-1.png", "q3.pdf", "3-q3.pdf"].map((name) =>
      expect.stringMatching(new RegExp(`^/.*/${folder}/${name}$`)),
    ),
  ]);
  const read = async (name: string) => (await client.fetch("GET", `/agents/${agent}/files/${folder}/${name}`)).text();
  expect([await read("image-1.png"), await read("q3.pdf"), await read("3-q3.pdf")]).toEqual(["image", "pdf", "pdf"]);
  const items = await all(await openai.responses.inputItems.list(first.body.id));
  expect(items).toMatchObject([{ content: [content[0], { ...image, image_url: null }, { type: "input_file" }, {}] }]);
  const again = await client.call("POST", "/v1/responses", request, key);
  expect(again.body.id).toBe(first.body.id);
  expect((await client.call("GET", `/agents/${agent}/files/inbox`)).body.data).toHaveLength(1);
});

test("chat completions take images and files too, without a word", async () => {
  const agent = await newAgent("chat-attached");
  const content = [
    { type: "image_url" as const, image_url: { url: image.image_url } },
    { type: "file" as const, file: { filename: "q3.pdf", file_data: pdf.file_data } },
  ];
  const { choices } = await openai.chat.completions.create({ model: agent, messages: [{ role: "user", content }] });
  expect(choices[0]!.message.content).toMatch(/^Attached files:\n\/.*\/image-1\.png\n\/.*\/q3\.pdf$/);
});

test("files of a message that cannot be queued are removed", async () => {
  const agent = await newAgent("full");
  const { client } = service;
  const input = [{ role: "user" as const, content: [image] }];
  const begun = await openai.responses.create({ model: agent, input: "hang", background: true });
  for (let count = 0; count < 20; count++) {
    await openai.responses.create({ model: agent, input: "wait", background: true });
  }
  await expect(openai.responses.create({ model: agent, input })).rejects.toMatchObject({ code: "queue_full" });
  await openai.responses.cancel(begun.id);
  expect((await client.call("GET", `/agents/${agent}/files/inbox`)).body).toMatchObject({ data: [] });
});

test("no turn begins where its files cannot be written", async () => {
  const agent = await newAgent("unwritten");
  const { client } = service;
  const input = [{ role: "user" as const, content: [image] }];
  await client.call("PUT", `/agents/${agent}/files/inbox`, "a file");
  await expect(openai.responses.create({ model: agent, input })).rejects.toMatchObject({ code: "not_a_folder" });
  expect((await client.call("GET", `/agents/${agent}/turns`)).body.data).toEqual([]);
});

test("a turn whose agent's conversation was reset while its attachments waited begins in the new one", async () => {
  const agent = await newAgent("reset");
  await service.client.call("POST", `/agents/${agent}/suspend`);
  const gate = Promise.withResolvers<void>();
  service.driver.gate = gate.promise;
  const content = [{ type: "input_text" as const, text: "hello" }, image];
  const answer = openai.responses.create({ model: agent, input: [{ role: "user", content }] });
  await expect.poll(() => service.driver.waiting).toBe(1);
  expect((await service.client.call("POST", `/agents/${agent}/conversation/reset`)).status).toBe(200);
  service.driver.gate = Promise.resolve();
  gate.resolve();
  const { id } = await answer;
  const [turn] = (await service.client.call("GET", `/agents/${agent}/turns`)).body.data;
  expect(turn.conversation).toBe(2);
  const next = await openai.responses.create({ model: agent, input: "count 2", previous_response_id: id });
  expect(next.output_text).toBe("1 2 ");
});
