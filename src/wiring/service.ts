import { createReadStream } from "node:fs";
import { rm } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import type { Logger } from "pino";
import type { ImportFolders } from "../archives/import-folders.ts";
import { writeArchive } from "../archives/write.ts";
import type { ServiceAddress } from "../config/address.ts";
import type { Config } from "../config/config.ts";
import { usualResources } from "../contract/agents.ts";
import type { Egress } from "../egress/egress.ts";
import { createKey, parseKey } from "../identity/keys.ts";
import { createLink } from "../identity/links.ts";
import type { LocalSignIn } from "../identity/local-sign-in.ts";
import { describeProgram } from "../identity/program-clients.ts";
import type { Sealer } from "../identity/sealing.ts";
import type { SshAuthority } from "../identity/ssh-authority.ts";
import { IssuerTokens } from "../identity/tokens.ts";
import type { Machines } from "../machines/machines.ts";
import { StripePayments } from "../payments/stripe.ts";
import type { DiskReserve } from "../platform/disk-reserve.ts";
import type { Runtime } from "../runtimes/runtime.ts";
import { AccountEvents } from "../service/account-events.ts";
import { Agents } from "../service/agents.ts";
import { Asking } from "../service/asking.ts";
import { Billing } from "../service/billing.ts";
import { Commands } from "../service/commands.ts";
import { fromCredits } from "../service/credits.ts";
import { DashboardSessions } from "../service/dashboard-sessions.ts";
import { AgentEgress } from "../service/egress.ts";
import { Exports } from "../service/exports.ts";
import { Files } from "../service/files.ts";
import { Forks } from "../service/forks.ts";
import { GuestLeases } from "../service/guest-leases.ts";
import type { HostFiles } from "../service/host-files.ts";
import { Imports } from "../service/imports.ts";
import { Inbox } from "../service/inbox.ts";
import { Keys } from "../service/keys.ts";
import type { AgentTimers } from "../service/lifecycle/idleness.ts";
import { Lifecycle } from "../service/lifecycle/lifecycle.ts";
import type { ModelChoice } from "../service/models.ts";
import { Orphans } from "../service/orphans.ts";
import { Ports } from "../service/ports.ts";
import { Previews } from "../service/previews.ts";
import { Principals } from "../service/principals.ts";
import { Programs } from "../service/programs.ts";
import { Responses } from "../service/responses.ts";
import type { RunningTurns } from "../service/running-turns.ts";
import { Secrets } from "../service/secrets.ts";
import { Shares } from "../service/shares.ts";
import { Snapshots } from "../service/snapshots.ts";
import type { Tracer } from "../service/span.ts";
import { Ssh } from "../service/ssh.ts";
import { Tickets } from "../service/tickets.ts";
import { Turns } from "../service/turns.ts";
import { Users } from "../service/users.ts";
import type { PostgresLedger } from "../store/ledger.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { webProvider } from "./sign-in.ts";
import type { Stores } from "./stores.ts";

/** The adapters that the application uses. */
interface ServiceParts {
  config: Config;
  stores: Stores;
  hostFiles: HostFiles;
  ledger: PostgresLedger;
  timers: AgentTimers;
  running: RunningTurns;
  egress: Egress;
  models: ModelChoice;
  machines: Machines;
  reserve: DiskReserve;
  archives: ImportFolders;
  /** This Berth's. */
  version: string;
  /** The built-in identity provider; null if another is configured. */
  signIn: LocalSignIn | null;
  address: ServiceAddress;
  sealer: Sealer;
  sshAuthority: SshAuthority;
  runtimes: readonly Runtime[];
  metrics: Metrics;
  tracer: Tracer | null;
  logger: Logger;
  log: (message: string, fields: Record<string, unknown>) => void;
}

/** The application: one class per noun, each with the adapters that it needs. */
export function openService(parts: ServiceParts) {
  const {
    config,
    stores,
    hostFiles,
    ledger,
    machines,
    reserve,
    models,
    egress,
    signIn,
    address,
    sealer,
    sshAuthority,
    runtimes,
    log,
  } = parts;
  const lifecycle = openLifecycle(parts);
  const requireCredits = (accountId: string, keyId: string | null) => ledger.requireCredits(accountId, keyId);
  const requireSpace = () => reserve.require();
  const leases = new GuestLeases({ machines, lifecycle, requireCredits, requireSpace });
  const turns = openTurns(parts, leases, lifecycle, (agentId, kept) => snapshots.beforeTurn(agentId, kept));
  const agents = new Agents({
    rows: stores.agents,
    machines,
    leases,
    lifecycle,
    turns,
    requireCredits: (accountId) => requireCredits(accountId, null),
    requireSpace,
    runtimes: runtimes.map(({ name }) => name),
    usualResources: (name) => resourcesOf(runtimes, name),
    checkModel: (model, runtime) => models.check(model, runtime),
    log,
  });
  const snapshots = new Snapshots({
    rows: stores.snapshots,
    files: hostFiles,
    machines,
    lifecycle,
    turns,
    requireCredits: (accountId) => requireCredits(accountId, null),
    requireSpace,
    log,
  });
  const forks = new Forks({
    agents,
    rows: stores.forks,
    snapshots,
    lifecycle,
  });
  const imports = new Imports({
    agents,
    rows: stores.agents,
    archives: parts.archives,
    files: hostFiles,
    insert: (agent, network, history) => stores.histories.insert(agent, network, history),
    lifecycle,
  });
  const external = config.oidc && new IssuerTokens(config.oidc);
  const principals = new Principals({
    accounts: stores.accounts,
    keys: stores.keys,
    parseKey,
    isGranted: async (subject, clientId) => signIn === null || signIn.isGranted(subject, clientId),
    verifyToken: async (token, audience) => (external ? external.verify(token) : signIn!.verify(token, audience)),
  });
  const users = new Users({ rows: stores.users, provider: signIn, createLink });
  const keys = new Keys({
    rows: stores.keys,
    agentsByName: (accountId, names) => stores.agents.byNames(accountId, names),
    createSecret: createKey,
  });
  const billing = new Billing({
    rows: stores.billing,
    payments: config.stripe && new StripePayments({ ...config.stripe, ledger: stores.payments, warn: log }),
    machinePrice: fromCredits(config.machinePrice),
    accountOfUser: (name) => users.accountOf(name),
    returnUrl: () => address.public,
  });
  const orphans = new Orphans({
    agents,
    rows: stores.agents,
    machines,
    archives: parts.archives,
    billing,
    keptDays: config.quarantineDays,
    log,
  });
  const secrets = new Secrets({
    rows: stores.secrets,
    provide: async (agentId, given) => void (await (await leases.ifRunning(agentId))?.provideSecrets(given)),
    log,
  });
  const agentEgress = new AgentEgress({
    operator: config.egress,
    rules: stores.egressRules,
    log: stores.egressLog,
    recheck: (agentId) => egress.recheck(agentId),
  });
  const files = new Files(leases);
  const tickets = new Tickets(stores.tickets, (caller) => principals.isValid(caller));
  const shares = new Shares(stores.shares);
  return {
    hostFiles,
    orphans,
    agents,
    turns,
    asking: new Asking({
      agents: stores.agents,
      askedFor: (firstTurn) => stores.turns.askedFor(firstTurn),
      turns,
      running: parts.running,
      maximumCost: fromCredits(config.askedCredits),
    }),
    responses: new Responses(stores.responses, turns, new Inbox(files)),
    events: new AccountEvents(stores.accountEvents, log),
    commands: new Commands(leases),
    files,
    ports: new Ports(leases),
    ssh: new Ssh(leases, sshAuthority),
    shares,
    snapshots,
    forks,
    exports: openExports(parts, { leases, lifecycle, turns, snapshots }),
    imports,
    previews: new Previews({ agents: stores.agents, tickets, shares, principals, sealing: sealer }),
    tickets,
    lifecycle,
    principals,
    users,
    keys,
    programs: new Programs({ rows: signIn && stores.programs, describe: describeProgram }),
    billing,
    secrets,
    egress: agentEgress,
    dashboardSessions: new DashboardSessions({
      rows: stores.dashboardSessions,
      provider: webProvider(config, signIn, address),
      endAll: signIn && ((accountId) => stores.users.endSignIns(accountId)),
      principals,
      sealing: sealer,
    }),
  };
}

function openExports(
  { stores, machines, models, version, log }: ServiceParts,
  using: { leases: GuestLeases; lifecycle: Lifecycle; turns: Turns; snapshots: Snapshots },
): Exports {
  return new Exports({
    ...using,
    history: stores.histories,
    rules: stores.egressRules,
    secrets: stores.secrets,
    machines,
    packDisk: async (agent, gone) => {
      const path = await using.snapshots.ofDisk(agent, (snapshot) => machines.packDisk(snapshot, gone));
      return { bytes: () => createReadStream(path, { highWaterMark: 1024 * 1024 }), remove: () => rm(path) };
    },
    write: writeArchive,
    versions: {
      berth: version,
      architecture: process.arch,
      of: async (runtime) => (await models.runtimeRecords()).find(({ name }) => name === runtime)?.version ?? null,
    },
    log,
  });
}

function openLifecycle(parts: ServiceParts): Lifecycle {
  const { config, stores, hostFiles, machines, reserve, timers, egress, running, runtimes, metrics, log } = parts;
  return new Lifecycle({
    rows: stores.agents,
    machines,
    files: hostFiles,
    timers,
    slots: {
      memoryMiB: config.memoryMiB,
      machines: config.maximumAwake,
      accountShare: config.accountShare,
      waiting: config.maximumWaiting,
      waitMs: config.waitMs,
      shared: (accountId) => stores.accounts.othersThan(accountId),
    },
    spares: {
      maximum: config.spares,
      usualResources: (name) => resourcesOf(runtimes, name),
      lastCreated: () => stores.agents.lastCreated(),
      usualRuntime: runtimes[0]!.name,
      isBusy: () => running.size >= Math.ceil(cpus().length / 2) || loadavg()[0]! >= cpus().length * config.spareLoad,
    },
    isDiskShort: () => reserve.isShort(),
    isBusyOutside: (id) => egress.moves(id),
    idleMs: config.idleMs,
    measured: (what, seconds) => metrics.machine(what, seconds),
    log,
  });
}

function openTurns(
  parts: ServiceParts,
  leases: GuestLeases,
  lifecycle: Lifecycle,
  keepBefore: Snapshots["beforeTurn"],
): Turns {
  const { config, stores, running, models, metrics, logger, log } = parts;
  return new Turns({
    rows: stores.turns,
    agents: stores.agents,
    running,
    leases,
    modelOf: (agent) => models.modelOf(agent),
    measured: {
      firstDelta: (seconds) => metrics.firstDelta(seconds),
      stored: (seconds) => metrics.stored(seconds),
      ended: ({ id, agentId }, outcome, code, traceId) => {
        const more = { ...(code ? { code } : {}), ...(traceId ? { traceId } : {}) };
        logger.info({ turnId: id, agentId, outcome, ...more }, "turn ended");
        metrics.turnEnded(outcome, code);
        lifecycle.slots.retry();
      },
    },
    stallMs: config.stallMs,
    stalled: (agentId) => void lifecycle.hungGuests.suspect(agentId),
    keepBefore,
    maximumTurnBytes: config.maximumTurnBytes,
    tracer: parts.tracer,
    log,
  });
}

/** For an agent whose runtime no longer exists. */
const leastMiB = 1024;

/** The default size of a runtime's machine. */
export function resourcesOf(runtimes: readonly Runtime[], name: string) {
  return usualResources(runtimes.find((each) => each.name === name)?.memoryMiB ?? leastMiB);
}
