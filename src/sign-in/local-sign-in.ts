import type { IncomingMessage, ServerResponse } from "node:http";
import { createLink, passwordLinkMs } from "../accounts/links.ts";
import { localIssuer } from "../accounts/user-store.ts";
import { SerialQueue } from "../core/locks.ts";
import { LocalProvider, type LocalProviderParts, type ProviderKeys } from "./provider.ts";
import type { Identity, TokenAudience } from "./tokens.ts";

interface LocalSignInParts extends LocalProviderParts {
  keys: {
    read(): Promise<ProviderKeys>;
    /** Creates new keys. The older ones are valid until `retiresAt`. */
    replace(retiresAt: Date): Promise<void>;
  };
}

/**
 * The built-in identity provider. It opens once the service's public address is known. Requests may arrive before, as
 * soon as the service listens: they wait for it.
 */
export class LocalSignIn {
  readonly #parts: LocalSignInParts;
  readonly #opened = Promise.withResolvers<void>();
  #provider: LocalProvider | null = null;
  #publicUrl = "";
  /** The ids of the provider's current keys, as JSON. */
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
    this.#opened.resolve();
    const { token, ...stored } = createLink(passwordLinkMs);
    return (await this.#parts.users.offerFirst(stored)) ? this.linkFor(token) : null;
  }

  /** Loads the stored keys: another server may have replaced them, or some may have expired. */
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
  async handle(request: IncomingMessage, response: ServerResponse, address: string): Promise<void> {
    (await this.#whenOpen()).handle(request, response, address);
  }

  /** Null for an invalid token. */
  async verify(token: string, audience: TokenAudience): Promise<Identity | null> {
    const verified = await (await this.#whenOpen()).verify(token, audience);
    return verified && { issuer: localIssuer, ...verified };
  }

  /** Whether the user still allows the program to which a token was issued. */
  async isGranted(subject: string, clientId: string | null): Promise<boolean> {
    return (await this.#whenOpen()).isGranted(subject, clientId);
  }

  /** The URL of a one-time link. */
  async linkFor(token: string): Promise<string> {
    return (await this.#whenOpen()).linkFor(token);
  }

  async #whenOpen(): Promise<LocalProvider> {
    await this.#opened.promise;
    return this.#provider!;
  }
}
