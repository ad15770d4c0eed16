import type OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openAiOf } from "../support/openai-client.ts";
import { png } from "../support/pictures.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// The `openai` package, unmodified, with an agent as its model.

let service: ScriptedService;
let openai: OpenAI;

beforeAll(async () => {
  service = await ScriptedService.start();
  openai = openAiOf(service.client);
  await service.client.createAgent("ada");
});
afterAll(() => service[Symbol.asyncDispose]());

/** A fresh agent, since a test's turns are part of its agent's conversation. */
async function newAgent(name: string): Promise<string> {
  await service.client.createAgent(name);
  return name;
}

const image = {
  type: "input_image" as const,
  detail: "auto" as const,
  image_url: `data:image/png;base64,${png().toString("base64")}`,
};
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
  expect(data[0]).toMatchObject({ message: "What is this?", attachments: [{ kind: "image" }, { kind: "file" }, {}] });
  const bytes = async (name: string) => {
    const response = await client.fetch("GET", `/agents/${agent}/files/${folder}/${name}`);
    return Buffer.from(await response.arrayBuffer());
  };
  expect(await bytes("image-1.png")).toEqual(png());
  expect([await bytes("q3.pdf"), await bytes("3-q3.pdf")].map(String)).toEqual(["pdf", "pdf"]);
  const items = await Array.fromAsync(await openai.responses.inputItems.list(first.body.id));
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
  expect((await client.call("GET", `/agents/${agent}/uploads`)).body).toMatchObject({ data: [] });
});

test("a broken image is refused with its part", async () => {
  const agent = await newAgent("broken");
  const lying = { ...image, image_url: image.image_url.replace("image/png", "image/jpeg") };
  await expect(
    openai.responses.create({ model: agent, input: [{ role: "user", content: [lying] }] }),
  ).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining("input.0.content.0: mediaType is image/jpeg"),
  });
  expect((await service.client.call("GET", `/agents/${agent}/turns`)).body.data).toEqual([]);
});

test("a turn fails where its files cannot be written", async () => {
  const agent = await newAgent("unwritten");
  const input = [{ role: "user" as const, content: [image] }];
  await service.client.call("PUT", `/agents/${agent}/files/inbox`, "a file");
  const response = await openai.responses.create({ model: agent, input });
  expect(response).toMatchObject({ status: "failed", error: { message: expect.stringContaining("not a folder") } });
});
