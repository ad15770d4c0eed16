import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { signatureSeconds, type Verification } from "../contract/automation-hooks.ts";

/** A request to a hook: the bytes that were sent. */
export interface Delivered {
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** The server's time. */
  now: Date;
}

/** The most signatures of a header that are compared. */
const maximumSignatures = 20;

/** Null: the sender has one of the secrets. Otherwise the reason why it is refused. */
export function refusalOf(verify: Verification, delivered: Delivered, secrets: readonly string[]): string | null {
  return verifiers[verify](delivered, secrets);
}

type Verifier = (delivered: Delivered, secrets: readonly string[]) => string | null;

const verifiers: Readonly<Record<Verification, Verifier>> = {
  "standard-webhooks": verifyStandard,
  github: verifyGithub,
  gitlab: ({ headers }, secrets) => verifyToken("x-gitlab-token", headerOf(headers, "x-gitlab-token"), secrets),
  slack: verifySlack,
  bearer: ({ headers }, secrets) => {
    const [, token = ""] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "") ?? [];
    return verifyToken("authorization", token, secrets);
  },
};

/**
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md. The package
 * `standardwebhooks` verifies decoded text instead of the bytes.
 */
function verifyStandard({ headers, body, now }: Delivered, secrets: readonly string[]): string | null {
  const names = ["webhook-id", "webhook-timestamp", "webhook-signature"] as const;
  const [id, time, signatures] = names.map((name) => headerOf(headers, name)) as [string, string, string];
  if (!id || !time || !signatures) return `The headers ${names.join(", ")} are required.`;
  const wrongTime = timeRefusal("webhook-timestamp", time, now);
  if (wrongTime) return wrongTime;
  const given = signatures.split(" ", maximumSignatures);
  const head = Buffer.from(`${id}.${time}.`, "latin1");
  const isRight = secrets.some((secret) => {
    const signature = createHmac("sha256", standardKey(secret)).update(head).update(body).digest("base64");
    return given.some((each) => isSame(each, `v1,${signature}`));
  });
  return isRight ? null : noMatch("webhook-signature");
}

/** The bytes of a secret `whsec_…`. */
export function standardKey(secret: string): Buffer {
  return Buffer.from(secret.replace(/^whsec_/, ""), "base64");
}

/** https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries */
function verifyGithub({ headers, body }: Delivered, secrets: readonly string[]): string | null {
  const given = headerOf(headers, "x-hub-signature-256");
  if (!given) return missing("x-hub-signature-256");
  const isRight = secrets.some((secret) => {
    const signature = createHmac("sha256", secret).update(body).digest("hex");
    return isSame(given, `sha256=${signature}`);
  });
  return isRight ? null : noMatch("x-hub-signature-256");
}

/** https://docs.slack.dev/authentication/verifying-requests-from-slack */
function verifySlack({ headers, body, now }: Delivered, secrets: readonly string[]): string | null {
  const given = headerOf(headers, "x-slack-signature");
  const time = headerOf(headers, "x-slack-request-timestamp");
  if (!given || !time) return "The headers x-slack-signature, x-slack-request-timestamp are required.";
  const wrongTime = timeRefusal("x-slack-request-timestamp", time, now);
  if (wrongTime) return wrongTime;
  const isRight = secrets.some((secret) => {
    const signature = createHmac("sha256", secret).update(`v0:${time}:`).update(body).digest("hex");
    return isSame(given, `v0=${signature}`);
  });
  return isRight ? null : noMatch("x-slack-signature");
}

function verifyToken(name: string, given: string, secrets: readonly string[]): string | null {
  if (!given) return missing(name);
  return secrets.some((secret) => isSame(given, secret)) ? null : `${name}: the token is not the hook's secret.`;
}

/** `time`: in seconds since 1970. */
function timeRefusal(name: string, time: string, now: Date): string | null {
  if (!/^\d{1,12}$/.test(time)) return `${name}: the time must be in whole seconds since 1970.`;
  const isNear = Math.abs(now.getTime() / 1000 - Number(time)) <= signatureSeconds;
  return isNear ? null : `${name}: the time is more than ${signatureSeconds / 60} minutes from the server's.`;
}

/** In a time that does not depend on the texts. */
function isSame(given: string, right: string): boolean {
  return timingSafeEqual(digestOf(given), digestOf(right));
}

function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function headerOf(headers: IncomingHttpHeaders, name: string): string {
  return [headers[name] ?? ""].flat().join(", ");
}

function missing(name: string): string {
  return `The header ${name} is required.`;
}

function noMatch(name: string): string {
  return `${name}: no signature is that of the hook's secret and these bytes.`;
}
