import { isObject, type JsonObject, objectAt, objectsIn } from "../wires/wire.ts";
import { type Dialect, newId, type Part, type Reply, type Tokens, wordsIn } from "./dialect.ts";

/** Google's Gemini API: https://ai.google.dev/api/generate-content */
export const geminiDialect: Dialect = {
  read({ contents, tools }) {
    if (!Array.isArray(contents) || !areAnswered(objectsIn(contents))) return null;
    const mine = objectsIn(contents).filter(({ role }) => role !== "model");
    const offered = objectsIn(tools).flatMap(({ functionDeclarations }) => objectsIn(functionDeclarations));
    return {
      turns: mine.flatMap(({ parts }) => messagesIn(objectsIn(parts))),
      tools: offered.map(({ name }) => String(name)),
    };
  },
  whole: (reply, model, tokens) => answerOf(newId(""), model, tokens, partIn(reply), true),
  *stream(reply, model, tokens) {
    const id = newId("");
    if (reply.kind === "text") {
      const words = wordsIn(reply.text);
      for (const text of words.slice(0, -1)) {
        yield { data: answerOf(id, model, { ...tokens, output: 1 }, { text }, false), word: true };
      }
      yield { data: answerOf(id, model, tokens, { text: words.at(-1) ?? "" }, true) };
    } else {
      yield { data: answerOf(id, model, tokens, partIn(reply), true) };
    }
  },
};

/** Whether the results of each content's calls are in the next one, as Google requires. */
function areAnswered(contents: JsonObject[]): boolean {
  const count = (content: JsonObject | undefined, name: string) =>
    objectsIn(content?.parts).filter((part) => part[name] !== undefined).length;
  return contents.every((content, index) => {
    return count(content, "functionCall") === count(contents[index + 1], "functionResponse");
  });
}

/** The messages in a content: gemini-cli joins one that was not answered with the next. Each begins with its text. */
function messagesIn(parts: JsonObject[]): Part[][] {
  const messages: Part[][] = [];
  for (const part of parts) {
    if (typeof part.text === "string" || messages.length === 0) messages.push([]);
    messages.at(-1)!.push(partOf(part));
  }
  return messages;
}

function partOf(part: JsonObject): Part {
  if (isObject(part.functionResponse)) {
    const { response } = part.functionResponse;
    const { output, error } = isObject(response) ? response : {};
    const result = output ?? error ?? response;
    return { kind: "result", text: typeof result === "string" ? plain(result) : JSON.stringify(result ?? {}) };
  }
  if (typeof part.text === "string") return { kind: "words", text: part.text };
  const isImage = String(objectAt(part, "inlineData").mimeType).startsWith("image/");
  return { kind: "words", text: isImage ? "(an image)" : "" };
}

/** A result without what gemini-cli puts around it. */
function plain(result: string): string {
  const inner = /^<untrusted_context>\n([\s\S]*?)\n<\/untrusted_context>$/.exec(result)?.[1] ?? result;
  return inner.replace(/^Output: /, "").replace(/\nProcess Group PGID: \d+$/, "");
}

function partIn(reply: Reply): JsonObject {
  return reply.kind === "text"
    ? { text: reply.text }
    : { functionCall: { id: newId("call_"), name: reply.tool, args: reply.input } };
}

function answerOf(responseId: string, model: string, tokens: Tokens, part: JsonObject, isLast: boolean): JsonObject {
  const { input, output } = tokens;
  return {
    candidates: [{ content: { role: "model", parts: [part] }, index: 0, ...(isLast ? { finishReason: "STOP" } : {}) }],
    usageMetadata: { promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: input + output },
    modelVersion: model,
    responseId,
  };
}
