import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtempDisposable, symlink, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { folderPrefix } from "./config.ts";

const run = promisify(execFile);
const backend = "/usr/lib/git-core/git-http-backend";

/** A file's text, or an executable one, or a link. */
export type RepositoryFiles = Readonly<Record<string, string | { executable: string } | { link: string }>>;

/** git's own server of repositories over HTTP, on a port of this host. */
export class GitServer implements AsyncDisposable {
  /** The requests so far, as METHOD PATH. */
  readonly asked: string[] = [];
  /** Answers in place of git; false: git answers. */
  instead: (request: IncomingMessage, response: ServerResponse) => boolean = () => false;
  readonly #folder: { path: string } & AsyncDisposable;
  readonly #server: Server;

  private constructor(folder: { path: string } & AsyncDisposable) {
    this.#folder = folder;
    this.#server = createServer((request, response) => {
      this.asked.push(`${request.method} ${request.url}`);
      if (!this.instead(request, response)) this.#serve(request, response);
    });
  }

  static async start(): Promise<GitServer> {
    const server = new GitServer(await mkdtempDisposable(`${folderPrefix}git-`));
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server, "listening");
    return server;
  }

  get authority(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  url(name: string): string {
    return `http://${this.authority}/${name}`;
  }

  /** Runs git in a repository. */
  async git(name: string, ...args: string[]): Promise<string> {
    const identity = ["-c", "user.name=ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false"];
    const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };
    const { stdout } = await run("git", [...identity, ...args], { cwd: join(this.#folder.path, name), env });
    return stdout.trim();
  }

  /** Creates a repository. */
  async create(name: string): Promise<void> {
    await mkdir(join(this.#folder.path, name));
    await this.git(name, "init", "--quiet", "--initial-branch=main");
  }

  /** Writes files and commits all. Returns the commit's id. */
  async commit(name: string, files: RepositoryFiles): Promise<string> {
    for (const [path, file] of Object.entries(files)) {
      const full = join(this.#folder.path, name, path);
      await mkdir(dirname(full), { recursive: true });
      if (typeof file !== "string" && "link" in file) {
        await symlink(file.link, full);
        continue;
      }
      await writeFile(full, typeof file === "string" ? file : file.executable);
      if (typeof file !== "string") await chmod(full, 0o755);
    }
    await this.git(name, "add", "--all");
    await this.git(name, "commit", "--quiet", "--message", "files");
    return this.git(name, "rev-parse", "HEAD");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close().closeAllConnections();
    await this.#folder[Symbol.asyncDispose]();
  }

  /** As a web server that runs a CGI program (RFC 3875). */
  #serve(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, search } = new URL(request.url!, "http://localhost");
    const child = spawn(backend, [], {
      env: {
        GIT_PROJECT_ROOT: this.#folder.path,
        GIT_HTTP_EXPORT_ALL: "1",
        GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
        GIT_CONFIG_GLOBAL: "/dev/null",
        REQUEST_METHOD: request.method,
        PATH_INFO: pathname.replace(/^(\/[^/]+)/, "$1/.git"),
        QUERY_STRING: search.slice(1),
        CONTENT_TYPE: request.headers["content-type"] ?? "",
        PATH: process.env.PATH,
      },
    });
    child.stdin.on("error", () => {});
    request.pipe(child.stdin);
    let head = Buffer.alloc(0);
    child.stdout.on("data", (chunk: Buffer) => {
      if (response.headersSent) return void response.write(chunk);
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf("\r\n\r\n");
      if (end < 0) return;
      const lines = head.toString("latin1", 0, end).split("\r\n");
      const fields = Object.fromEntries(lines.map((line) => line.split(": ") as [string, string]));
      const { Status: status = "200", ...headers } = fields;
      response.writeHead(Number.parseInt(status, 10), headers);
      response.write(head.subarray(end + 4));
    });
    child.on("close", () => response.end());
  }
}
