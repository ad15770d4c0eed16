import type { Config } from "../config/config.ts";
import type { AppContext } from "../context.ts";
import { Certificates } from "./certificates.ts";
import { ConnectionLog } from "./connection-log.ts";
import { Egress } from "./egress.ts";
import { resolveHere } from "./names.ts";
import { Policy } from "./policy.ts";

/** Agents' connections to other hosts, subject to policy. */
export function openEgress(context: AppContext): Egress {
  const { config, address, stores, metrics, log } = context;
  const { egressRules, egressLog, secrets, usableSecrets } = stores;
  const certificates = new Certificates((agentId) => secrets.authorityOf(agentId));
  const warn = (message: string, error: unknown) => log(message, { error });
  return new Egress({
    policy: new Policy({
      operator: config.egress,
      inside: config.egressInside,
      own: () => ownAddresses(config, address.listening),
      lookUp: resolveHere,
    }),
    rulesOf: (agentId) => egressRules.of(agentId),
    secrets: {
      of: async (agentId) =>
        (await usableSecrets.open(agentId)).map(({ login, ...secret }) =>
          login ? { ...secret, ...context.secretLogins.secretOf(login) } : secret,
        ),
      certificate: (agentId, host) => certificates.of(agentId, host),
    },
    log: new ConnectionLog((entries) => egressLog.write(entries), warn),
    metrics,
    warn,
  });
}

/** The addresses of the service and its database. A built-in database has no port. */
export function ownAddresses({ databaseUrl }: Config, listening: readonly string[]): { host: string; port: number }[] {
  const urls = [...listening, databaseUrl].filter((each) => each !== null).map((each) => new URL(each));
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
