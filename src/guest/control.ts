import { once } from "node:events";
import { createServer, type Http2Server, type ServerHttp2Stream } from "node:http2";
import {
  type Activity,
  type Adoption,
  type Exec,
  type GuestSecrets,
  type Health,
  type Prompt,
  type Quiesced,
  timeHeader,
} from "../contract/guest.ts";
import type { Conversation } from "./conversation.ts";
import type { Journal, Journals } from "./journal.ts";

/** What the control channel can ask of the guest. */
export interface ControlHandlers {
  /** Sets the clock where it is behind, in milliseconds since 1970. */
  atLeast(time: number): Promise<void>;
  conversation: Conversation;
  journals: Journals;
  health(): Health;
  /** `peerPort`: the other end of the connection that the call came on, which is the only one that stays. */
  adopt(adoption: Adoption, peerPort: number): Promise<void>;
  provide(secrets: GuestSecrets): Promise<void>;
  quiesce(): Promise<Quiesced>;
  activity(): Promise<Activity>;
  log(tail: number, follow: boolean, signal: AbortSignal): AsyncIterable<string>;
  exec(command: Exec): Promise<unknown>;
}

/** The HTTP/2 server of the control channel; connections are handed to it after their hello. */
export function controlServer(handlers: ControlHandlers): Http2Server {
  const server = createServer();
  server.on("sessionError", () => {});
  server.on("stream", (stream, headers) => {
    stream.on("error", () => {});
    const url = new URL(String(headers[":path"]), "http://guest");
    const method = String(headers[":method"]);
    // The adoption sets the clock itself.
    const timed = url.pathname === "/adopt" ? Promise.resolve() : handlers.atLeast(Number(headers[timeHeader] ?? 0));
    timed
      .then(() => route(handlers, stream, method, url))
      .catch((error: Error) => {
        console.error(`${method} ${url.pathname}: ${error.stack}`);
        if (!stream.headersSent && !stream.destroyed) answer(stream, 500, { message: error.message });
        else stream.close();
      });
  });
  return server;
}

async function route(handlers: ControlHandlers, stream: ServerHttp2Stream, method: string, url: URL): Promise<void> {
  const [resource, id, verb] = url.pathname.slice(1).split("/");
  switch (`${method} ${resource === "turns" ? ["turns", verb].filter(Boolean).join("/") : url.pathname.slice(1)}`) {
    case "POST adopt":
      return adopt(handlers, stream);
    case "POST runtime":
      await handlers.conversation.open().catch(() => {}); // The health says it.
      return answer(stream, 200, handlers.health());
    case "POST runtime/warm":
      await handlers.conversation.warmUp();
      return answer(stream, 200, handlers.health());
    case "POST turns":
      return prompt(handlers, stream, id!);
    case "GET turns/events":
      return events(stream, await handlers.journals.find(id!), Number(url.searchParams.get("after") ?? 0));
    case "POST turns/cancel":
      return answer(stream, handlers.conversation.cancel(id!) ? 202 : 404, {});
    case "POST secrets":
      await handlers.provide((await json(stream)) as GuestSecrets);
      return answer(stream, 200, {});
    case "POST quiesce":
      return answer(stream, 200, await handlers.quiesce());
    case "GET activity":
      return answer(stream, 200, await handlers.activity());
    case "GET log":
      return log(handlers, stream, url.searchParams);
    case "POST exec":
      return answer(stream, 200, await handlers.exec((await json(stream)) as Exec));
    default:
      return answer(stream, 404, { message: `the runner has no ${method} ${url.pathname}` });
  }
}

async function adopt(handlers: ControlHandlers, stream: ServerHttp2Stream): Promise<void> {
  const adoption = (await json(stream)) as Adoption;
  // Of a server that died meanwhile nothing is taken: the next one may have given this guest its identity already.
  if (stream.destroyed) return;
  await handlers.adopt(adoption, stream.session!.socket.remotePort!);
  answer(stream, 200, handlers.health());
}

async function prompt({ conversation }: ControlHandlers, stream: ServerHttp2Stream, turnId: string): Promise<void> {
  await events(stream, await conversation.prompt(turnId, (await json(stream)) as Prompt), 0);
}

/** The journal's events after `after` as lines of JSON, held back while the reader is slow. */
async function events(stream: ServerHttp2Stream, journal: Journal | null, after: number): Promise<void> {
  if (!journal) return answer(stream, 404, { message: "no such turn" });
  const gone = new AbortController();
  stream.on("close", () => gone.abort());
  stream.respond({ ":status": 200, "content-type": "application/x-ndjson" });
  for await (const batch of journal.read(after, gone.signal)) {
    const lines = batch.map((entry) => `${JSON.stringify(entry)}\n`).join("");
    if (!stream.write(lines)) await once(stream, "drain", { signal: gone.signal }).catch(() => {});
  }
  stream.end();
}

async function log(handlers: ControlHandlers, stream: ServerHttp2Stream, query: URLSearchParams): Promise<void> {
  const gone = new AbortController();
  stream.on("close", () => gone.abort());
  const texts = handlers.log(Number(query.get("tail")), query.get("follow") === "true", gone.signal);
  stream.respond({ ":status": 200, "content-type": "text/plain; charset=utf-8" });
  for await (const text of texts) {
    if (!stream.write(text)) await once(stream, "drain", { signal: gone.signal }).catch(() => {});
  }
  stream.end();
}

/** A call's body. Rejects when the connection ends before it, or it is no JSON. */
function json(stream: ServerHttp2Stream): Promise<unknown> {
  // Not by an iterator: emulated, in a machine that has just woken, that alone takes as long as to set the clock.
  return new Promise((resolve, reject) => {
    if (stream.destroyed) return reject(new Error("the server ended the connection"));
    let text = "";
    stream.setEncoding("utf8");
    stream.on("data", (chunk: string) => {
      text += chunk;
    });
    stream.once("end", () => {
      try {
        resolve(JSON.parse(text));
      } catch (error) {
        reject(error as Error);
      }
    });
    stream.once("close", () => reject(new Error("the server ended the connection")));
  });
}

function answer(stream: ServerHttp2Stream, status: number, body: unknown): void {
  if (stream.destroyed) return; // Who asked has gone.
  stream.respond({ ":status": status, "content-type": "application/json" });
  stream.end(JSON.stringify(body));
}
