import type { IncomingMessage, ServerResponse } from "node:http";
import { countTokens, messages } from "../../src/models/wires/messages.ts";
import { ProviderServer, pass, Refused } from "./provider-servers.ts";

// The vendors of subscriptions: they speak their real protocols and check their authentication.

/** Anthropic's API as it serves subscriptions. */
export class ClaudeServer extends ProviderServer {
  /** The tokens of `claude setup-token` that are valid. */
  readonly tokens = new Set<string>();
  models: string[] = [];
  /** Requests without a valid token. */
  refused = 0;

  static start(): Promise<ClaudeServer> {
    return new ClaudeServer().listen();
  }

  protected async serve(request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
    const { authorization = "", "anthropic-beta": betas = "" } = request.headers;
    const isOAuth = String(betas).split(",").includes("oauth-2025-04-20");
    if ("x-api-key" in request.headers || !isOAuth || !this.tokens.has(authorization.replace("Bearer ", ""))) {
      this.refused++;
      throw new Refused(401, `OAuth token has been revoked: ${authorization}`);
    }
    const path = request.url!.split("?")[0]!;
    if (path === "/v1/models") {
      response.writeHead(200, { "content-type": "application/json" });
      return void response.end(JSON.stringify({ data: this.models.map((id) => ({ id })) }));
    }
    const wire = [messages, countTokens].find((each) => path === each.path);
    if (!wire) throw new Refused(404, `no ${path}`);
    await pass(await this.model(wire, JSON.parse(body.toString("utf8")), request), response);
  }
}
