import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Provider } from "oidc-provider";

/** Somebody else's OpenID provider, where people sign in on pages of its own: any name, with any password. */
export class WebIssuer implements AsyncDisposable {
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server, url: string) {
    this.#server = server;
    this.url = url;
  }

  /** `clientId` is the service's name there, `redirectUri` where it has people sent back to. */
  static async start({ clientId, redirectUri, audience }: { clientId: string; redirectUri: string; audience: string }) {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const provider = new Provider(url, {
      clients: [
        {
          client_id: clientId,
          token_endpoint_auth_method: "none",
          grant_types: ["authorization_code", "refresh_token"],
          response_types: ["code"],
          redirect_uris: [redirectUri],
          post_logout_redirect_uris: [redirectUri],
        },
      ],
      pkce: { required: () => true },
      issueRefreshToken: () => true,
      rotateRefreshToken: true,
      ttl: { AccessToken: 61 },
      features: {
        devInteractions: { enabled: true },
        revocation: { enabled: true },
        resourceIndicators: {
          enabled: true,
          useGrantedResource: () => true,
          getResourceServerInfo: () => ({
            scope: "",
            audience,
            accessTokenFormat: "jwt",
            jwt: { sign: { alg: "RS256" } },
          }),
        },
      },
    });
    const handle = provider.callback();
    server.on("request", (request, response) => void handle(request, response));
    return new WebIssuer(server, url);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
