import type { IncomingMessage, ServerResponse } from "node:http";
import { createLink } from "./links.ts";
import { LocalProvider, type LocalProviderParts } from "./provider.ts";
import type { Identity } from "./tokens.ts";

interface LocalSignInParts extends Omit<LocalProviderParts, "publicUrl"> {
  /** The issuer under which the local users' accounts are kept: the service's address may change. */
  accountIssuer: string;
  /** Stores the link for the operator's own user in place of older ones. False when that user exists. */
  offerFirst: (link: { tokenHash: Buffer; expiresAt: Date }) => Promise<boolean>;
}

/** The service's own identity provider. It answers once the address is known under which clients reach it. */
export class LocalSignIn {
  readonly #parts: LocalSignInParts;
  #provider: LocalProvider | null = null;

  constructor(parts: LocalSignInParts) {
    this.#parts = parts;
  }

  /** Opens the provider at that address. Answers the operator's one-time link; null when the operator has a user. */
  async open(publicUrl: string): Promise<string | null> {
    this.#provider = new LocalProvider({ ...this.#parts, publicUrl });
    const { token, ...stored } = createLink();
    return (await this.#parts.offerFirst(stored)) ? this.linkFor(token) : null;
  }

  /** Answers a request for one of its pages. `address` is the client's. */
  handle(request: IncomingMessage, response: ServerResponse, address: string): void {
    if (this.#provider) this.#provider.handle(request, response, address);
    // A request may come between the first moment of listening and the one in which the address is known.
    else response.writeHead(503, { "retry-after": "1" }).end();
  }

  /** Null for a token that is not valid. */
  async verify(token: string): Promise<Identity | null> {
    const verified = await this.#provider?.verify(token);
    return verified ? { issuer: this.#parts.accountIssuer, ...verified } : null;
  }

  /** Where a one-time link leads. */
  linkFor(token: string): string {
    return this.#provider!.linkFor(token);
  }
}
