import { createECDH, type ECDH, randomBytes, randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { decrypt } from "http_ece";
import { importJWK, jwtVerify } from "jose";
import { TrustedServer } from "./trusted-server.ts";

/** A browser's subscription, as `PushSubscription.toJSON()` has it. */
export interface BrowserSubscription {
  endpoint: string;
  keys: { p256dh: string; auth: string };
}

interface Known {
  serverKey: string;
  ecdh: ECDH;
  auth: Buffer;
}

/**
 * A push service (RFC 8030) with its browsers: it checks who sends (VAPID, RFC 8292), and decrypts the messages as the
 * browser does (RFC 8291).
 */
export class PushService extends TrustedServer {
  /** The messages by the path of their subscription, decrypted. */
  readonly messages: { path: string; text: string; headers: IncomingMessage["headers"] }[] = [];
  /** The answer to valid messages. */
  status = 201;
  /** Why messages were refused. */
  readonly refusals: string[] = [];
  readonly #known = new Map<string, Known>();

  static async start(): Promise<PushService> {
    return new PushService(await TrustedServer.parts());
  }

  /** Makes a browser that subscribes with the server's key. */
  subscribe(serverKey: string): BrowserSubscription {
    const [ecdh, auth] = [createECDH("prime256v1"), randomBytes(16)];
    const path = `/push/${randomUUID()}`;
    this.#known.set(path, { serverKey, ecdh, auth });
    const keys = { p256dh: ecdh.generateKeys("base64url"), auth: auth.toString("base64url") };
    return { endpoint: this.url(path), keys };
  }

  unsubscribe({ endpoint }: BrowserSubscription): void {
    this.#known.delete(new URL(endpoint).pathname);
  }

  /** The decrypted messages to a browser. */
  to({ endpoint }: BrowserSubscription): unknown[] {
    return this.messages
      .filter(({ path }) => path === new URL(endpoint).pathname)
      .map(({ text }) => JSON.parse(text) as unknown);
  }

  protected async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url: path = "", headers } = request;
    const body = await buffer(request);
    const known = this.#known.get(path);
    if (!known) return void response.writeHead(410).end();
    if (body.length > 4_096) return void response.writeHead(413).end();
    const fault = await this.#faultOf(request, known);
    if (fault !== null) {
      this.refusals.push(fault);
      return void response.writeHead(403).end(fault);
    }
    if (this.status === 201) {
      const { ecdh, auth } = known;
      const text = decrypt(body, { version: "aes128gcm", privateKey: ecdh, authSecret: auth.toString("base64url") });
      this.messages.push({ path, text: text.toString(), headers });
    }
    response.writeHead(this.status, { location: this.url(`/message/${randomUUID()}`) }).end();
  }

  async #faultOf({ method, headers }: IncomingMessage, { serverKey }: Known): Promise<string | null> {
    if (method !== "POST") return "not a POST";
    if (!/^\d+$/.test(String(headers.ttl))) return "no TTL";
    if (headers["content-encoding"] !== "aes128gcm") return "another content encoding";
    const [, token, key] = /^vapid t=([\w.-]+), ?k=([\w-]+)$/.exec(headers.authorization ?? "") ?? [];
    if (!token || key !== serverKey) return "not the key of the subscription";
    const point = Buffer.from(key, "base64url");
    const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((half) => half.toString("base64url"));
    const verifier = await importJWK({ kty: "EC", crv: "P-256", x: x!, y: y! }, "ES256");
    const audience = `https://${this.authorityText}`;
    const checks = { audience, requiredClaims: ["exp", "sub"], algorithms: ["ES256"] };
    const { payload } = await jwtVerify(token, verifier, checks);
    if (payload.exp! > Date.now() / 1000 + 24 * 60 * 60) return "valid for more than a day";
    return /^(mailto:|https:)/.test(String(payload.sub)) ? null : "no subject";
  }
}
