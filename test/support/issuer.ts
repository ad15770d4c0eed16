import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { Provider } from "oidc-provider";

/** An issuer's signing key. */
export interface SigningKey {
  privateKey: Awaited<ReturnType<typeof generateKeyPair>>["privateKey"];
  jwk: JWK & { kty: string };
}

const audience = "https://berth.example";
const client = { client_id: "robot", client_secret: "a-secret-of-the-robot" };

export async function newSigningKey(kid: string, alg = "RS256"): Promise<SigningKey> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  return {
    privateKey,
    jwk: { ...(await exportJWK(privateKey)), kty: alg.startsWith("RS") ? "RSA" : "EC", kid, alg, use: "sig" },
  };
}

/** A third-party OpenID provider, with a client that gets tokens for `audience`. */
export class Issuer implements AsyncDisposable {
  readonly url: string;
  readonly audience = audience;
  /** The paths requested so far. */
  readonly seen: string[] = [];
  readonly #server: Server;
  #keys: readonly SigningKey[] = [];
  #handle: RequestListener = () => {};

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(keys: readonly SigningKey[]): Promise<Issuer> {
    const server = createServer((request, response) => {
      issuer.seen.push(request.url!);
      issuer.#handle(request, response);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const issuer = new Issuer(server);
    issuer.rotate(keys);
    return issuer;
  }

  get key(): SigningKey {
    return this.#keys[0]!;
  }

  /** Signs with the first of these keys from now on, and publishes all of them. */
  rotate(keys: readonly SigningKey[]): void {
    this.#keys = keys;
    const provider = new Provider(this.url, {
      jwks: { keys: keys.map(({ jwk }) => jwk) },
      clients: [{ ...client, grant_types: ["client_credentials"], redirect_uris: [], response_types: [] }],
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: () => ({
            scope: "",
            accessTokenFormat: "jwt",
            jwt: { sign: { alg: "RS256" } },
          }),
        },
      },
    });
    const handle = provider.callback();
    this.#handle = (request, response) => void handle(request, response);
  }

  /** Answers only 503 from now on. */
  fail(): void {
    this.#handle = (_request, response) => void response.writeHead(503).end();
  }

  /** A token as issued to the client `robot`. */
  async token(): Promise<string> {
    const { client_id: name, client_secret: secret } = client;
    const response = await fetch(`${this.url}/token`, {
      method: "POST",
      headers: { authorization: `Basic ${btoa(`${name}:${secret}`)}` },
      body: new URLSearchParams({ grant_type: "client_credentials", resource: audience }),
    });
    const body = (await response.json()) as { access_token?: string };
    if (!body.access_token) throw new Error(`no token: ${JSON.stringify(body)}`);
    return body.access_token;
  }

  /** A token with custom claims. Without any it is valid. A claim that is `undefined` is left out. */
  sign(claims: Record<string, unknown> = {}, { jwk, privateKey }: SigningKey = this.key): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const valid = { iss: this.url, aud: audience, sub: "somebody", iat: now, exp: now + 600 };
    return new SignJWT({ ...valid, ...claims }).setProtectedHeader({ alg: jwk.alg!, kid: jwk.kid! }).sign(privateKey);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}
