import { on } from "node:events";
import { readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { WebSocket } from "ws";
import type { TestClient } from "./client.ts";

// A client of Open Responses that checks all that it gets against the schemas of the OpenAPI document.

// biome-ignore lint/suspicious/noExplicitAny: a test looks into events of every shape
type Json = any;

const { components } = JSON.parse(readFileSync(new URL("../../docs/openapi.json", import.meta.url), "utf8"));
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema({ $id: "document", components });
const validators = new Map<string, ValidateFunction>();

/** Throws if a value does not match a schema of the document. */
export function requireSchema(name: string, value: Json): void {
  let validate = validators.get(name);
  if (!validate) {
    validate = ajv.compile({ $ref: `document#/components/schemas/${name}` });
    validators.set(name, validate);
  }
  if (validate(value)) return;
  throw new Error(`${value?.type ?? name}: ${ajv.errorsText(validate.errors)}: ${JSON.stringify(value).slice(0, 500)}`);
}

/** The events of a response, up to its last one, or to an error. */
export interface Turn {
  events: Json[];
  /** The response of the last event; null after an error. */
  response: Json | null;
  /** The code of the error; null without one. */
  code: string | null;
}

const last = new Set(["response.completed", "response.failed", "response.incomplete"]);

function checked(events: Json[]): Turn {
  for (const event of events) requireSchema("OpenAiResponseEvent", event);
  const numbers = events.map(({ sequence_number: number }) => number);
  if (numbers.some((number, index) => number !== index)) throw new Error(`The events are numbered ${numbers}.`);
  const end = events.at(-1);
  if (!last.has(end?.type)) throw new Error(`The stream ends with ${end?.type}.`);
  return { events, response: end.response, code: null };
}

/** A request over HTTP, as an object. */
export async function post(client: TestClient, path: string, body: object): Promise<{ status: number; body: Json }> {
  const { status, body: answer } = await client.call("POST", `/v1${path}`, body);
  return { status, body: answer };
}

/** A request over HTTP, as a stream of events. */
export async function stream(client: TestClient, body: object): Promise<Turn> {
  const response = await client.fetch("POST", "/v1/responses", { ...body, stream: true });
  const events = response.body!.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  const seen: Json[] = [];
  for await (const { event, data } of events) {
    if (data === "[DONE]") return checked(seen);
    const parsed = JSON.parse(data);
    if (parsed.type !== event) throw new Error(`The event ${event} has the type ${parsed.type}.`);
    seen.push(parsed);
  }
  throw new Error("The stream ends without [DONE].");
}

/** Requests over one WebSocket, one after the other. Each may use the turns before it. */
export async function session(client: TestClient, steps: ((turns: Turn[]) => object)[]): Promise<Turn[]> {
  const socket = new WebSocket(`${client.url.replace("http", "ws")}/v1/responses`, {
    headers: { authorization: `Bearer ${client.key}` },
  });
  const frames = on(socket, "message", { close: ["close"] });
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  const turns: Turn[] = [];
  try {
    for (const step of steps) {
      socket.send(JSON.stringify({ type: "response.create", ...step(turns) }));
      const seen: Json[] = [];
      for (;;) {
        const { value, done } = await frames.next();
        if (done) throw new Error("The connection closed before the response's end.");
        const event = JSON.parse(String(value[0]));
        if (event.type === "error") {
          turns.push({ events: seen, response: null, code: event.error.code });
          break;
        }
        seen.push(event);
        if (!last.has(event.type)) continue;
        turns.push(checked(seen));
        break;
      }
    }
    return turns;
  } finally {
    socket.close();
  }
}
