import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DemoServer } from "../../src/models/demo/demo-server.ts";
import { eventsOf, type TestClient } from "../support/client.ts";
import { guestPackages } from "../support/guest-packages.ts";
import { ModelProxy } from "../support/model-proxy.ts";
import { jpeg, png } from "../support/pictures.ts";
import { modelOf, providersAt, realModels, runtimes } from "../support/real-runtimes.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// The real runtimes that give images to their models, each as a process of this host.

let provider: DemoServer;
let proxy: ModelProxy;
let service: ScriptedService;
let client: TestClient;

beforeAll(async () => {
  provider = await DemoServer.start(realModels);
  proxy = await new ModelProxy(provider.url).listen();
  service = await ScriptedService.start(providersAt(proxy.url), { runtimes, packages: await guestPackages() });
  client = service.client;
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
  provider[Symbol.dispose]();
});

interface Block {
  type: string;
  /** Anthropic's. */
  source?: { type: string; media_type: string; data: string };
  /** OpenAI's, a data URL. */
  image_url?: string;
  /** Google's. */
  inlineData?: { mimeType: string; data: string };
}

/** The images in the last request with tools: one of a turn. */
function imagesSent(): (string | undefined)[][] {
  const { body } = proxy.asked.findLast(({ body }) => body.tools?.length > 0)!;
  const messages = (body.input ?? body.messages ?? body.contents) as { content?: string | Block[]; parts?: Block[] }[];
  const blocks = messages.flatMap<string | Block>(({ content, parts }) => content ?? parts ?? []);
  return blocks.flatMap((block) => {
    if (typeof block === "string") return [];
    if (block.inlineData) return [[block.inlineData.mimeType, block.inlineData.data]];
    if (block.type === "image") return [[block.source!.media_type, block.source!.data]];
    return block.type === "input_image" ? [/^data:(.*);base64,(.*)$/.exec(block.image_url!)!.slice(1)] : [];
  });
}

describe.each(runtimes.map(({ name }) => name))("%s", (runtime) => {
  const agent = `seeing-${runtime}`;
  /** OpenClaw sends the model the images of the last message alone. */
  const keepsImages = runtime !== "openclaw";
  let home: string;

  beforeAll(async () => {
    const before = await service.server.machines.list();
    await client.createAgent(agent, { runtime, model: modelOf(runtime) });
    const made = (await service.server.machines.list()).find(({ id }) => before.every((each) => each.id !== id));
    home = join(service.config.dataFolder, "machines", made!.id);
  });

  async function say(content: object[]) {
    const response = await client.fetch("POST", `/agents/${agent}/chat`, { content });
    const events = await Array.fromAsync(eventsOf(response));
    const said = events.map(({ event }) => (event.type === "response.output_text.delta" ? event.delta : "")).join("");
    expect(events.at(-1)!.event.type).toBe("response.completed");
    return { said, id: response.headers.get("x-turn-id")! };
  }

  test("the model sees a message's images, and those of earlier ones if the runtime keeps them", async () => {
    const image = { type: "image", data: png().toString("base64") };
    const photo = { type: "image", data: jpeg.toString("base64"), name: "photo.jpg" };
    const first = await say([{ type: "text", text: "Look at this." }, image, photo]);
    expect(first.said).toContain("(an image)\n(an image)");
    const both = [
      ["image/png", image.data],
      ["image/jpeg", photo.data],
    ];
    expect(imagesSent()).toEqual(both);
    expect(await readFile(join(home, "inbox", first.id, "photo.jpg"))).toEqual(jpeg);
    await say([{ type: "text", text: "And now?" }]);
    expect(imagesSent()).toEqual(keepsImages ? both : []);
  });

  test("the agent's tools open a file by the path in the message", async () => {
    const file = { type: "file", data: Buffer.from("canary").toString("base64"), name: "メモ.txt" };
    const { said } = await say([{ type: "text", text: "run: cat ~/inbox/*/メモ.txt" }, file]);
    expect(said).toContain("canary");
    expect(imagesSent()).toHaveLength(keepsImages ? 2 : 0);
  });

  test("a message of an image alone, whose text begins like a command, is a message", async () => {
    const { said } = await say([
      { type: "text", text: "/clear" },
      { type: "image", data: jpeg.toString("base64") },
    ]);
    expect(said).toContain("/clear");
    expect(imagesSent()).toHaveLength(keepsImages ? 3 : 1);
  });
});
