import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { randomOf } from "./random.ts";

/** Half of a round trip of 200 ms. */
const oneWayMs = 100;
/** One packet in a hundred is lost; TCP sends it again after a while, and all behind it wait. */
const lost = 0.01;
const againMs = 300;

/** A connection to a local port as over a poor line. Lost bytes come late, since it is TCP. */
export class PoorNetwork implements Disposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #random = randomOf(1);

  private constructor(target: number) {
    this.#server = createServer((client) => {
      const server = connect(target, "127.0.0.1");
      this.#pass(client, server);
      this.#pass(server, client);
    });
  }

  static async start(target: number): Promise<PoorNetwork> {
    const network = new PoorNetwork(target);
    network.#server.listen(0, "127.0.0.1");
    await once(network.#server, "listening");
    return network;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Cuts all connections. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #pass(from: Socket, to: Socket): void {
    this.#sockets.add(from.setNoDelay(true).on("error", () => {}));
    // One after the other: timers that are due in the same millisecond do not keep their order, as TCP does.
    let before = Promise.resolve();
    const later = (act: () => void) => {
      const dueAt = Date.now() + oneWayMs + (this.#random() < lost ? againMs : 0);
      before = before.then(async () => {
        const left = dueAt - Date.now();
        if (left > 0) await sleep(left);
        act();
      });
    };
    from.on("data", (chunk) => later(() => to.destroyed || to.write(chunk)));
    from.on("end", () => later(() => to.end()));
    from.on("close", () => {
      this.#sockets.delete(from);
      if (from.errored || !from.readableEnded) to.destroy();
    });
  }

  [Symbol.dispose](): void {
    this.#server.close();
    this.cut();
  }
}
