import type { ServerHttp2Stream } from "node:http2";
import type { Logger } from "pino";
import type { Config } from "./config/config.ts";
import type { Network } from "./contract/egress.ts";
import type { GuestSecrets } from "./contract/guest.ts";
import type { SetSecret } from "./contract/secrets.ts";
import { makeAuthority } from "./egress/authority.ts";
import { Certificates } from "./egress/certificates.ts";
import { Egress } from "./egress/egress.ts";
import type { Sealer } from "./identity/sealing.ts";
import type { ConnectionPosition, ConnectionState, EgressLists } from "./service/egress.ts";
import type { SecretState } from "./service/secrets.ts";
import { AgentSecrets, type Authority } from "./store/agent-secrets.ts";
import type { Database } from "./store/database.ts";
import { EgressLog } from "./store/egress-log.ts";
import { EgressRules } from "./store/egress-rules.ts";

interface AgentEgressOptions {
  config: Config;
  database: Database;
  sealer: Sealer;
  logger: Logger;
  /** Where the service listens. */
  ownUrl: () => string;
  /** A connection was allowed or refused. */
  decided: (verdict: "allowed" | "refused") => void;
  /** A tunnel has ended, with so many bytes. */
  carried: (bytesSent: number, bytesReceived: number) => void;
}

/** The web as agents reach it: its policy, the way there, and what is written down of it. */
export class AgentEgress {
  readonly #operator: EgressLists;
  readonly #rules: EgressRules;
  readonly #log: EgressLog;
  readonly #egress: Egress;
  readonly secrets: AgentSecrets;
  readonly #certificates: Certificates;

  constructor({ config, database, sealer, logger, ownUrl, decided, carried }: AgentEgressOptions) {
    this.#operator = config.egress;
    this.#rules = new EgressRules(database);
    this.#log = new EgressLog(database);
    this.secrets = new AgentSecrets(database, sealer);
    this.#certificates = new Certificates((agentId) => this.#authorityOf(agentId));
    this.#egress = new Egress({
      operator: config.egress,
      inside: config.egressInside,
      own: () => ownPlaces(config, ownUrl()),
      rulesOf: (agentId) => this.#rules.of(agentId),
      secrets: {
        of: (agentId) => this.secrets.open(agentId),
        certificate: (agentId, host) => this.#certificates.of(agentId, host),
      },
      write: (entries) => this.#log.write(entries),
      decided,
      carried,
      warn: (message, error) => logger.warn({ err: error }, message),
    });
  }

  /** Serves one CONNECT of an agent's machine. */
  tunnel(agentId: string, stream: ServerHttp2Stream, authority: string): void {
    void this.#egress.serve(agentId, stream, authority);
  }

  /** Whether bytes of the agent have moved within the last minute. */
  moves(agentId: string): boolean {
    return this.#egress.moves(agentId);
  }

  async rules(agentId: string): Promise<Network> {
    return { ...(await this.#rules.of(agentId)), operator: this.#operator };
  }

  /** Sets the agent's lists, and cuts its connections that they do not allow. */
  async setRules(agentId: string, lists: EgressLists): Promise<void> {
    await this.#rules.set(agentId, lists);
    await this.#egress.recheck(agentId);
  }

  /** What the agent's machine is given of its secrets. */
  async guestSecrets(agentId: string): Promise<GuestSecrets> {
    const [secrets, authority] = await Promise.all([this.secrets.list(agentId), this.secrets.authority(agentId)]);
    return {
      placeholders: Object.fromEntries(secrets.map(({ name, placeholder }) => [name, placeholder])),
      authority: authority?.certificate ?? null,
    };
  }

  /** Makes a secret or changes it, and the agent's authority with the first. */
  async setSecret(agentId: string, name: string, secret: SetSecret): Promise<{ secret: SecretState; made: boolean }> {
    const set = await this.secrets.set(agentId, name, secret);
    await this.#authorityOf(agentId);
    return set;
  }

  /** The newest connections first, after `after`. */
  connections(
    agentId: string,
    limit: number,
    after: ConnectionPosition | null,
    verdict: "allowed" | "refused" | null,
  ): Promise<ConnectionState[]> {
    return this.#log.list(agentId, limit, after, verdict);
  }

  async close(): Promise<void> {
    await this.#egress.close();
  }

  async #authorityOf(agentId: string): Promise<Authority> {
    const known = await this.secrets.authority(agentId);
    return known ?? this.secrets.keepAuthority(agentId, await makeAuthority(agentId));
  }
}

/** Where the service and its database listen. A database that the service runs itself has no port. */
function ownPlaces({ databaseUrl }: Config, url: string): { host: string; port: number }[] {
  const urls = [url, databaseUrl].filter((each) => each !== null).map((each) => new URL(each));
  return urls.map(({ protocol, hostname, port }) => ({
    host: hostname.replace(/^\[(.*)\]$/, "$1"),
    port: port === "" ? defaultPorts[protocol]! : Number(port),
  }));
}

const defaultPorts: Readonly<Record<string, number>> = {
  "http:": 80,
  "https:": 443,
  "postgres:": 5432,
  "postgresql:": 5432,
};
