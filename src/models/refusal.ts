import type { Fault } from "../contract/agents.ts";
import type { BerthError, ErrorCode } from "../contract/errors.ts";
import type { LoginFailed } from "./provider.ts";

/** Why a model call failed, and how it can be retried. */
export interface Refusal {
  fault: Fault;
  /** The status for the guest. `body` is the provider's own text; null if it sent none. */
  status: number;
  body: string | null;
  /** The same call may succeed later. */
  transient: boolean;
  /** How long the provider asks to wait, in milliseconds; null if it does not say. */
  retryAfterMs: number | null;
  /** The runtime may be able to recover, for example by shortening a conversation that has grown too long. */
  recoverable: boolean;
}

/** A provider's text is truncated to this length, in characters. */
const maximumText = 300;

/** Text of a 400 or 403 that means the account is out of money, from Anthropic, OpenAI and OpenRouter. */
const ofMoney = /credit balance|billing|insufficient (?:quota|credits|funds|balance)|exceeded your current quota/i;

/** Google's answer to a wrong key is a 400. */
const ofKey = /api key (?:not valid|expired|not found)/i;

/** Google's answer to too many requests speaks of billing, and says in its body when to ask again. */
const retryInfo = /"retryDelay"\s*:\s*"(\d{1,6}(?:\.\d{1,9})?)s"/;

const codes: Record<number, ErrorCode> = {
  401: "model_credentials_refused",
  402: "model_unpaid",
  403: "model_credentials_refused",
  404: "model_not_available",
  429: "model_rate_limited",
  503: "model_overloaded",
  529: "model_overloaded",
};

/** Explanations of a refusal for the user of an agent. */
const sentences: Partial<Record<ErrorCode, string>> = {
  model_credentials_refused: "The model's provider does not accept the key",
  model_unpaid: "The model's provider requires payment",
  model_not_available: "The model's provider has no such model",
  model_rate_limited: "The model's provider accepts no more requests for now",
  model_overloaded: "The model's provider is overloaded",
  model_request_refused: "The model's provider refused the request",
  model_failed: "The model's provider failed",
};

/** Interprets an error status. `body` is the response's text, `retryAfter` its header. */
export function refusalOf(status: number, body: string, retryAfter: string | undefined): Refusal {
  const text = messageIn(body);
  const delay = retryInfo.exec(body)?.[1];
  const code = status === 429 && delay !== undefined ? "model_rate_limited" : codeOf(status, text);
  const wait = retryAfterMs(retryAfter ?? delay);
  // A message about a key may repeat part of the key.
  const said = code === "model_credentials_refused" || text === "" ? "" : `: ${text}`;
  const later = wait === null ? "" : ` Try again in ${Math.ceil(wait / 1000)} s.`;
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

/** There is no provider for the call. */
export function unconfigured(provider: string): Refusal {
  return without({ code: "model_not_available", message: `There is no provider ${provider} here.` }, 404);
}

/** The provider's credentials were encrypted with another secret key. */
export function unreadable(provider: string, problem: string | null): Refusal {
  const message = problem
    ? `The provider ${provider} has no key. ${problem}`
    : `The credentials of the provider ${provider} cannot be read: set them again.`;
  return without({ code: "model_credentials_refused", message }, 502);
}

/** A subscription has to be connected. */
export function loggedOut({ message }: LoginFailed): Refusal {
  return without({ code: "model_credentials_refused", message }, 401);
}

/** Only its vendor's runtime may use a subscription. */
export function notForRuntime(provider: string, runtime: string): Refusal {
  const message = `The provider ${provider} is a subscription that only the runtime ${runtime} may use.`;
  return without({ code: "model_not_available", message }, 403);
}

/** The model has no known price. */
export function unpriced(model: string): Refusal {
  const message = `The price of ${model} is unknown here: the operator can set one (BERTH_PRICES_FILE), or allow models without a price (BERTH_UNPRICED_MODELS=allow).`;
  return without({ code: "model_not_available", message }, 404);
}

/** The payer has too few credits. */
export function short(error: BerthError): Refusal {
  return without(faultOf(error), 402);
}

/** A turn's error for too few credits. */
export function faultOf({ code, message, details }: BerthError): Fault {
  return { code, message, details: details as Fault["details"] };
}

/** A refusal without an answer from the provider. */
function without(fault: Fault, status: number): Refusal {
  return { fault, status, body: null, transient: false, retryAfterMs: null, recoverable: false };
}

export const interrupted: Fault = {
  code: "model_interrupted",
  message:
    "The model's response was cut off. The partial response was saved; send the message again for a complete one.",
};

function codeOf(status: number, text: string): ErrorCode {
  if (status < 500 && ofMoney.test(text)) return "model_unpaid";
  if (status === 400 && ofKey.test(text)) return "model_credentials_refused";
  return codes[status] ?? (status < 500 ? "model_request_refused" : "model_failed");
}

interface ErrorBody {
  error?: { message?: unknown } | string;
  message?: unknown;
}

/** The message in an error's body: `{error: {message}}`, in a list from Google, `{message}` from some servers, or plain text. */
function messageIn(body: string): string {
  try {
    const parsed = JSON.parse(body) as ErrorBody | [ErrorBody];
    const json = Array.isArray(parsed) ? parsed[0] : parsed;
    const inner = typeof json.error === "object" ? json.error.message : json.error;
    return shortened(String(inner ?? json.message ?? ""));
  } catch {
    return body.trimStart().startsWith("<") ? "" : shortened(body);
  }
}

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > maximumText ? `${line.slice(0, maximumText).toWellFormed()}…` : line;
}

/** Seconds or a date: https://www.rfc-editor.org/rfc/rfc9110#field.retry-after */
function retryAfterMs(header: string | undefined): number | null {
  if (!header) return null;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}
