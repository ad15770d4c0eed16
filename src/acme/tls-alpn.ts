import { createSecureContext, type SecureContext, type TLSSocket, type TlsOptions } from "node:tls";
import type { AppContext } from "../context.ts";
import { acmeProtocol } from "../core/http/front-server.ts";
import type { Acme } from "./acme.ts";
import { challengeCertificate } from "./challenge-certificate.ts";
import type { ChallengeResponse } from "./store.ts";

const http = "http/1.1";

/**
 * Answers TLS-ALPN-01: a connection that asks for its protocol gets the certificate with the response. With TLS 1.3,
 * OpenSSL chooses the protocol before the certificate, with TLS 1.2 after it.
 */
export class TlsAlpnResponder {
  readonly #acme: Acme;
  /** By name. */
  readonly #contexts = new Map<string, { token: string; context: SecureContext }>();
  readonly #validations = new WeakSet<TLSSocket>();

  constructor(acme: Acme) {
    this.#acme = acme;
  }

  /** Of the HTTPS server. */
  get tlsOptions(): Pick<TlsOptions, "SNICallback" | "ALPNCallback"> {
    const responder = this;
    return {
      // Node calls both as methods of the socket.
      SNICallback(this: TLSSocket, name, callback) {
        void responder.#contextFor(name).then((context) => {
          if (!responder.#validations.has(this)) callback(null);
          else if (context) callback(null, context);
          else callback(new Error("there is no challenge for this name"));
        });
      },
      ALPNCallback(this: TLSSocket, { servername, protocols }) {
        if (!protocols.includes(acmeProtocol)) return protocols.includes(http) ? http : undefined;
        if (!servername) return undefined;
        responder.#validations.add(this);
        const known = responder.#contexts.get(servername);
        if (known) this.setKeyCert(known.context);
        return acmeProtocol;
      },
    };
  }

  /** Never rejects. */
  async #contextFor(name: string): Promise<SecureContext | null> {
    const challenges = await this.#acme.pendingChallenges();
    const challenge = challenges.find((each) => each.type === "tls-alpn-01" && each.name === name);
    if (!challenge) {
      this.#contexts.delete(name);
      return null;
    }
    const known = this.#contexts.get(name);
    if (known?.token === challenge.token) return known.context;
    const context = await contextOf(challenge).catch(() => null);
    if (context) this.#contexts.set(name, { token: challenge.token, context });
    return context;
  }
}

async function contextOf(challenge: ChallengeResponse): Promise<SecureContext> {
  const { certificate, key } = await challengeCertificate(challenge);
  return createSecureContext({ key, cert: certificate });
}

/** Null where the certificate is not ordered with TLS-ALPN-01. */
export function openTlsAlpn({ config, acme }: AppContext): TlsAlpnResponder | null {
  return acme && config.https?.acme?.challenge === "tls-alpn-01" ? new TlsAlpnResponder(acme) : null;
}
