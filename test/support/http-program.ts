import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** A program that serves HTTP on a port of this machine, which is a scripted machine's, too. */
export class Program implements Disposable {
  readonly server: Server;
  /** The requests that it received. */
  readonly asked: IncomingMessage[] = [];
  answer: RequestListener = (request, response) => response.end(`page ${request.url}`);

  private constructor() {
    this.server = createServer((request, response) => {
      this.asked.push(request);
      this.answer(request, response);
    });
  }

  static async start(port = 0): Promise<Program> {
    const program = new Program();
    program.server.listen(port, "127.0.0.1");
    await once(program.server, "listening");
    return program;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  [Symbol.dispose](): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}
