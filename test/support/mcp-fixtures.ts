import { completable, type McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import { z } from "zod";

// Names that the conformance suite calls (examples/servers in its repository): contents of each kind, and nothing more.

/** One pixel. */
const image = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/** No sound at all. */
const audio = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

const text = (said: string) => ({ type: "text", text: said }) as const;
const picture = { type: "image", data: image, mimeType: "image/png" } as const;
const embedded = (uri: string, mimeType: string, content: string) =>
  ({ type: "resource", resource: { uri, mimeType, text: content } }) as const;

/** Adds the suite's tools, resources and prompts. */
export function addFixtures(server: McpServer): void {
  addTools(server);
  addResources(server);
  addPrompts(server);
}

function addTools(server: McpServer): void {
  const answers = {
    test_simple_text: [text("This is a simple text response for testing.")],
    test_image_content: [picture],
    test_audio_content: [{ type: "audio", data: audio, mimeType: "audio/wav" } as const],
    test_embedded_resource: [
      embedded("test://embedded-resource", "text/plain", "This is an embedded resource content."),
    ],
    test_multiple_content_types: [
      text("Multiple content types test:"),
      picture,
      embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
  };
  for (const [name, content] of Object.entries(answers)) {
    server.registerTool(name, { description: `Answers ${name}` }, async () => ({ content }));
  }
  const error = "This tool intentionally returns an error for testing";
  server.registerTool("test_error_handling", { description: "Fails" }, async () => {
    throw new Error(error);
  });
  server.registerTool("test_tool_with_progress", { description: "Tells its progress" }, async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken ?? 0;
    for (const progress of [0, 50, 100]) {
      const params = { progressToken, progress, total: 100, message: `${progress} of 100` };
      await mcpReq.notify({ method: "notifications/progress", params });
    }
    return { content: [text(String(progressToken))] };
  });
  for (const name of ["test_tool_with_logging", "test_logging_tool"]) {
    server.registerTool(name, { description: "Logs" }, async ({ mcpReq }) => {
      for (const said of ["started", "processing", "completed"]) await mcpReq.log("info", `Tool ${said}`);
      return { content: [text("done")] };
    });
  }
}

function addResources(server: McpServer): void {
  const plain = { mimeType: "text/plain" };
  server.registerResource("static-text", "test://static-text", plain, async ({ href: uri }) => ({
    contents: [{ uri, ...plain, text: "This is the content of the static text resource." }],
  }));
  const binary = { mimeType: "image/png" };
  server.registerResource("static-binary", "test://static-binary", binary, async ({ href: uri }) => ({
    contents: [{ uri, ...binary, blob: image }],
  }));
  const template = new ResourceTemplate("test://template/{id}/data", { list: undefined });
  const json = { mimeType: "application/json" };
  server.registerResource("template", template, json, async ({ href: uri }, { id }) => ({
    contents: [{ uri, ...json, text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }) }],
  }));
}

function addPrompts(server: McpServer): void {
  const said = (...content: (ReturnType<typeof text> | typeof picture | ReturnType<typeof embedded>)[]) => ({
    messages: content.map((each) => ({ role: "user" as const, content: each })),
  });
  server.registerPrompt("test_simple_prompt", { description: "A prompt" }, async () =>
    said(text("This is a simple prompt for testing.")),
  );
  const word = (name: string) => completable(z.string().meta({ description: name }), () => ["paris", "park"]);
  const argsSchema = z.object({ arg1: word("First test argument"), arg2: word("Second test argument") });
  server.registerPrompt(
    "test_prompt_with_arguments",
    { description: "Arguments", argsSchema },
    async ({ arg1, arg2 }) => said(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  );
  const ofResource = z.object({ resourceUri: z.string() });
  server.registerPrompt(
    "test_prompt_with_embedded_resource",
    { description: "A resource", argsSchema: ofResource },
    async ({ resourceUri }) =>
      said(embedded(resourceUri, "text/plain", "Embedded resource content for testing."), text("Please process it.")),
  );
  server.registerPrompt("test_prompt_with_image", { description: "An image" }, async () =>
    said(picture, text("Please analyze the image above.")),
  );
}
