import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { KubeConfig, type RequestContext } from "@kubernetes/client-node";
import { BerthError } from "../contract/errors.ts";

/** An API server that does not answer counts as unavailable, so that running machines do not wait for it. */
const answerMs = 15_000;

type DispatcherOptions = ReturnType<KubeConfig["createDispatcherOptions"]>;

/** A cluster's address and credentials. Requests end after `answerMs`. */
export class ClusterConnection extends KubeConfig {
  /** Settings of the last request's connections and of those in use. */
  #settings: DispatcherOptions | null = null;
  #usedSettings: DispatcherOptions | null = null;
  #connections: ReturnType<RequestContext["getDispatcher"]>;

  /** `kubeconfig`: a file; null: the service account of this pod. Throws `machine_failed` if it names no cluster. */
  constructor(kubeconfig: string | null) {
    super();
    if (kubeconfig === null) this.loadFromCluster();
    else this.#loadFrom(kubeconfig);
    const server = this.getCurrentCluster()?.server;
    if (server !== undefined && URL.canParse(server)) return;
    const why = kubeconfig === null ? "KUBECONFIG is not set, and this is no pod" : `${kubeconfig} names none`;
    throw new BerthError("machine_failed", `There is no cluster: ${why}.`);
  }

  #loadFrom(file: string): void {
    try {
      this.loadFromFile(file);
    } catch (error) {
      const [why] = (error as Error).message.split("\n");
      throw new BerthError("machine_failed", `KUBECONFIG cannot be read: ${file}: ${why}.`, { cause: error });
    }
  }

  override async applySecurityAuthentication(context: RequestContext): Promise<void> {
    await super.applySecurityAuthentication(context);
    // The library makes new connections for each request, a TLS handshake each; a new certificate still needs new ones.
    const made = context.getDispatcher();
    if (!isDeepStrictEqual(this.#usedSettings, this.#settings)) {
      this.#usedSettings = this.#settings;
      this.#connections = made;
    }
    if (this.#connections) context.setDispatcher(this.#connections);
    context.setSignal(AbortSignal.timeout(answerMs));
  }

  override createDispatcherOptions(...of: Parameters<KubeConfig["createDispatcherOptions"]>): DispatcherOptions {
    this.#settings = super.createDispatcherOptions(...of);
    return this.#settings;
  }

  /** Null if the client's certificate is valid, or there is none. */
  expiredAt(): Date | null {
    const { certData, certFile } = this.getCurrentUser() ?? {};
    if (!certData && !certFile) return null;
    const { validToDate } = new X509Certificate(certData ? Buffer.from(certData, "base64") : readFileSync(certFile!));
    return validToDate < new Date() ? validToDate : null;
  }
}

/** The HTTP status of a refusal; undefined for any other error. */
export function statusOf(error: unknown): number | undefined {
  const { code } = error as { code?: unknown };
  return typeof code === "number" ? code : undefined;
}

/** Why the API server refused a request, as the end of a sentence. */
export function reasonOf(error: unknown): string {
  const { body, message, cause, name } = error as Error & { body?: unknown; cause?: Error & { code?: string } };
  // The message of the client's errors has the whole response, with its headers.
  if (typeof body === "string") return messageIn(body);
  if (statusOf(error) !== undefined) return `HTTP status ${statusOf(error)}`;
  if (name === "TimeoutError") return `it does not answer within ${answerMs / 1000} s`;
  return (cause?.code && reasons[cause.code]) || cause?.message || message;
}

/** Reads a `Status` response. */
function messageIn(body: string): string {
  try {
    const { message } = JSON.parse(body) as { message?: unknown };
    if (typeof message === "string") return message;
  } catch {
    // A response from a proxy in front of the API server.
  }
  return body.slice(0, 300);
}

const untrusted = "its certificate is not of the authority that KUBECONFIG names";
/** By code of Node's errors. */
const reasons: Record<string, string> = {
  CERT_HAS_EXPIRED: "its certificate has expired",
  CERT_SIGNATURE_FAILURE: untrusted,
  CERT_NOT_YET_VALID: "its certificate is not valid yet: compare the clocks",
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  ECONNREFUSED: "nothing listens there",
  ENOTFOUND: "there is no host of that name",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another name",
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UND_ERR_CONNECT_TIMEOUT: "it does not answer",
};
