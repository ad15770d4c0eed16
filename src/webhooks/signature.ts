import { randomBytes } from "node:crypto";
import { Webhook } from "standardwebhooks";

/** The size of a secret that Standard Webhooks recommends. */
const secretBytes = 24;

export function newSecret(): string {
  return `whsec_${randomBytes(secretBytes).toString("base64")}`;
}

/** The headers of a delivery (Standard Webhooks 1.0). Each secret signs; a receiver needs to know one of them. */
export function signedHeaders(id: string, body: string, secrets: readonly string[], at: Date): Record<string, string> {
  return {
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": secrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(" "),
  };
}
