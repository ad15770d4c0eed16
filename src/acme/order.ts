import { readFile } from "node:fs/promises";
import type { Authorization, Client, Order } from "acme-client";
import type { Logger } from "pino";
import { z } from "zod";
import type { AcmeConfig } from "../config/config.ts";
import { Backoff, pause } from "../core/retry.ts";
import { type Certificate, checkKeyPair, isFor, namesOf } from "../https/certificate.ts";
import { settleMs } from "./challenges.ts";
import { DirectoryRequests } from "./directory-requests.ts";
import { OrderError, printable, problemOf } from "./order-error.ts";
import type { AcmeAccount, AcmeStore } from "./store.ts";

const leastPollMs = 500;
const mostPollMs = 5_000;
/** The longest delay that a directory may ask for between two looks at an order. */
const mostRetryAfterMs = 30_000;
/** How long a response to a challenge stays: longer than an order may take. */
const challengeMs = 10 * 60_000;

const Challenge = z.object({
  type: z.string(),
  url: z.string(),
  status: z.string(),
  token: z
    .string()
    .regex(/^[\w-]{1,128}$/)
    .optional(),
  error: z.unknown().optional(),
});
type Challenge = z.infer<typeof Challenge>;
const Authorized = z.object({ status: z.string(), challenges: z.array(Challenge).max(20) });
const Ordered = z.object({
  status: z.string(),
  authorizations: z.array(z.string()).length(1),
  certificate: z.string().optional(),
  error: z.unknown().optional(),
});

/** The parts of an order that its server has. */
export interface OrderParts {
  config: AcmeConfig;
  store: AcmeStore;
  logger: Logger;
  version: string;
}

/** One order of a certificate (RFC 8555, 7.4), from the account to the issued certificate. */
export class CertificateOrder {
  readonly #parts: OrderParts;
  readonly #signal: AbortSignal;
  readonly #requests: DirectoryRequests;

  private constructor(parts: OrderParts, signal: AbortSignal, requests: DirectoryRequests) {
    this.#parts = parts;
    this.#signal = signal;
    this.#requests = requests;
  }

  /** Throws `OrderError`, and the reason of the signal once that aborts. */
  static async run(parts: OrderParts, signal: AbortSignal): Promise<Certificate> {
    const requests = new DirectoryRequests(await authoritiesIn(parts.config.caFile), parts.version, signal);
    try {
      return await new CertificateOrder(parts, signal, requests).#run();
    } finally {
      requests.close();
    }
  }

  async #run(): Promise<Certificate> {
    // Takes 40 MiB, which a server between two orders does not need.
    const { crypto } = await import("acme-client");
    const { client, order } = await this.#begin();
    await this.#authorize(client, order);
    const { name } = this.#parts.config;
    const [key, request] = await crypto.createCsr({ altNames: [name] }, await crypto.createPrivateEcdsaKey());
    await client.finalizeOrder(order, request);
    const issued = await this.#until(
      async () => checked(Ordered, await client.getOrder(order)),
      ({ status }) => status === "valid" || status === "invalid",
    );
    if (issued.status === "invalid") {
      throw new OrderError(`The directory did not issue the certificate: ${problemOf(issued.error).detail}`);
    }
    const certificate = await client.getCertificate({ ...order, ...issued } as Order);
    return issuedFor(name, { certificate: String(certificate), key: key.toString() });
  }

  /** Orders with the stored account, or a new one where there is none or the directory has removed it. */
  async #begin(): Promise<{ client: Client; order: Order }> {
    const { config, store } = this.#parts;
    const { crypto } = await import("acme-client");
    const account = (await store.account(config.directory)) ?? {
      key: (await crypto.createPrivateEcdsaKey()).toString(),
      url: null,
      email: null,
    };
    try {
      return await this.#orderAs(account);
    } catch (error) {
      if (!(error instanceof OrderError && error.problem === "accountDoesNotExist" && account.url !== null))
        throw error;
      return await this.#orderAs({ ...account, url: null });
    }
  }

  async #orderAs(account: AcmeAccount): Promise<{ client: Client; order: Order }> {
    const client = await this.#clientOf(account);
    await this.#register(client, account);
    const order = await client.createOrder({ identifiers: [{ type: "dns", value: this.#parts.config.name }] });
    checked(Ordered, order);
    return { client, order };
  }

  async #clientOf({ key, url }: AcmeAccount): Promise<Client> {
    const { Client } = await import("acme-client");
    const client = new Client({
      directoryUrl: this.#parts.config.directory,
      accountKey: key,
      ...(url === null ? {} : { accountUrl: url }),
    });
    // A field that the types do not have. The library's own requests wait and retry without limits.
    const { http } = client as unknown as { http: { request: DirectoryRequests["request"] } };
    http.request = this.#requests.request;
    return client;
  }

  async #register(client: Client, { key, url, email: known }: AcmeAccount): Promise<void> {
    const { config, store, logger } = this.#parts;
    const { directory, email } = config;
    if (url !== null && known === email) return;
    const terms = printable((await client.getTermsOfServiceUrl()) ?? "none");
    // Stored first: a key that was registered is not lost.
    await store.saveAccount(directory, { key, url: null, email });
    await client.createAccount({ termsOfServiceAgreed: true, contact: email === null ? [] : [`mailto:${email}`] });
    await store.saveAccount(directory, { key, url: client.getAccountUrl(), email });
    logger.info({ directory, terms }, "an ACME account is registered, with your agreement to the terms of service");
  }

  /** Proves that the name leads to this installation, unless the directory knows already. */
  async #authorize(client: Client, order: Order): Promise<void> {
    const { config, store } = this.#parts;
    const read = async () => checked(Authorized, (await client.getAuthorizations(order))[0] as Authorization);
    const { status, challenges } = await read();
    if (status === "valid") return;
    const challenge = challengeOf(challenges, config);
    const keyAuthorization = await client.getChallengeKeyAuthorization(challenge);
    const response = { token: challenge.token, name: config.name, type: config.challenge, keyAuthorization };
    await store.addChallenge(response, challengeMs);
    try {
      await pause(settleMs, this.#signal);
      await client.completeChallenge(challenge);
      const done = await this.#until(read, ({ status }) => status !== "pending");
      if (done.status !== "valid") throw this.#rejection(done.challenges);
    } finally {
      await store.removeChallenge(challenge.token).catch(() => {}); // It expires.
    }
  }

  #rejection(challenges: readonly Challenge[]): OrderError {
    const { name, challenge: type } = this.#parts.config;
    const failed = challenges.find((each) => each.type === type);
    const { problem, detail } = problemOf(failed?.error);
    return new OrderError(`The directory could not validate ${name} by ${type}: ${detail}`, { problem });
  }

  /** Reads until it is done, with the delays that the directory asks for. */
  async #until<T>(read: () => Promise<T>, isDone: (found: T) => boolean): Promise<T> {
    for (const backoff = new Backoff(leastPollMs, mostPollMs); ; ) {
      this.#signal.throwIfAborted();
      const found = await read();
      if (isDone(found)) return found;
      await pause(Math.max(backoff.next(), Math.min(this.#requests.retryAfterMs, mostRetryAfterMs)), this.#signal);
    }
  }
}

async function authoritiesIn(file: string | null): Promise<string | null> {
  if (file === null) return null;
  return readFile(file, "utf8").catch((error: Error) => {
    throw new OrderError(`BERTH_ACME_DIRECTORY_CA_FILE cannot be read: ${error.message}`, { cause: error });
  });
}

function checked<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const { path, message } = error.issues[0]!;
  throw new OrderError(`A response of the directory is invalid: ${printable(path.join("."))}: ${printable(message)}`);
}

function challengeOf(challenges: readonly Challenge[], { challenge: type, name }: AcmeConfig) {
  const { token, url } = challenges.find((each) => each.type === type) ?? {};
  // Its type in acme-client's declarations lacks TLS-ALPN-01, which the library knows.
  if (token !== undefined && url !== undefined)
    return { type: type as "http-01", url, token, status: "pending" as const };
  const offered = challenges.map((each) => printable(each.type)).join(", ") || "none";
  throw new OrderError(`The directory does not offer ${type} for ${name}. It offers: ${offered}.`);
}

/** Throws `OrderError` if the directory issued a certificate that this server cannot use. */
function issuedFor(name: string, pair: { certificate: string; key: string }): Certificate {
  try {
    const certificate = checkKeyPair(pair);
    if (isFor(certificate.leaf, name)) return certificate;
    throw new OrderError(`it is for other names: ${printable(namesOf(certificate.leaf).join(", "))}`);
  } catch (error) {
    throw new OrderError(
      `The directory issued a certificate that cannot be used: ${printable((error as Error).message)}`,
      {
        cause: error,
      },
    );
  }
}
