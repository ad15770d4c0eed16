import { readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Logger, pino } from "pino";
import type { Config } from "./config/config.ts";
import { lockDataFolder } from "./config/data-folder.ts";
import { secretKeyOf } from "./config/secret-key.ts";
import { type Resources, usualResources } from "./contract/agents.ts";
import { asBerthError, type BerthError } from "./contract/errors.ts";
import type { Readiness } from "./contract/health.ts";
import { Credits } from "./credits.ts";
import { createApp } from "./http/app.ts";
import type { RateLimiters } from "./http/rate-limits.ts";
import { Identities } from "./identities.ts";
import { createKey } from "./identity/keys.ts";
import { Sealer } from "./identity/sealing.ts";
import { Machines, type TemplatingDriver } from "./machines/machines.ts";
import { QemuDriver } from "./machines/qemu/driver.ts";
import { ModelAccess } from "./model-access.ts";
import { retryTransient } from "./platform/retry.ts";
import { runtimes as allRuntimes } from "./runtimes/all.ts";
import type { Runtime } from "./runtimes/runtime.ts";
import { fromCredits } from "./service/credits.ts";
import { Lifecycle } from "./service/lifecycle/lifecycle.ts";
import { Slots } from "./service/lifecycle/slots.ts";
import type { RateLimiter } from "./service/rate-limits.ts";
import { Turns } from "./service/turns.ts";
import { Accounts } from "./store/accounts.ts";
import { Agents } from "./store/agents.ts";
import { AuditLog } from "./store/audit.ts";
import { cleanUp } from "./store/clean-up.ts";
import { type Database, migrate, openDatabase, ping } from "./store/database.ts";
import { startEmbeddedPostgres } from "./store/embedded.ts";
import { IdempotencyKeys } from "./store/idempotency.ts";
import { PostgresLedger } from "./store/ledger.ts";
import { SharedRateLimiter } from "./store/rate-limiter.ts";
import { supervise } from "./store/supervise.ts";
import { Timers } from "./store/timers.ts";
import { TurnStore } from "./store/turns.ts";
import { Metrics } from "./telemetry/metrics.ts";
import { AgentEgress } from "./web-access.ts";

const checkout = new URL("../", import.meta.url);
const databaseTimeoutMs = 3_000;
/** Of an agent whose runtime is not there any more. */
const leastMiB = 1024;
/** Between two looks for an image or a QEMU that was missing. */
const retryMs = 3_000;

/** Opens the driver of the machines; `serveTemplateUplink` answers the model calls of a template's throwaway turns. */
type OpenDriver = (
  config: Config,
  usual: (runtime: string) => Resources,
  serveTemplateUplink: (socket: Socket) => void,
  log: (message: string) => void,
) => Promise<TemplatingDriver>;

/** What a server is made with in place of its own, in tests. */
export interface ServerParts {
  openDriver?: OpenDriver;
  runtimes?: readonly Runtime[];
}

export interface Server extends AsyncDisposable {
  /** Where it listens, `http://HOST:PORT`. */
  readonly url: string;
  /** The one-time link for the operator's own user; null where there is one, or another identity provider has them. */
  readonly firstSignIn: string | null;
  readonly machines: Machines;
  readiness(): Promise<Readiness>;
}

/**
 * Starts a whole server: the database, the machines that run, the turns that go on, the HTTP interface. Rejects
 * when the data folder, the database or the address cannot be had. A missing image or QEMU is told by
 * `readiness`, and taken up by itself once it is there. Disposing it leaves the machines and their turns running.
 */
export async function createServer(
  config: Config,
  { openDriver = openQemu, runtimes = allRuntimes }: ServerParts = {},
): Promise<Server> {
  await using cleanup = new AsyncDisposableStack();
  cleanup.use(await lockDataFolder(config.dataFolder));
  const logger = pino({ level: config.logLevel }, pino.destination(2));
  const warn = (message: string, fields: Record<string, unknown>) => logger.warn(errorField(fields), message);
  const database = await connectDatabase(config, logger, cleanup);
  const accounts = new Accounts(database, fromCredits(config.startingCredits));
  await makeOperator(accounts, config.dataFolder, logger);
  await accounts.startCredits();
  const ledger = new PostgresLedger(database, warn);
  cleanup.defer(() => ledger.close());
  await ledger.sweep();

  const sealer = new Sealer(config.secretKey ?? (await secretKeyOf(config.dataFolder)));
  const machinePrice = fromCredits(config.machinePrice);
  const agents = new Agents(database, machinePrice);
  const identities = await Identities.open(config, database, accounts, agents, sealer, logger);
  const auditLog = new AuditLog(database);
  const turnStore = new TurnStore(database);
  const usual = (name: string) => usualResources(runtimes.find((each) => each.name === name)?.memoryMiB ?? leastMiB);
  const web = new AgentEgress({
    config,
    database,
    sealer,
    logger,
    ownUrl: () => url,
    decided: (verdict) => metrics.connectionDecided(verdict),
    carried: (sent, received) => metrics.connectionEnded(sent, received),
  });
  cleanup.defer(() => web.close());
  // Machines need the gateway, the gateway the turns, the turns the machines: the turns are asked when they are there.
  const models = await ModelAccess.open({
    config,
    runtimes,
    agents,
    ledger,
    logger,
    currentTurn: (agentId) => turns.current(agentId),
    tunnel: (agentId, stream, authority) => web.tunnel(agentId, stream, authority),
    answered: (provider, seconds) => metrics.modelAnswered(provider, seconds),
  });
  cleanup.defer(() => models.close());
  const serveTemplateUplink = (socket: Socket) => models.serveTemplateUplink(socket);
  const machines = new Machines(
    () => openDriver(config, usual, serveTemplateUplink, (message) => logger.info(message)),
    (id, socket) => models.serveUplink(id, socket),
    (id, waiting) => {
      const failed = (error: unknown) =>
        warn("an agent's secrets cannot be read; trying again", { agentId: id, error });
      return waiting ? retryTransient(() => web.guestSecrets(id), waiting, failed) : web.guestSecrets(id);
    },
    (message, error) => warn(message, { error }),
  );
  cleanup.defer(() => machines.close());
  const timers = await Timers.open(database, (error) => logger.warn({ err: error }, "the timers have a fault"));
  cleanup.defer(() => timers.close());
  const slots: Slots = new Slots({
    memoryMiB: config.memoryMiB,
    machines: config.maximumAwake,
    accountShare: config.accountShare,
    waiting: config.maximumWaiting,
    waitMs: config.waitMs,
    shared: (accountId) => accounts.othersThan(accountId),
    evictIdle: (accountId) => lifecycle.idleness.evictIdle(accountId),
  });
  const metrics: Metrics = new Metrics({
    agents: () => agents.countByStatus(),
    slots: () => slots,
    unstoredEvents: () => turns.unstoredEvents,
    runningTurns: () => turns.running,
  });
  const lifecycle: Lifecycle = new Lifecycle({
    rows: agents,
    machines,
    slots,
    timers,
    idleMs: config.idleMs,
    log: warn,
    atWork: (id) => web.moves(id),
    measured: (what, seconds) => metrics.machine(what, seconds),
  });
  const turns: Turns = new Turns({
    rows: turnStore,
    machines,
    ready: (agentId, queued) => lifecycle.ready(agentId, queued),
    requireSlot: (agent) => lifecycle.requireSlot(agent),
    measured: {
      firstDelta: (seconds) => metrics.firstDelta(seconds),
      stored: (seconds) => metrics.stored(seconds),
      ended: ({ id, agentId }, outcome, code) => {
        logger.info({ turnId: id, agentId, outcome, ...(code ? { code } : {}) }, "turn ended");
        metrics.turnEnded(outcome, code);
        slots.retry();
      },
    },
    modelOf: (agent) => models.choice.modelOf(agent),
    stallMs: config.stallMs,
    log: warn,
  });
  cleanup.defer(() => lifecycle.stop());
  cleanup.defer(() => turns.stop());

  /** A machine that cannot be told now is told when it is adopted next. */
  const provide = (agentId: string) =>
    web
      .guestSecrets(agentId)
      .then((secrets) => machines.provide(agentId, secrets))
      .catch((error: unknown) => warn("a machine was not told of its secrets", { agentId, error }));
  const credits: Credits = new Credits({
    database,
    machinePrice,
    stripe: config.stripe,
    returnUrl: () => config.publicUrl ?? url,
    log: warn,
    accountOfUser: (name) => identities.accountOfUser(name),
    suspend: (agentId) => lifecycle.suspend(agentId),
  });

  const readiness = () => checkReadiness(database, machines);
  const app = await createApp({
    version: (JSON.parse(await readFile(new URL("package.json", checkout), "utf8")) as { version: string }).version,
    logger,
    readiness,
    metrics: () => metrics.text(),
    limiters: openLimiters(database, config.rateLimits),
    maximumStreams: config.maximumStreams,
    corsOrigins: config.corsOrigins,
    trustedProxies: config.trustedProxies,
    idempotencyKeys: new IdempotencyKeys(database, sealer),
    identities,
    credits,
    service: {
      runtimes: runtimes.map(({ name }) => name),
      usualResources: usual,
      models: () => models.choice.models(),
      runtimeRecords: () => models.choice.runtimeRecords(),
      checkModel: (model, runtime) => models.choice.check(model, runtime),
      requireMachines: async () => void (await machines.driver()),
      create: async (agent) => {
        await ledger.requireCredits(agent.accountId, null);
        await lifecycle.create(agent);
      },
      byName: (accountId, name) => agents.byName(accountId, name),
      byId: (id) => agents.byId(id),
      list: (accountId, limit, after, ids) => agents.list(accountId, limit, after, ids),
      watch: (id, signal) => lifecycle.watch(id, signal),
      configure: (id, settings) => agents.configure(id, settings),
      resetConversation: async ({ id }) => (await agents.beginConversation(id)) ?? turns.refuseAnother(id),
      suspend: async ({ id }) => (await lifecycle.suspend(id)) ?? turns.refuseAnother(id),
      resume: async (agent) => {
        await ledger.requireCredits(agent.accountId, null);
        return lifecycle.resume(agent);
      },
      log: async function* ({ id }, tail, follow, gone) {
        using _ = lifecycle.idleness.keepOpen(id);
        yield* machines.log(id, tail, follow, gone);
      },
      restart: async ({ id, accountId }) => {
        await ledger.requireCredits(accountId, null);
        await turns.failRunning(id, "agent_restarted", "The agent was restarted.");
        return lifecycle.restart(id);
      },
      delete: async ({ id }) => {
        await turns.failRunning(id, "agent_deleted", "The agent was deleted.");
        await lifecycle.delete(id);
      },
      beginTurn: async (id, agent, message, caller) => {
        await ledger.requireCredits(caller.accountId, caller.keyId);
        return turns.begin(id, agent, message, caller.keyId);
      },
      begunTurn: (agentId, turnId) => turns.begun(agentId, turnId),
      listTurns: (agentId, limit, after) => turnStore.list(agentId, limit, after),
      findTurn: (agentId, turnId) => turns.find(agentId, turnId),
      turnEvents: (turn, after, gone) => turns.events(turn, after, gone),
      cancelTurn: (turn) => turns.cancel(turn),
      egressRules: (agent) => web.rules(agent.id),
      setEgressRules: (agent, lists) => web.setRules(agent.id, lists),
      listConnections: (agentId, limit, after, verdict) => web.connections(agentId, limit, after, verdict),
      listSecrets: ({ id }) => web.secrets.list(id),
      setSecret: async ({ id }, name, secret) => {
        const set = await web.setSecret(id, name, secret);
        await provide(id);
        return set;
      },
      removeSecret: async ({ id }, name) => {
        const removed = await web.secrets.remove(id, name);
        if (removed) await provide(id);
        return removed;
      },
      writeAuditEntry: (entry) => auditLog.write(entry),
      listAuditEntries: (accountId, limit, after, agent) => auditLog.list(accountId, limit, after, agent),
    },
  });
  cleanup.defer(() => app.close());
  const url: string = await app.listen({ host: config.host, port: config.port });
  const firstSignIn = await identities.reachedAt(config.publicUrl ?? url);

  const stopped = new AbortController();
  cleanup.defer(() => stopped.abort());
  const listen = () =>
    timers.listen({
      lookForIdleness: (agentId) => lifecycle.idleness.look(agentId),
      chargeMachines: () => credits.chargeMachines(),
      sweep: () => Promise.all([lifecycle.sweep(), ledger.sweep()]),
      cleanUp: () => cleanUp(database, config),
    });
  void beginWork(machines, lifecycle, turns, listen, runtimes[0]!.name, logger, stopped.signal);
  const stack = cleanup.move();
  return { url, firstSignIn, machines, readiness, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** Once the driver is there: goes on where the server before this one ended, then warms what is needed next. */
async function beginWork(
  machines: Machines,
  lifecycle: Lifecycle,
  turns: Turns,
  listen: () => Promise<void>,
  defaultRuntime: string,
  logger: Logger,
  stopped: AbortSignal,
): Promise<void> {
  for (let told = ""; !stopped.aborted; ) {
    try {
      const driver = await machines.driver();
      await lifecycle.recover();
      await turns.recover();
      await listen();
      // The others' are made when they are first asked for: each takes a gigabyte, and without KVM minutes.
      await driver.prepare(defaultRuntime).catch((error: BerthError) => logger.error({ err: error }, error.message));
      return;
    } catch (error) {
      const { message } = asBerthError(error, "internal", String(error));
      if (message !== told && !stopped.aborted) logger.error({ err: error }, message);
      told = message;
      await sleep(retryMs, undefined, { signal: stopped, ref: false }).catch(() => {});
    }
  }
}

async function connectDatabase(config: Config, logger: Logger, cleanup: AsyncDisposableStack): Promise<Database> {
  const embedded =
    config.databaseUrl === null ? await startEmbeddedPostgres(join(config.dataFolder, "postgres")) : null;
  if (embedded) {
    const log = (message: string, error: unknown) => logger.error({ err: error }, message);
    cleanup.use(supervise(embedded, log));
  }
  const database = openDatabase(embedded?.config ?? { connectionString: config.databaseUrl! }, (error) =>
    logger.warn({ err: error }, "a database connection was lost"),
  );
  cleanup.defer(() => database.destroy());
  await migrate(database);
  return database;
}

/** The operator's account with its first key, which `berth` on this machine uses. */
async function makeOperator(accounts: Accounts, dataFolder: string, logger: Logger): Promise<void> {
  const { key, ...stored } = createKey("full");
  const file = join(dataFolder, "operator.key");
  const partial = `${file}.partial`;
  await writeFile(partial, `${key}\n`, { mode: 0o600 });
  // The file takes its name within the account's transaction: a crash leaves neither, or a key that is made anew.
  const made = await accounts.createOperator(stored, () => rename(partial, file));
  if (made) return;
  await rm(partial, { force: true });
  const here = await stat(file).catch(() => null);
  if (!here) logger.warn(`the operator's key is not in ${file}: this database was set up from another data folder`);
}

function openLimiters(database: Database, limits: Config["rateLimits"]): RateLimiters {
  const open = (name: keyof RateLimiters): RateLimiter =>
    limits[name] === 0 ? { take: async () => null } : new SharedRateLimiter(database, { name, limit: limits[name] });
  return { requests: open("requests"), address: open("address"), agents: open("agents"), keys: open("keys") };
}

const openQemu: OpenDriver = async (config, usual, serveTemplateUplink, log) =>
  QemuDriver.open({
    dataFolder: config.dataFolder,
    builtImage: config.imageFolder ?? (await lastBuiltImage()),
    accelerator: config.accelerator,
    usualResources: usual,
    serveTemplateUplink,
    log,
  });

/** The folder that the last `make image` in this checkout named; null when there was none. */
export async function lastBuiltImage(): Promise<string | null> {
  const folder = await readFile(new URL("image/.built", checkout), "utf8").catch(() => null);
  return folder?.trim() ?? null;
}

async function checkReadiness(database: Database, machines: Machines): Promise<Readiness> {
  const [databaseFault, machinesFault] = await Promise.all([
    ping(database, databaseTimeoutMs).then(
      () => null,
      () => "The database does not answer.",
    ),
    machines.driver().then(
      () => null,
      (error: unknown) => asBerthError(error, "internal", String(error)),
    ),
  ]);
  const ofImage = machinesFault?.code.startsWith("image_") ?? false;
  const unknown = "not known before the image is there";
  const checks = {
    database: { ok: databaseFault === null, message: databaseFault ?? "answers" },
    image: { ok: !ofImage, message: ofImage ? machinesFault!.message : "there" },
    accelerator: { ok: machinesFault === null, message: ofImage ? unknown : (machinesFault?.message ?? "works") },
  };
  return { ready: Object.values(checks).every(({ ok }) => ok), checks };
}

function errorField({ error, ...fields }: Record<string, unknown>): Record<string, unknown> {
  return error === undefined ? fields : { ...fields, err: error };
}
