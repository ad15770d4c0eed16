import type { Fault } from "../contract/agents.ts";
import type { BerthError, ErrorCode } from "../contract/errors.ts";

/** That a model call got no answer, and what can be done about it. */
export interface Refusal {
  fault: Fault;
  /** The status for the guest, and the provider's own words for it; null where it has said nothing. */
  status: number;
  body: string | null;
  /** The same call may be answered later. */
  transient: boolean;
  /** What the provider asks to wait, in milliseconds; null where it says nothing. */
  retryAfterMs: number | null;
  /** The runtime may know better: it shortens a conversation that has grown too long, for one. */
  recoverable: boolean;
}

/** What a provider's text is cut to, in characters. */
const maximumText = 300;

/** Words by which a provider says with a 400 or a 403 that it wants money: Anthropic's, OpenAI's, OpenRouter's. */
const ofMoney = /credit balance|billing|insufficient (?:quota|credits|funds|balance)|exceeded your current quota/i;

const codes: Record<number, ErrorCode> = {
  401: "model_credentials_refused",
  402: "model_unpaid",
  403: "model_credentials_refused",
  404: "model_not_available",
  429: "model_rate_limited",
  503: "model_overloaded",
  529: "model_overloaded",
};

/** What a status says, to the user of an agent. */
const sentences: Partial<Record<ErrorCode, string>> = {
  model_credentials_refused: "The model's provider does not accept this installation's key",
  model_unpaid: "The model's provider asks for payment by this installation",
  model_not_available: "The model's provider has no such model",
  model_rate_limited: "The model's provider takes no more requests for now",
  model_overloaded: "The model's provider is overloaded",
  model_request_refused: "The model's provider refused the request",
  model_failed: "The model's provider failed",
};

/** What a status other than success means. `body` is what came with it, `retryAfter` the header. */
export function refusalOf(status: number, body: string, retryAfter: string | undefined): Refusal {
  const text = messageIn(body);
  const code = codeOf(status, text);
  const wait = retryAfterMs(retryAfter);
  // What is said about a key may repeat a part of it.
  const said = code === "model_credentials_refused" || text === "" ? "" : `: ${text}`;
  const later = wait === null ? "" : ` It may be asked again in ${Math.ceil(wait / 1000)} s.`;
  return {
    fault: { code, message: `${sentences[code]} (${status})${said}${/[.!?]$/.test(said) ? "" : "."}${later}` },
    status,
    body: code === "model_credentials_refused" ? null : body,
    transient: [408, 409, 429].includes(status) || status >= 500,
    retryAfterMs: wait,
    recoverable: code === "model_request_refused",
  };
}

export function unreachable(reason: string): Refusal {
  const message = `The model's provider cannot be reached (${reason}).`;
  return { ...without({ code: "model_unreachable", message }, 502), transient: true };
}

export function stalled(silenceMs: number): Refusal {
  return without(
    { code: "model_stalled", message: `The model's provider sent nothing for ${silenceMs / 1000} s.` },
    504,
  );
}

/** The provider is there, but this installation has no key of it. */
export function unconfigured(provider: string): Refusal {
  return without({ code: "model_not_available", message: `This installation has no key of ${provider}.` }, 404);
}

/** Nobody knows what the model costs. */
export function unpriced(model: string): Refusal {
  const message = `The price of ${model} is not known here: its operator can give it one (BERTH_PRICES_FILE), or allow models without a price (BERTH_UNPRICED_MODELS=allow).`;
  return without({ code: "model_not_available", message }, 404);
}

/** Whoever pays for the call has not enough. */
export function short({ code, message }: BerthError): Refusal {
  return without({ code, message }, 402);
}

/** A refusal without an answer. */
function without(fault: Fault, status: number): Refusal {
  return { fault, status, body: null, transient: false, retryAfterMs: null, recoverable: false };
}

export const interrupted: Fault = {
  code: "model_interrupted",
  message: "The model's answer broke off. What has come of it is kept; send the message again for a whole one.",
};

function codeOf(status: number, text: string): ErrorCode {
  if (status < 500 && ofMoney.test(text)) return "model_unpaid";
  return codes[status] ?? (status < 500 ? "model_request_refused" : "model_failed");
}

/** The message in an error's body: of both APIs `{error: {message}}`, of some servers `{message}`, or plain text. */
function messageIn(body: string): string {
  try {
    const json = JSON.parse(body) as { error?: { message?: unknown } | string; message?: unknown };
    const inner = typeof json.error === "object" ? json.error.message : json.error;
    return shortened(String(inner ?? json.message ?? ""));
  } catch {
    return body.trimStart().startsWith("<") ? "" : shortened(body);
  }
}

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > maximumText ? `${line.slice(0, maximumText)}…` : line;
}

/** Seconds or a date: https://www.rfc-editor.org/rfc/rfc9110#field.retry-after */
function retryAfterMs(header: string | undefined): number | null {
  if (!header) return null;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}
