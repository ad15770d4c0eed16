import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { folderPrefix } from "./config.ts";

/**
 * A proxy between a client and PostgreSQL. It passes everything on, can cut a connection whose commit is unanswered,
 * and can swallow everything, as a partitioned network does.
 */
export class CuttingProxy implements AsyncDisposable {
  /** The folder of its socket, for use as `host`. */
  readonly folder: string;
  /** Lets the next commit reach the database but drops its answer. */
  cutNextCommit = false;
  /** Drops everything silently. */
  isPartitioned = false;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(folder: string, target: string) {
    this.folder = folder;
    this.#server = createServer((client) => this.#pass(client, connect(target)));
  }

  static async start(target: string): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(await mkdtemp(folderPrefix), target);
    proxy.#server.listen(join(proxy.folder, ".s.PGSQL.5432"));
    await once(proxy.#server, "listening");
    return proxy;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  #pass(client: Socket, database: Socket): void {
    for (const socket of [client, database]) {
      this.#sockets.add(socket.on("error", () => {}).on("close", () => this.#sockets.delete(socket)));
    }
    let cut = false;
    client.on("data", (chunk: Buffer) => {
      cut = this.cutNextCommit && chunk.includes("commit");
      if (cut) this.cutNextCommit = false;
      if (!this.isPartitioned) database.write(chunk);
    });
    database.on("data", (chunk: Buffer) => {
      if (cut) client.destroy();
      else if (!this.isPartitioned) client.write(chunk);
    });
    client.on("close", () => database.destroy());
    database.on("close", () => client.destroy());
  }
}
