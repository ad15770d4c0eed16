import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";

const run = promisify(execFile);

interface Description {
  name: string;
  version: string;
}

/** An npm registry that has the packages of a release, by the registry's public API: documents of packages, and their files. */
export class NpmRegistry implements AsyncDisposable {
  readonly #server: Server;
  /** By path. */
  readonly #files = new Map<string, Buffer>();
  /** By the package's name. The last version is `latest`. */
  readonly #versions = new Map<string, Record<string, Description>>();

  private constructor() {
    this.#server = createServer((request, response) => {
      const path = decodeURIComponent(request.url ?? "");
      const body = this.#files.get(path) ?? this.#document(path.slice(1));
      response.writeHead(body === null ? 404 : 200).end(body);
    });
  }

  static async start(): Promise<NpmRegistry> {
    const registry = new NpmRegistry();
    registry.#server.listen(0, "127.0.0.1");
    await once(registry.#server, "listening");
    return registry;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Adds a packed file as the latest version. */
  async publish(file: string): Promise<void> {
    const { stdout } = await run("tar", ["-xzOf", file, "package/package.json"]);
    const described = JSON.parse(stdout) as Description;
    const { name, version } = described;
    const content = await readFile(file);
    const path = `/${name}/-/${version}.tgz`;
    this.#files.set(path, content);
    const integrity = `sha512-${createHash("sha512").update(content).digest("base64")}`;
    const listed = { ...described, dist: { tarball: `${this.url}${path}`, integrity } };
    this.#versions.set(name, { ...this.#versions.get(name), [version]: listed });
  }

  #document(name: string): string | null {
    const versions = this.#versions.get(name);
    return versions ? JSON.stringify({ name, "dist-tags": { latest: Object.keys(versions).at(-1) }, versions }) : null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}
