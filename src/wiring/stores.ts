import type { Config } from "../config/config.ts";
import { makeAuthority } from "../egress/authority.ts";
import type { Sealer } from "../identity/sealing.ts";
import { fromCredits } from "../service/credits.ts";
import { AccountEventStore } from "../store/account-events.ts";
import { AccountStore } from "../store/accounts.ts";
import { SecretStore } from "../store/agent-secrets.ts";
import { AgentStore } from "../store/agents.ts";
import { AuditStore } from "../store/audit.ts";
import { BillingStore } from "../store/billing.ts";
import { DashboardSessionStore } from "../store/dashboard-sessions.ts";
import type { Database } from "../store/database.ts";
import { EgressLogStore } from "../store/egress-log.ts";
import { EgressRuleStore } from "../store/egress-rules.ts";
import { ForkStore } from "../store/forks.ts";
import { HistoryStore } from "../store/histories.ts";
import { HostFileStore } from "../store/host-files.ts";
import { IdempotencyStore } from "../store/idempotency.ts";
import { KeyStore } from "../store/keys.ts";
import { MachineTime } from "../store/machine-time.ts";
import { Payments } from "../store/payments.ts";
import { ProgramStore } from "../store/programs.ts";
import { openRateLimiter } from "../store/rate-limiter.ts";
import { ResponseStore } from "../store/responses.ts";
import { ShareStore } from "../store/shares.ts";
import { SnapshotStore } from "../store/snapshots.ts";
import { TicketStore } from "../store/tickets.ts";
import { TurnStore } from "../store/turns.ts";
import { UserStore } from "../store/users.ts";

export type Stores = ReturnType<typeof openStores>;

/** The stores, by noun. `host`: the id of the data folder whose machines this server runs. */
export function openStores(database: Database, host: string, sealer: Sealer, config: Config) {
  const startingCredits = fromCredits(config.startingCredits);
  const machinePrice = fromCredits(config.machinePrice);
  const { requests, account, address, agents, keys } = config.rateLimits;
  const agentStore = new AgentStore(database, host, { machinePrice, maximum: config.maximumAgentsPerAccount });
  const secretStore = new SecretStore(database, sealer, makeAuthority);
  const turnStore = new TurnStore(database, host);
  return {
    accountEvents: new AccountEventStore(database),
    accounts: new AccountStore(database, startingCredits),
    agents: agentStore,
    audit: new AuditStore(database),
    billing: new BillingStore(database),
    dashboardSessions: new DashboardSessionStore(database),
    egressLog: new EgressLogStore(database),
    egressRules: new EgressRuleStore(database),
    forks: new ForkStore(agentStore, secretStore),
    hostFiles: new HostFileStore(database, host),
    histories: new HistoryStore(database, agentStore, turnStore),
    idempotency: new IdempotencyStore(database, sealer),
    keys: new KeyStore(database),
    limiters: {
      requests: openRateLimiter(database, "requests", requests),
      account: openRateLimiter(database, "account", account),
      address: openRateLimiter(database, "address", address),
      agents: openRateLimiter(database, "agents", agents),
      keys: openRateLimiter(database, "keys", keys),
    },
    machineTime: new MachineTime(database, host, machinePrice),
    payments: new Payments(database),
    programs: new ProgramStore(database),
    responses: new ResponseStore(database),
    secrets: secretStore,
    shares: new ShareStore(database),
    snapshots: new SnapshotStore(database),
    tickets: new TicketStore(database),
    turns: turnStore,
    users: new UserStore(database, startingCredits),
  };
}
