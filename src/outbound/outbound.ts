import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { buildConnector } from "undici";
import { parseAuthority } from "../contract/egress-rules.ts";
import { BerthError } from "../contract/errors.ts";
import { type Resolve, resolveHere, resolvePublic } from "../egress/names.ts";
import type { AgentRules, Destination, Policy } from "../egress/policy.ts";

/** For a whole call: the look-up, the connection, the request and the answer. */
const callMs = 10_000;
/** The most bytes of an answer's body that are read. */
const maximumAnswerBytes = 64 * 1024;
/** The most bytes of an answer's head. */
const maximumHeadBytes = 16 * 1024;
/** The most calls at once: of one workspace, and of all. */
const maximumOfAccount = 8;
const maximumCalls = 64;

/** Workspaces have no lists: every host that the policy allows. */
const everywhere: AgentRules = { allow: ["*"], deny: [], ask: false };

/** Why a call has no answer. */
export type CallFault = "refused" | "unresolved" | "unreachable" | "timeout" | "answer_invalid";

/** A call without an answer. The message contains nothing that the other side sent. */
export class CallFailed extends Error {
  readonly fault: CallFault;

  constructor(fault: CallFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }
}

/** A POST to an address that a workspace has named. */
export interface Call {
  accountId: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string | Buffer;
  /** Ends the call early. */
  signal?: AbortSignal;
}

export interface CallAnswer {
  status: number;
  /** The header `retry-after`, as sent. */
  retryAfter: string | null;
}

interface Target extends Destination {
  url: URL;
}

/**
 * The server's calls to addresses that workspaces name. Connects only to addresses that it has checked: public ones, and
 * hosts that the operator has listed. Follows no redirects, and uses no proxy of the environment.
 */
export class Outbound {
  readonly #policy: Policy;
  readonly #resolve: Resolve;
  readonly #closed = new AbortController();
  readonly #calls = new Map<string, number>();
  #open = 0;

  /** `resolve` replaces DNS in tests. */
  constructor(policy: Policy, resolve: Resolve = resolvePublic) {
    this.#policy = policy;
    this.#resolve = resolve;
  }

  /** How many more calls of the workspace may begin now. */
  free(accountId: string): number {
    return Math.min(maximumCalls - this.#open, maximumOfAccount - (this.#calls.get(accountId) ?? 0));
  }

  /**
   * Throws `request_invalid` for an address that is never called. A name is checked again at each call. `field`: where the
   * request has it.
   */
  async requireAllowed(text: string, field = "url"): Promise<void> {
    const target = this.#targetOf(text);
    if (typeof target === "string") throw new BerthError("request_invalid", `${field}: ${target}`);
    const addresses = target.host.kind === "address" ? [target.host.text] : [];
    const refusal = await this.#refusalOf(target, addresses);
    if (refusal !== null) throw new BerthError("request_invalid", `${field}: ${refusal}`);
  }

  /** Rejects with `CallFailed` if there is no answer. */
  async post(call: Call): Promise<CallAnswer> {
    const { accountId } = call;
    if (this.free(accountId) <= 0) throw new CallFailed("timeout", "Too many calls at once.");
    this.#calls.set(accountId, (this.#calls.get(accountId) ?? 0) + 1);
    this.#open++;
    const late = AbortSignal.timeout(callMs);
    try {
      return await this.#post(
        call,
        AbortSignal.any([late, this.#closed.signal, ...(call.signal ? [call.signal] : [])]),
      );
    } catch (error) {
      throw asFault(error, late.aborted);
    } finally {
      this.#open--;
      const left = this.#calls.get(accountId)! - 1;
      if (left === 0) this.#calls.delete(accountId);
      else this.#calls.set(accountId, left);
    }
  }

  /** Opens the connections of undici's clients, which make calls of other kinds: to checked addresses only. */
  readonly connect: buildConnector.connector = (options, callback) => {
    const signal = AbortSignal.any([this.#closed.signal, AbortSignal.timeout(callMs)]);
    this.#checked(`${options.protocol}//${options.host ?? options.hostname}`, signal).then(
      ({ addresses }) => buildConnector({ timeout: callMs, lookup: answering(addresses) })(options, callback),
      (error: Error) => callback(error, null),
    );
  };

  /** Ends all calls. */
  close(): void {
    this.#closed.abort();
  }

  async #post({ url, headers, body }: Call, signal: AbortSignal): Promise<CallAnswer> {
    const { target, addresses } = await this.#checked(url, signal);
    return send(target.url, { addresses, headers, body, signal });
  }

  /** Throws `CallFailed` for an address that is not called. */
  async #checked(url: string, signal: AbortSignal): Promise<{ target: Target; addresses: string[] }> {
    const target = this.#targetOf(url);
    if (typeof target === "string") throw new CallFailed("refused", target);
    const asked = this.#policy.refuseAsked(target, everywhere);
    if (asked !== null) throw new CallFailed("refused", sentenceOf(asked));
    const addresses = await abortable(this.#addressesOf(target), signal);
    if (addresses.length === 0) throw new CallFailed("unresolved", "The host's name has no address.");
    const refusal = await this.#refusalOf(target, addresses);
    if (refusal !== null) throw new CallFailed("refused", refusal);
    return { target, addresses };
  }

  /** The destination of an address, or the sentence that says why it has none. */
  #targetOf(text: string): Target | string {
    if (!URL.canParse(text)) return addressForm;
    const url = new URL(text);
    if (!["http:", "https:"].includes(url.protocol)) return addressForm;
    if (url.username !== "" || url.password !== "" || url.hash !== "") return addressForm;
    const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : url.port;
    const destination = parseAuthority(`${url.hostname}:${port}`);
    if (!destination) return addressForm;
    if (url.protocol === "http:" && !this.#policy.isException(destination)) {
      return "Only https is allowed. http is for inner hosts that the operator has listed.";
    }
    return { ...destination, url };
  }

  async #refusalOf(target: Target, addresses: readonly string[]): Promise<string | null> {
    const asked = this.#policy.refuseAsked(target, everywhere);
    const refusal = asked ?? (await this.#policy.refuseAddresses(target, addresses, everywhere));
    return refusal && sentenceOf(refusal);
  }

  async #addressesOf({ host, port }: Destination): Promise<string[]> {
    if (host.kind === "address") return [host.text];
    const resolve = this.#policy.isException({ host, port }) ? resolveHere : this.#resolve;
    return resolve(host.text).catch(() => []);
  }
}

const addressForm = "An address is https://HOST/PATH, without a user name, a password or a fragment.";

function sentenceOf(refusal: string): string {
  if (refusal === "port_refused") return "This port is not allowed.";
  if (refusal === "denied_by_operator") return "The operator does not allow this host.";
  return "The host is not on the public internet. Inner hosts are allowed if the operator has listed them.";
}

interface Sending {
  addresses: readonly string[];
  headers: Readonly<Record<string, string>>;
  body: string | Buffer;
  signal: AbortSignal;
}

/** A status decides, whatever follows it. */
async function send(url: URL, { addresses, headers, body, signal }: Sending): Promise<CallAnswer> {
  const begin = url.protocol === "https:" ? httpsRequest : httpRequest;
  const request: ClientRequest = begin(url, {
    method: "POST",
    // A new agent, which knows no proxy and no earlier connection.
    agent: false,
    lookup: answering(addresses),
    headers: { ...headers, "content-length": Buffer.byteLength(body) },
    maxHeaderSize: maximumHeadBytes,
    signal,
  });
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request.on("response", resolve).on("error", reject);
  request.on("upgrade", (_response, socket) => {
    socket.destroy();
    reject(new CallFailed("answer_invalid", "The receiver's answer is not HTTP."));
  });
  request.end(body);
  try {
    const response = await promise;
    await drain(response).catch(() => {});
    return { status: response.statusCode!, retryAfter: response.headers["retry-after"] ?? null };
  } finally {
    request.destroy();
  }
}

/** Reads a body up to its limit. */
async function drain(response: IncomingMessage): Promise<void> {
  let size = 0;
  for await (const chunk of response) {
    size += (chunk as Buffer).length;
    if (size >= maximumAnswerBytes) return;
  }
}

/** A look-up that returns these addresses, whatever the name has by now. */
function answering(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, options, callback) => {
    if (options.all) callback(null, all);
    else callback(null, all[0]!.address, all[0]!.family);
  };
}

/** Rejects when the signal aborts, although the promise does not. */
function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort);
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener("abort", abort));
}

function asFault(error: unknown, isLate: boolean): CallFailed {
  if (error instanceof CallFailed) return error;
  const cause = { cause: error };
  if (isLate) return new CallFailed("timeout", `There was no answer within ${callMs / 1000} s.`, cause);
  // An abort has a number.
  const code = String((error as NodeJS.ErrnoException).code ?? "");
  if (code.startsWith("HPE_")) return new CallFailed("answer_invalid", "The receiver's answer is not HTTP.", cause);
  if (/CERT|SELF_SIGNED|TLS|SSL|UNABLE_TO/.test(code)) {
    return new CallFailed("unreachable", `The TLS connection failed: ${code}.`, cause);
  }
  return new CallFailed("unreachable", `The connection failed${/^E[A-Z]+$/.test(code) ? `: ${code}` : ""}.`, cause);
}
