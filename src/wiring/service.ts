import { createReadStream } from "node:fs";
import { rm } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import type { Logger } from "pino";
import { createKey, parseKey } from "../accounts/key-format.ts";
import { Keys } from "../accounts/keys.ts";
import { createLink } from "../accounts/links.ts";
import { Principals } from "../accounts/principals.ts";
import { Programs } from "../accounts/programs.ts";
import { Tickets } from "../accounts/tickets.ts";
import { Users } from "../accounts/users.ts";
import { Agents } from "../agents/agents.ts";
import { Exports } from "../archives/exports.ts";
import type { ImportFolders } from "../archives/import-folders.ts";
import { Imports } from "../archives/imports.ts";
import { writeArchive } from "../archives/write.ts";
import { Billing } from "../billing/billing.ts";
import { fromCredits } from "../billing/credits.ts";
import type { PostgresLedger } from "../billing/ledger-store.ts";
import { StripePayments } from "../billing/stripe.ts";
import { Commands } from "../commands/commands.ts";
import type { ServiceAddress } from "../config/address.ts";
import type { Config } from "../config/config.ts";
import { usualResources } from "../contract/agents.ts";
import type { DiskReserve } from "../core/disk-reserve.ts";
import type { Sealer } from "../core/sealing.ts";
import { AgentEgress } from "../egress/agent-egress.ts";
import type { Egress } from "../egress/egress.ts";
import { AccountEvents } from "../events/account-events.ts";
import { Files } from "../files/files.ts";
import type { HostFiles } from "../hosts/host-files.ts";
import { Orphans } from "../hosts/orphans.ts";
import { GuestLeases } from "../lifecycle/guest-leases.ts";
import type { AgentTimers } from "../lifecycle/idleness.ts";
import { Lifecycle } from "../lifecycle/lifecycle.ts";
import type { Machines } from "../machines/machines.ts";
import type { ModelChoice } from "../models/choice.ts";
import { Ports } from "../ports/ports.ts";
import { Previews } from "../previews/previews.ts";
import { Shares } from "../previews/shares.ts";
import { Inbox } from "../protocols/openai/inbox.ts";
import { Responses } from "../protocols/openai/stored-responses.ts";
import type { Runtime } from "../runtimes/runtime.ts";
import { Secrets } from "../secrets/secrets.ts";
import { DashboardSessions } from "../sign-in/dashboard-sessions.ts";
import type { LocalSignIn } from "../sign-in/local-sign-in.ts";
import { webProvider } from "../sign-in/open.ts";
import { describeProgram } from "../sign-in/program-clients.ts";
import { IssuerTokens } from "../sign-in/tokens.ts";
import { Forks } from "../snapshots/forks.ts";
import { Snapshots } from "../snapshots/snapshots.ts";
import type { SshAuthority } from "../ssh/authority.ts";
import { Ssh } from "../ssh/ssh.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Tracer } from "../telemetry/span.ts";
import { Asking } from "../turns/asking.ts";
import type { RunningTurns } from "../turns/running-turns.ts";
import { Turns } from "../turns/turns.ts";
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
