import type { IncomingMessage, ServerResponse } from "node:http";
import { createLink, passwordLinkMs } from "../accounts/links.ts";
import { localIssuer } from "../accounts/user-store.ts";
import { SerialQueue } from "../core/locks.ts";
import { LocalProvider, type LocalProviderParts, type ProviderKeys } from "./provider.ts";
import type { Identity, TokenAudience } from "./tokens.ts";

interface LocalSignInParts extends LocalProviderParts {
  keys: {
    read(): Promise<ProviderKeys>;
    /** Makes new ones. The older ones count until `retiresAt`. */
    replace(retiresAt: Date): Promise<void>;
  };
}

/** The built-in identity provider. It answers once the service's public address is known. */
export class LocalSignIn {
  readonly #parts: LocalSignInParts;
  #provider: LocalProvider | null = null;
  #publicUrl = "";
  /** Names the keys that the provider has. */
  #known = "";
  /** Reads the keys one at a time: an older reading must not end last and win. */
  readonly #readings = new SerialQueue();

  constructor(parts: LocalSignInParts) {
    this.#parts = parts;
  }

  /** Opens the provider at this address. Returns the operator's one-time link; null if the operator has a user. */
  async open(publicUrl: string): Promise<string | null> {
    this.#publicUrl = publicUrl;
    await this.refreshKeys();
    const { token, ...stored } = createLink(passwordLinkMs);
    return (await this.#parts.users.offerFirst(stored)) ? this.linkFor(token) : null;
  }

  /** Takes up the keys as they are stored now: another server may have replaced them, or some have retired. */
  refreshKeys(): Promise<void> {
    return this.#readings.run("keys", () => this.#readKeys());
  }

  async #readKeys(): Promise<void> {
    const keys = await this.#parts.keys.read();
    const names = JSON.stringify([keys.tokenKeys.map(({ kid }) => kid), keys.cookieKeys]);
    if (names === this.#known) return;
    this.#known = names;
    this.#provider = new LocalProvider(this.#publicUrl, keys, this.#parts);
  }

  /**
   * Replaces the keys that tokens and cookies are signed with. Tokens signed with older keys are valid until
   * `retiresAt`.
   */
  async replaceKeys(retiresAt: Date): Promise<void> {
    await this.#parts.keys.replace(retiresAt);
    await this.refreshKeys();
  }

  /** Answers a request for one of its pages. `address` is the client's. */
  handle(request: IncomingMessage, response: ServerResponse, address: string): void {
    if (this.#provider) this.#provider.handle(request, response, address);
    // Requests may arrive after the service listens but before its address is known.
    else response.writeHead(503, { "retry-after": "1" }).end();
  }

  /** Null for an invalid token. */
  async verify(token: string, audience: TokenAudience): Promise<Identity | null> {
    const verified = await this.#provider?.verify(token, audience);
    return verified ? { issuer: localIssuer, ...verified } : null;
  }

  /** Whether the user has not ended the program that a token was issued to. */
  async isGranted(subject: string, clientId: string | null): Promise<boolean> {
    return (await this.#provider?.isGranted(subject, clientId)) ?? true;
  }

  /** The URL of a one-time link. */
  linkFor(token: string): string {
    return this.#provider!.linkFor(token);
  }
}
