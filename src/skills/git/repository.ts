import { type Dispatcher, request } from "undici";
import { CallFailed } from "../../outbound/outbound.ts";
import { type GitObject, objectsIn } from "./pack.ts";
import { GitAnswerInvalid, type Packet, packetsIn, requestOf, textOf } from "./packets.ts";

/** The most bytes of a list of references, and of a pack. */
const maximumListBytes = 1024 * 1024;
const maximumPackBytes = 32 * 1024 * 1024;

/** A repository cannot be read. The message continues "The repository cannot be read: ", and has no words of its server. */
export class GitFailed extends Error {}

/**
 * A repository at an address, over version 2 of git's protocol (gitprotocol-http, gitprotocol-v2). Reads a commit and
 * nothing of its history. Runs no program and writes no file. Methods throw `GitFailed`.
 */
export class Repository {
  readonly #url: string;
  readonly #dispatcher: Dispatcher;
  readonly #signal: AbortSignal;

  constructor(url: string, dispatcher: Dispatcher, signal: AbortSignal) {
    this.#url = url.replace(/\/+$/, "");
    this.#dispatcher = dispatcher;
    this.#signal = signal;
  }

  /** Whether the server can leave out the content of files. */
  async open(): Promise<{ filters: boolean }> {
    const advertised = await this.#ask("GET", "/info/refs?service=git-upload-pack", null, maximumListBytes);
    const lines = lined(advertised).map((packet) => (Buffer.isBuffer(packet) ? textOf(packet) : ""));
    if (!lines.includes("version 2")) throw new GitFailed("its server does not speak version 2 of git's protocol");
    if (lines.some((line) => line.startsWith("object-format=") && line !== "object-format=sha1"))
      throw new GitFailed("its ids are not SHA-1");
    const fetching = lines.find((line) => line.startsWith("fetch=")) ?? "fetch=";
    return { filters: fetching.slice("fetch=".length).split(" ").includes("filter") };
  }

  /** The commit of a branch or a tag, or of HEAD. */
  async resolve(ref: string | null): Promise<string> {
    const names =
      ref === null ? ["HEAD"] : [`refs/heads/${ref}`, `refs/tags/${ref}`, ...(ref.startsWith("refs/") ? [ref] : [])];
    const asked = requestOf("ls-refs", capabilities, ["peel", ...names.map((name) => `ref-prefix ${name}`)]);
    const answer = await this.#ask("POST", "/git-upload-pack", asked, maximumListBytes);
    const found = new Map<string, string>();
    for (const packet of lined(answer)) {
      if (!Buffer.isBuffer(packet)) continue;
      const [id = "", name = "", ...rest] = textOf(packet).split(" ");
      const peeled = rest.find((attribute) => attribute.startsWith("peeled:"))?.slice("peeled:".length);
      if (isId(peeled ?? id)) found.set(name, peeled ?? id);
    }
    const commit = names.map((name) => found.get(name)).find((id) => id !== undefined);
    if (commit === undefined)
      throw new GitFailed(ref === null ? "it is empty" : `it has no branch and no tag ${JSON.stringify(ref)}`);
    return commit;
  }

  /** The objects of a commit without its history; without the content of files if `filters`. */
  commit(id: string, filters: boolean): Promise<Map<string, GitObject>> {
    return this.#fetch([`want ${id}`, "deepen 1", ...(filters ? ["filter blob:none"] : [])]);
  }

  /** Objects by their ids. */
  objects(ids: readonly string[]): Promise<Map<string, GitObject>> {
    return this.#fetch(ids.map((id) => `want ${id}`));
  }

  async #fetch(args: readonly string[]): Promise<Map<string, GitObject>> {
    const asked = requestOf("fetch", capabilities, [...args, "no-progress", "ofs-delta", "done"]);
    const answer = await this.#ask("POST", "/git-upload-pack", asked, maximumPackBytes);
    try {
      return await objectsIn(packIn(lined(answer)));
    } catch (error) {
      if (error instanceof GitAnswerInvalid) throw new GitFailed(`its server's answer is not valid (${error.message})`);
      throw error;
    }
  }

  async #ask(method: "GET" | "POST", path: string, body: Buffer | null, maximum: number): Promise<Buffer> {
    try {
      const { statusCode, body: answer } = await request(this.#url + path, {
        dispatcher: this.#dispatcher,
        method,
        headers: {
          "git-protocol": "version=2",
          "user-agent": "git/2 (Berth)",
          ...(body && { "content-type": "application/x-git-upload-pack-request" }),
        },
        body,
        signal: this.#signal,
      });
      if (statusCode !== 200) {
        answer.on("error", () => {}).destroy();
        throw new GitFailed(reasonOfStatus(statusCode));
      }
      return await limited(answer, maximum);
    } catch (error) {
      if (error instanceof GitFailed) throw error;
      if (this.#signal.aborted) throw new GitFailed("it takes too long");
      if (error instanceof CallFailed) throw new GitFailed(error.message.replace(/\.$/, ""));
      throw new GitFailed((error as NodeJS.ErrnoException).code ?? "there was no answer", { cause: error });
    }
  }
}

const capabilities = ["agent=berth", "object-format=sha1"];

export function isId(text: string): boolean {
  return /^[0-9a-f]{40}$/.test(text);
}

function reasonOfStatus(status: number): string {
  if (status >= 300 && status < 400)
    return "its server redirects; give the address that it redirects to, which may end in .git";
  if ([401, 403, 404].includes(status)) return "it does not exist, or is not public";
  return `its server answered ${status}`;
}

async function limited(body: AsyncIterable<Buffer>, maximum: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    if (size > maximum) throw new GitFailed(`its server sent more than ${maximum / 1024 ** 2} MiB`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function lined(answer: Buffer): Packet[] {
  try {
    return [...packetsIn(answer)];
  } catch {
    throw new GitFailed("its server does not speak git's protocol");
  }
}

/** The pack in the answer to a fetch: the first band of the section `packfile`. */
function packIn(packets: readonly Packet[]): Buffer {
  const begin = packets.findIndex((packet) => Buffer.isBuffer(packet) && textOf(packet) === "packfile");
  const refused = packets.some(
    (packet) => Buffer.isBuffer(packet) && packet.subarray(0, 4).toString("latin1") === "ERR ",
  );
  if (begin < 0 || refused) throw new GitFailed("it does not have this commit, or its server does not send it");
  const pieces: Buffer[] = [];
  for (const packet of packets.slice(begin + 1)) {
    if (packet === "flush") break;
    if (!Buffer.isBuffer(packet)) throw new GitAnswerInvalid("the pack is cut off");
    if (packet[0] === 3) throw new GitFailed("its server could not send it");
    if (packet[0] === 1) pieces.push(packet.subarray(1));
  }
  return Buffer.concat(pieces);
}
