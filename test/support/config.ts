import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import listed from "../../image/runtimes/package.json" with { type: "json" };
import type { Config } from "../../src/config/config.ts";

const run = promisify(execFile);

/** The prefix of this run's folders. Not below a home folder, which other users cannot enter. */
export const folderPrefix = `/var/tmp/berth-test-${process.env.BERTH_TEST_RUN ?? process.pid}-`;

/** Of real machines. `make test-kvm` sets `kvm`, with which a server fails where KVM does not run guests. */
/** An address at which no server of a vendor is. */
const nowhere = "http://127.0.0.1:9";

export const accelerator = process.env.BERTH_TEST_ACCEL === "kvm" ? "kvm" : "tcg";

/** A guest of an emulated KVM takes up to half a minute to print a line. */
export const acceleration = { choice: accelerator, probeMs: 120_000 } as const;

/** Makes a new folder. The caller removes it. */
export function newFolder(): Promise<string> {
  return mkdtemp(folderPrefix);
}

/** Names the database that this run has prepared; see `makeDatabaseSeed`. */
export const databaseSeed = "BERTH_TEST_DATABASE";

/** A new data folder. It has a database, as after the first start, where this run has prepared one. */
async function newDataFolder({ hasDatabase }: { hasDatabase: boolean }): Promise<string> {
  const folder = await newFolder();
  const seed = process.env[databaseSeed];
  if (hasDatabase && seed !== undefined) {
    // The programs are the larger part, and nobody writes to them.
    const postgres = join(folder, "postgres");
    await run("cp", ["-al", seed, postgres]);
    await rm(join(postgres, "data"), { recursive: true });
    await run("cp", ["-a", join(seed, "data"), postgres]);
  }
  return folder;
}

/** A configuration with a new data folder and a free port. The caller removes the folder. */
export async function testConfig(changes: Partial<Config> = {}): Promise<Config> {
  const hasDatabase = !changes.databaseUrl;
  return {
    settings: {},
    host: "127.0.0.1",
    serverName: "test",
    port: 0,
    dataFolder: changes.dataFolder ?? (await newDataFolder({ hasDatabase })),
    databaseUrl: null,
    secretKey: null,
    publicUrl: null,
    https: null,
    internalUrl: null,
    previewDomain: "localhost",
    oidc: null,
    imageFolder: null,
    runtimes: Object.keys(listed.runtimes),
    acceleration,
    kubernetes: null,
    idleMs: 0,
    stopSuspendMs: 0,
    approvalMs: 86_400_000,
    maximumAwake: 1_000,
    memoryMiB: 20_000,
    spares: 0,
    spareLoad: 1_000,
    accountShare: 1,
    maximumWebhooksPerAccount: 20,
    maximumAutomationsPerAccount: 100,
    maximumAgentsPerAccount: 1_000,
    maximumWaiting: 100,
    waitMs: 60_000,
    stallMs: 300_000,
    responseSocketMs: 3_600_000,
    rateLimits: { requests: 0, account: 0, address: 0, agents: 0, keys: 0, hooks: 0 },
    signInAttempts: 10,
    startingCredits: "1000",
    machinePrice: "1",
    askedCredits: "100",
    maximumStreams: 1_000,
    maximumAccountStreams: 1_000,
    corsOrigins: [],
    clientDocuments: true,
    trustedProxies: [],
    egress: { allow: ["*"], deny: [] },
    egressInside: [],
    webhooksInside: [],
    providersInside: [],
    skillsInside: [],
    networkLogDays: 30,
    auditDays: 90,
    logFormat: null,
    logLevel: "silent",
    traces: null,
    modelSilenceMs: 50_000,
    modelRetryMs: 15_000,
    prices: {},
    allowUnpriced: true,
    hostedTools: [],
    turnDays: 0,
    maximumStoredBytes: 0,
    diskReserveBytes: 0,
    quarantineDays: 14,
    maximumTurnBytes: 64 * 1024 ** 2,
    anthropic: null,
    openai: null,
    google: null,
    subscriptions: { claude: nowhere, chatGpt: nowhere, chatGptLogin: nowhere },
    mail: null,
    stripe: null,
    ...changes,
  };
}
