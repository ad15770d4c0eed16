import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { callAt } from "../wires/offered.ts";
import { demo } from "./demo.ts";

/** The folders of a guest's gateway. A provider's server has none, so each is tried. */
const folders = ["anthropic", "openai", "google"];

/** The demonstration model as a provider's server. Any name works as a model. */
export class DemoServer implements Disposable {
  readonly #models: string[];
  readonly #server = createServer((request, response) => {
    // A client that disconnects early is not an error.
    this.#serve(request, response).catch(() => response.destroy());
  });

  private constructor(models: string[]) {
    this.#models = models;
  }

  /** Listens on 127.0.0.1, on any port unless one is given. */
  static async start(models: string[] = [], port = 0): Promise<DemoServer> {
    const server = new DemoServer(models);
    server.#server.listen(port, "127.0.0.1");
    await once(server.#server, "listening");
    return server;
  }

  /** Anthropic's address, and Google's. OpenAI's is `/v1` below it. A guest has them as well, in folders by their names. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  [Symbol.dispose](): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url!.replace(/^\/(?:anthropic|openai|google)\//, "/").replace(/^\/v1beta\/openai\//, "/v1/");
    if (path.split("?")[0] === "/v1/models")
      return void response.end(JSON.stringify({ data: this.#models.map((id) => ({ id })) }));
    const called = folders.map((folder) => callAt(`/${folder}${path}`)).find((each) => each !== null);
    if (!called) return void response.writeHead(404).end("{}");
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    const body = await buffer(request);
    const { wire, model } = called;
    const call = { wire, model: model ?? "", streamed: false, query: "", headers: request.headers, body };
    const answer = await demo({ ...call, signal: gone.signal });
    response.writeHead(answer.status, answer.headers);
    try {
      for await (const chunk of answer.body) response.write(chunk);
    } catch (error) {
      if (!gone.signal.aborted) throw error;
    }
    response.end();
  }
}
