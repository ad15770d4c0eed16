import type { OutgoingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import mime from "mime";
import type { AgentState } from "../agents/agent.ts";
import { findAgent } from "../agents/find.ts";
import type { AppContext } from "../context.ts";
import { BerthError } from "../contract/errors.ts";
import type { ArchiveFolder, FileEvent, FileTarget } from "../contract/files.ts";
import { routes } from "../contract/routes.ts";
import { entityTagsOf, isUnchanged, partOf } from "../core/http/conditions.ts";
import { attachmentNamed } from "../core/http/content-disposition.ts";
import { goneOf } from "../core/http/gone.ts";
import { handle, type RequestOf } from "../core/http/handle.ts";
import { type SseEvent, sendEvents } from "../core/http/sse.ts";
import type { Streams } from "../core/http/streams.ts";
import type { Files, OpenedFile } from "./files.ts";

type ReadRequest = RequestOf<typeof routes.readFile>;

/** How often a file that changes while it is read is checked again. */
const readTries = 3;

/** A response to a request with one of these may have a part of the bytes, or none. */
const partialHeaders = ["range", "if-none-match", "if-modified-since"];

const archiveKinds: Readonly<Record<string, ArchiveFolder["kind"]>> = {
  "application/gzip": "tar.gz",
  "application/x-tar": "tar",
  "application/zip": "zip",
};

export function fileRoutes(context: AppContext): FastifyPluginAsync {
  const { agents, files, streams } = context;
  const reader = new Reader(files, streams);
  return async (app) => {
    handle(app, routes.readFile, async (request, reply) => {
      const agent = await findAgent(agents, request, request.params.name);
      requireTicketFor(request);
      return reader.answer(agent, request, reply);
    });

    handle(app, routes.changeFile, async (request, reply) => {
      const agent = await findAgent(agents, request, request.params.name);
      const { action, to, user } = request.query;
      const target = { path: request.params.path, user };
      const change = action === "mkdir" ? { ...target, action } : { ...target, action, to: to! };
      const entry = await files.change(agent, request.caller, change, goneOf(reply));
      return (await files.withAuthors(agent, [entry!]))[0]!;
    });

    handle(app, routes.removeFile, async (request, reply) => {
      const agent = await findAgent(agents, request, request.params.name);
      const { user, recursive } = request.query;
      const change = { path: request.params.path, user, action: "remove", recursive: recursive === "true" } as const;
      await files.change(agent, request.caller, change, goneOf(reply));
      return null;
    });

    await app.register(async (bytes) => {
      bytes.removeAllContentTypeParsers();
      bytes.addContentTypeParser("*", (_request, body, done) => done(null, body));
      handle(bytes, routes.writeFile, async (request, reply) => {
        const agent = await findAgent(agents, request, request.params.name);
        using _ = streams.enter(request);
        const written = await write(files, agent, request);
        reply.code(written.created ? 201 : 200);
        if (written.etag !== null) reply.header("etag", written.etag);
        return written;
      });
    });
  };
}

/** A ticket is for one path, with the agent's rights. */
function requireTicketFor({ ticket, params, query }: ReadRequest): void {
  if (!ticket || (ticket.path === params.path && query.user === "agent")) return;
  throw new BerthError("forbidden", "This ticket is for another file.");
}

async function write(files: Files, agent: AgentState, request: RequestOf<typeof routes.writeFile>) {
  const { user, mode, extract } = request.query;
  const target = { path: request.params.path, user };
  // Without a content type, there may be no body stream.
  const body = (request.body ?? request.raw) as Readable;
  if (extract === "true") {
    const kind = archiveKinds[String(request.headers["content-type"]).split(";")[0]!.trim().toLowerCase()];
    if (kind !== "tar" && kind !== "tar.gz") {
      throw new BerthError(
        "content_type_unsupported",
        "An archive to unpack must be application/gzip or application/x-tar.",
      );
    }
    return files.extract(agent, request.caller, { ...target, kind }, body);
  }
  const options = {
    mode: mode === undefined ? null : Number.parseInt(mode, 8),
    ifMatch: entityTagsOf(request.headers["if-match"]),
    ifNoneMatch: requireStar(request.headers["if-none-match"]),
  };
  return files.write(agent, request.caller, { ...target, ...options }, body);
}

function requireStar(header: string | undefined): boolean {
  if (header === undefined || header.trim() === "*") return header !== undefined;
  throw new BerthError("request_invalid", "if-none-match: only * is allowed for writes.");
}

class Reader {
  readonly #files: Files;
  readonly #streams: Streams;

  constructor(files: Files, streams: Streams) {
    this.#files = files;
    this.#streams = streams;
  }

  async answer(agent: AgentState, request: ReadRequest, reply: FastifyReply) {
    const { watch, stat, user } = request.query;
    const target = { path: request.params.path, user };
    if (watch === "true") return this.#watch(agent, request, reply);
    for (let tries = readTries; ; tries--) {
      const opened = await this.#open(agent, request, target);
      const { entry } = opened.found;
      if (stat === "true") return (await this.#files.withAuthors(agent, [entry]))[0]!;
      if (entry.type === "folder") return this.#folder(agent, request, reply, entry.name);
      if (entry.type !== "file")
        throw new BerthError("file_not_regular", `This is a ${entry.type}, not a regular file or folder.`);
      try {
        return await this.#file(agent, request, reply, opened, tries > 1);
      } catch (error) {
        opened.bytes?.destroy();
        if (!(error instanceof BerthError) || error.code !== "file_changed" || tries <= 1) throw error;
      }
    }
  }

  /** With its bytes if the response will have all of them. */
  async #open(agent: AgentState, { method, headers, query, caller }: ReadRequest, target: FileTarget) {
    const isConditional = partialHeaders.some((name) => headers[name] !== undefined);
    if (method === "GET" && query.stat !== "true" && !isConditional) return this.#files.open(agent, caller, target);
    return { found: await this.#files.stat(agent, caller, target), bytes: null };
  }

  async #file(
    agent: AgentState,
    request: ReadRequest,
    reply: FastifyReply,
    { found, bytes }: OpenedFile,
    isTagged: boolean,
  ) {
    const { entry, etag } = found;
    const { headers } = request;
    const target = { path: request.params.path, user: request.query.user };
    if (!found.hasLength) {
      describe(request, reply, entry.name);
      // Its times and size do not change with its bytes, so it is always sent. The tag is for writers.
      reply.header("etag", etag).header("cache-control", "private, no-store");
      if (request.method === "HEAD") return sendHead(reply);
      const whole = { ...target, start: 0, length: null, etag: null };
      return this.#sent(request, reply, async () => bytes ?? this.#files.read(agent, "admitted", whole));
    }
    const modified = new Date(entry.modifiedAt);
    reply.header("last-modified", modified.toUTCString()).header("accept-ranges", "bytes");
    reply.header("cache-control", "private, no-cache");
    // A file that keeps changing is sent in its current state, with a tag that never matches again.
    if (isTagged) reply.header("etag", etag);
    else reply.removeHeader("etag");
    if (isUnchanged(headers, etag, modified)) return reply.code(304).send();
    const part = partOf(headers, entry.size, etag, modified);
    if (part === "unsatisfiable") {
      reply.header("content-range", `bytes */${entry.size}`);
      throw new BerthError("range_not_satisfiable", `The file has ${entry.size} bytes.`);
    }
    describe(request, reply, entry.name);
    reply.header("content-length", part?.length ?? entry.size);
    if (part) {
      const last = part.start + part.length - 1;
      reply.code(206).header("content-range", `bytes ${part.start}-${last}/${entry.size}`);
    }
    if (request.method === "HEAD") return sendHead(reply);
    const { start, length } = part ?? { start: 0, length: entry.size };
    const open = async () =>
      bytes ?? this.#files.read(agent, "admitted", { ...target, start, length, etag: isTagged ? etag : null });
    return this.#sent(request, reply, open);
  }

  async #folder(agent: AgentState, request: ReadRequest, reply: FastifyReply, name: string) {
    const { user, limit, cursor, recursive, depth, archive } = request.query;
    const target = { path: request.params.path, user };
    const kind =
      archive ?? archiveKinds[String(request.headers.accept).split(",")[0]!.split(";")[0]!.trim().toLowerCase()];
    if (kind !== undefined) {
      reply.type(kind === "zip" ? "application/zip" : kind === "tar" ? "application/x-tar" : "application/gzip");
      reply
        .header("content-disposition", attachmentNamed(`${name}.${kind}`))
        .header("cache-control", "private, no-store");
      if (request.method === "HEAD") return sendHead(reply);
      return this.#sent(request, reply, () => this.#files.archive(agent, "admitted", { ...target, kind }));
    }
    const levels = recursive === "true" ? depth : 1;
    const asked = { ...target, limit, after: cursor ?? null, depth: levels };
    const { data, nextCursor } = await this.#files.list(agent, "admitted", asked);
    return { data: await this.#files.withAuthors(agent, data), nextCursor };
  }

  /** Sends a stream, which counts as one of the caller's until it closes. */
  async #sent(request: FastifyRequest, reply: FastifyReply, open: () => Promise<Readable>): Promise<FastifyReply> {
    const entered = this.#streams.enter(request);
    try {
      const stream = await open();
      stream.once("close", () => entered[Symbol.dispose]());
      return reply.send(stream);
    } catch (error) {
      entered[Symbol.dispose]();
      throw error;
    }
  }

  async #watch(agent: AgentState, request: ReadRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { user, recursive } = request.query;
    using _ = this.#streams.enter(request);
    const left = new AbortController();
    reply.raw.once("close", () => left.abort());
    const asked = { path: request.params.path, user, recursive: recursive === "true" };
    const batches = await this.#files.watch(agent, request.caller, asked, left.signal);
    await sendEvents(reply, {}, (gone) => {
      gone.addEventListener("abort", () => left.abort());
      return eventsOf(batches);
    });
    left.abort();
    return reply;
  }
}

async function* eventsOf(batches: AsyncIterable<FileEvent[]>): AsyncGenerator<SseEvent[]> {
  for await (const events of batches) yield events.map((data) => ({ data }));
}

/** Sends the headers. Fastify would report an empty body. */
export function sendHead(reply: FastifyReply): FastifyReply {
  const head = reply.raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders);
  reply.hijack();
  head.end();
  return reply;
}

function describe({ ticket }: ReadRequest, reply: FastifyReply, name: string): void {
  // A ticket's link has no header, so a page could name it as a script. This type is no script's.
  const type = ticket ? null : mime.getType(name);
  reply.header("content-type", type ?? "application/octet-stream");
  reply.header("content-disposition", attachmentNamed(name));
}
