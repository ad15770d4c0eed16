import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import pg from "pg";
import { z } from "zod";
import { refresh } from "./sign-in.ts";

/** The folder with an earlier release's database and the answers that its code gave. */
export const releaseFolder = join(import.meta.dirname, "../releases/0.1.0");

export const ReleaseRequest = z.object({
  /** One of the record's credentials. */
  as: z.string(),
  method: z.string(),
  path: z.string(),
  headers: z.record(z.string(), z.string()).optional(),
  body: z.unknown().optional(),
  /** A stream is read up to the event with this id; without it, to its end. */
  lastId: z.number().optional(),
});
export type ReleaseRequest = z.infer<typeof ReleaseRequest>;

export const ReleaseAnswer = z.object({ status: z.number(), type: z.string().nullable(), body: z.unknown() });
export type ReleaseAnswer = z.infer<typeof ReleaseAnswer>;

/** A release's credentials, files and answers; its database is next to it. */
export const ReleaseRecord = z.object({
  secretKey: z.string(),
  credentials: z.object({
    keys: z.record(z.string(), z.string()),
    refreshTokens: z.record(z.string(), z.string()),
    cookies: z.record(z.string(), z.string()),
  }),
  /** Of the data folder, by path. */
  files: z.record(z.string(), z.string()),
  answers: z.array(z.object({ request: ReleaseRequest, answer: ReleaseAnswer })),
});
export type ReleaseRecord = z.infer<typeof ReleaseRecord>;

export async function readReleaseRecord(): Promise<ReleaseRecord> {
  return ReleaseRecord.parse(JSON.parse(await readFile(join(releaseFolder, "answers.json"), "utf8")));
}

/** Loads the release's database into an empty one. */
export async function loadReleaseDatabase(databaseUrl: string): Promise<void> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  await client.query(await readFile(join(releaseFolder, "database.sql"), "utf8"));
  await client.end();
}

export async function writeReleaseFiles(dataFolder: string, files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(dataFolder, path)), { recursive: true });
    await writeFile(join(dataFolder, path), text);
  }
}

/** Calls a server with the credentials of a release. The server's own address is `http://berth.test` in its answers. */
export class ReleaseClient {
  readonly #url: string;
  readonly #credentials: ReleaseRecord["credentials"];
  readonly #tokens = new Map<string, Promise<string>>();

  constructor(url: string, credentials: ReleaseRecord["credentials"]) {
    this.#url = url;
    this.#credentials = credentials;
  }

  async ask({ as, method, path, headers, body, lastId }: ReleaseRequest): Promise<ReleaseAnswer> {
    const response = await fetch(this.#url + path, {
      method,
      redirect: "manual",
      headers: {
        ...(await this.#authorization(as)),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const type = response.headers.get("content-type");
    const text = (await readTo(response, lastId)).replaceAll(this.#url, "http://berth.test");
    return { status: response.status, type, body: parsed(text, type) };
  }

  async #authorization(as: string): Promise<Record<string, string>> {
    const { keys, refreshTokens, cookies } = this.#credentials;
    if (as === "nobody") return {};
    if (keys[as] !== undefined) return { authorization: `Bearer ${keys[as]}` };
    if (cookies[as] !== undefined) return { cookie: cookies[as], "sec-fetch-site": "same-origin" };
    const token = this.#tokens.get(as) ?? this.#refresh(refreshTokens[as]!);
    this.#tokens.set(as, token);
    return { authorization: `Bearer ${await token}` };
  }

  async #refresh(refreshToken: string): Promise<string> {
    const { status, body } = await refresh(this.#url, refreshToken);
    if (status !== 200) throw new Error(`the refresh token was refused: ${JSON.stringify(body)}`);
    return body.access_token;
  }
}

async function readTo(response: Response, lastId: number | undefined): Promise<string> {
  if (lastId === undefined || !response.ok) return response.text();
  let text = "";
  for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
    text += part;
    const end = new RegExp(`^id: ?${lastId}$[^]*?\\n\\n`, "m").exec(text);
    if (end) return text.slice(0, end.index + end[0].length);
  }
  throw new Error(`the stream ended before event ${lastId}: ${text}`);
}

/** A JSON value, the events of a stream, or text; null for an archive. */
function parsed(text: string, type: string | null): unknown {
  if (type?.includes("x-tar")) return null;
  if (type?.includes("json") && text !== "") return JSON.parse(text);
  if (!type?.startsWith("text/event-stream")) return text;
  return text.split("\n\n").flatMap((block) => {
    const [id, data] = ["id", "data"].map((field) => new RegExp(`^${field}: ?(.*)$`, "m").exec(block)?.[1]);
    if (data === undefined) return [];
    return [{ ...(id === undefined ? {} : { id }), data: data === "[DONE]" ? data : JSON.parse(data) }];
  });
}
