import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { demo } from "../../src/gateway/demo/demo.ts";
import { chat } from "../../src/gateway/wires/chat.ts";
import { countTokens, messages } from "../../src/gateway/wires/messages.ts";
import { responses } from "../../src/gateway/wires/responses.ts";

const wires = new Map([
  ...[messages, countTokens].map((wire) => [wire.path, wire] as const),
  ...[chat, responses].map((wire) => [`/v1${wire.path}`, wire] as const),
]);

/** The demonstration model as a provider's server, with a list of models that answer to any name. */
export class DemoServer implements Disposable {
  readonly #models: string[];
  readonly #server = createServer((request, response) => {
    // A client that hangs up in the middle is no fault.
    this.#serve(request, response).catch(() => response.destroy());
  });

  private constructor(models: string[]) {
    this.#models = models;
  }

  static async start(models: string[] = []): Promise<DemoServer> {
    const server = new DemoServer(models);
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server, "listening");
    return server;
  }

  /** Anthropic's address. OpenAI's is `/v1` below it. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  [Symbol.dispose](): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url!.split("?")[0]!;
    if (path === "/v1/models") return void response.end(JSON.stringify({ data: this.#models.map((id) => ({ id })) }));
    const wire = wires.get(path);
    if (!wire) return void response.writeHead(404).end("{}");
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    const body = await buffer(request);
    const answer = await demo({ wire, query: "", headers: request.headers, body, signal: gone.signal });
    response.writeHead(answer.status, answer.headers);
    try {
      for await (const chunk of answer.body) response.write(chunk);
    } catch (error) {
      if (!gone.signal.aborted) throw error;
    }
    response.end();
  }
}
