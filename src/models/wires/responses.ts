import { errorOf, hostedTools, nameUser, openaiError, pinTariff, workOf } from "./chat.ts";
import { count, isRemote, type JsonObject, objectAt, objectsIn, textOf, type Wire } from "./wire.ts";

// OpenAI's Responses API: https://platform.openai.com/docs/api-reference/responses

export const responses: Wire = {
  name: "responses",
  provider: "openai",
  path: "/responses",
  streams: null,
  generates: true,
  adapt(request, { id, instructions }) {
    nameUser(request, id);
    pinTariff(request);
    // A background response never reports its usage here.
    if (request.background !== undefined) request.background = false;
    if (!instructions) return;
    const before = typeof request.instructions === "string" ? `${request.instructions}\n\n` : "";
    request.instructions = before + instructions;
  },
  remoteWork(request) {
    const items = objectsIn(request.input);
    const names = new Set([request, ...items].flatMap(({ tools }) => hostedTools(tools)));
    // A prompt stored at the provider may add tools.
    if (request.prompt !== undefined && request.prompt !== null) names.add("prompt");
    const parts = [
      ...items,
      ...items.map((item) => objectAt(item, "output")),
      ...items.flatMap(({ content, output }) => [...objectsIn(content), ...objectsIn(output)]),
    ];
    if (parts.some((part) => isRemote(part.image_url) || isRemote(part.file_url))) names.add("remote_files");
    return [...names].map(workOf);
  },
  read(event) {
    switch (event.type) {
      case "response.completed":
      case "response.incomplete":
        return { tokens: tokensOf(objectAt(event.response, "usage")), end: true };
      case "response.failed":
        return { error: errorOf(objectAt(event, "response")) ?? { status: 500, message: "The response failed." } };
      case "error":
        return { error: errorOf({ error: event })! };
      default:
        if (event.object === "response") return { tokens: tokensOf(objectAt(event, "usage")), end: true };
        // Text, reasoning and tool inputs alike.
        return String(event.type).endsWith(".delta") ? { text: textOf(event.delta) } : {};
    }
  },
  error: openaiError,
};

function tokensOf(usage: JsonObject) {
  return {
    ...count("input", usage.input_tokens),
    ...count("output", usage.output_tokens),
    ...count("cacheRead", objectAt(usage, "input_tokens_details").cached_tokens),
    ...count("reasoning", objectAt(usage, "output_tokens_details").reasoning_tokens),
  };
}
