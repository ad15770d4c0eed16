import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Verification } from "../contract/automation-hooks.ts";
import { BerthError } from "../contract/errors.ts";
import { JsonTooComplex, parseJson } from "../core/json-structure.ts";
import { storableValue } from "../turns/storable.ts";
import type { Delivered } from "./verify-delivery.ts";

/** A verified delivery, as templates and filters read it. */
export interface Payload {
  /** The JSON, the fields of a form, or the text of another type. */
  body: unknown;
  /** The sender's name of the event; null: it has none. */
  event: string | null;
  /** The sender's id of the delivery; null: it has none. */
  deliveryId: string | null;
  /** Whether it tests the address, and starts nothing. */
  isTest: boolean;
  /** Slack's text to be repeated. */
  challenge: string | null;
  /** Whether a person waits for the answer to a command. */
  isCommand: boolean;
}

const maximumFields = 1_000;
const maximumIdLength = 255;
const maximumEventLength = 200;

/** Throws `request_invalid` for a body that is not of its type. */
export function readPayload(verify: Verification, { headers, body: bytes }: Delivered): Payload {
  const body = parseBody(headers["content-type"] ?? "", bytes);
  const fields = isObject(body) ? body : {};
  const sender = senders[verify](fields, headers);
  const event = textOf(sender.event);
  const id = textOf(sender.id);
  return {
    body: verify === "slack" ? withoutToken(body) : body,
    event: event?.slice(0, maximumEventLength) ?? null,
    deliveryId: id !== null && id.length > maximumIdLength ? createHash("sha256").update(id).digest("hex") : id,
    isTest: sender.isTest ?? false,
    challenge: textOf(sender.challenge),
    isCommand: sender.isCommand ?? false,
  };
}

type Fields = Readonly<Record<string, unknown>>;

/** The fields of a delivery that a sender's documentation describes. */
interface Described {
  event: unknown;
  id: unknown;
  isTest?: boolean;
  challenge?: unknown;
  isCommand?: boolean;
}

const senders: Readonly<Record<Verification, (body: Fields, headers: IncomingHttpHeaders) => Described>> = {
  "standard-webhooks": (body, headers) => ({ event: body.type, id: headers["webhook-id"] }),
  github: (_, headers) => {
    const event = headers["x-github-event"];
    return { event, id: headers["x-github-delivery"], isTest: event === "ping" };
  },
  gitlab: (_, headers) => ({
    event: headers["x-gitlab-event"],
    id: headers["idempotency-key"] ?? headers["x-gitlab-event-uuid"],
  }),
  slack: (body) => {
    if (body.type === "url_verification") {
      return { event: body.type, id: null, isTest: true, challenge: body.challenge };
    }
    if (body.ssl_check === "1") return { event: "ssl_check", id: null, isTest: true };
    const isCommand = typeof body.command === "string";
    const event = isObject(body.event) ? body.event.type : (body.command ?? body.type);
    return { event, id: body.event_id ?? body.trigger_id, isCommand };
  },
  bearer: (body, headers) => ({ event: body.type, id: headers["idempotency-key"] }),
};

/** Slack's old proof of a sender, which is a credential. */
function withoutToken(body: unknown): unknown {
  if (!isObject(body)) return body;
  const { token: _, ...others } = body;
  return others;
}

function parseBody(contentType: string, bytes: Buffer): unknown {
  const type = contentType.split(";", 1)[0]!.trim().toLowerCase();
  if (type === "application/json" || type.endsWith("+json")) return parse(bytes);
  if (type === "application/x-www-form-urlencoded") return parseForm(bytes);
  return storableValue(bytes.toString("utf8"));
}

/** GitHub and Slack send JSON in the field `payload`. */
function parseForm(bytes: Buffer): unknown {
  let fields = 1;
  for (const byte of bytes) if (byte === 0x26) fields++;
  if (fields > maximumFields) throw new BerthError("request_invalid", `A form has up to ${maximumFields} fields.`);
  const form = new URLSearchParams(bytes.toString("utf8"));
  const payload = form.get("payload");
  return payload === null ? storableValue(Object.fromEntries(form)) : parse(Buffer.from(payload));
}

function parse(bytes: Buffer): unknown {
  try {
    return storableValue(parseJson(bytes));
  } catch (error) {
    const isKnown = error instanceof JsonTooComplex;
    throw new BerthError(
      "request_invalid",
      isKnown ? `The body is too complex. ${error.message}` : "The body is not JSON.",
    );
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** Names of headers that may carry a credential or a proof of one. */
const secretNames = /auth|cookie|signature|hmac|jwt|token|secret|password|credential|api-?key/;

/** A delivery's headers without credentials. */
export function plainHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const plain = Object.entries(headers).filter(([name]) => !secretNames.test(name));
  return Object.fromEntries(plain.map(([name, value]) => [name, [value ?? ""].flat().join(", ")]));
}
