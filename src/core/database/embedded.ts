import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, chown, cp, lstat, mkdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type pg from "pg";
import { BerthError } from "../../contract/errors.ts";
import { childEnvironment } from "../child-environment.ts";
import { kill } from "../process-table.ts";
import { processor } from "../processor.ts";
import { clearRemains, type Postmaster, postmaster } from "./postmaster.ts";

const run = promisify(execFile);

/** PostgreSQL refuses to run as root. If the server is root, it runs as this user. */
const databaseUserName = "berth-db";

/** A Unix socket's path is limited to 107 bytes; PostgreSQL appends `.s.PGSQL.5432`. */
const maximumSocketFolder = 93;

const settlePollMs = 100;
/** Its last checkpoint writes to a disk that others may be writing to as well. */
const stopWaitMs = 60_000;

const logName = "postgres.log";
/** In bytes. Truncated output is lost except its last part, in `postgres.log.old`. */
const maximumLogBytes = 8 * 1024 ** 2;
const keptLogBytes = 1024 ** 2;

/** The server's own PostgreSQL, on a Unix socket in the data folder that nobody else can reach. */
export interface EmbeddedPostgres {
  config: pg.PoolConfig;
  ensure(): Promise<void>;
  /** Null if it is not running. */
  running(): Promise<Postmaster | null>;
  /** Truncates an oversized log to its end. */
  boundLog(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts PostgreSQL under `folder`, creating the cluster if there is none. Takes over one left running by a killed
 * server. The programs are copied from the npm package into the data folder, because PostgreSQL's user may have no
 * access to the package.
 */
export async function startEmbeddedPostgres(folder: string): Promise<EmbeddedPostgres> {
  if (Buffer.byteLength(folder) > maximumSocketFolder) {
    throw new BerthError(
      "database_unavailable",
      `The path ${folder} is too long for PostgreSQL's socket; the maximum is ${maximumSocketFolder} bytes.`,
    );
  }
  const user = await databaseUser();
  const owner = user ?? { uid: process.getuid!(), gid: process.getgid!() };
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o700);
  await chown(folder, owner.uid, owner.gid);
  const programs = await installPrograms(folder);
  const cluster = join(folder, "data");
  const execute = (program: string, args: string[]) =>
    run(join(programs, "bin", program), args, {
      ...(user ?? {}),
      cwd: folder,
      env: childEnvironment,
    });

  await createCluster(cluster, execute);
  const ensure = async () => {
    // Wait for one that an earlier server is still stopping, or was starting.
    for (let running = await postmaster(cluster); running; running = await postmaster(cluster)) {
      if (running.ready) return;
      await sleep(settlePollMs);
    }
    await clearRemains(cluster, folder);
    await start(cluster, folder, execute);
  };
  await ensure();
  return {
    config: { host: folder, user: "berth", database: "postgres", password: await password(folder) },
    ensure,
    running: () => postmaster(cluster),
    boundLog: () => boundLog(folder, user),
    stop: () => stop(cluster),
  };
}

type Execute = (program: string, args: string[]) => Promise<unknown>;

async function createCluster(cluster: string, execute: Execute): Promise<void> {
  if (await exists(join(cluster, "PG_VERSION"))) return;
  const partial = `${cluster}.partial`;
  await rm(partial, { recursive: true, force: true });
  const passwordFile = join(dirname(cluster), "password");
  const owner = await stat(dirname(cluster));
  await writeFile(passwordFile, randomBytes(24).toString("base64url"), { mode: 0o600, flush: true });
  await chown(passwordFile, owner.uid, owner.gid);
  const options = [
    "--username=berth",
    "--encoding=UTF8",
    "--locale=C.UTF-8",
    "--auth=scram-sha-256",
    `--pwfile=${passwordFile}`,
  ];
  await execute("initdb", ["-D", partial, ...options]);
  await rename(partial, cluster);
}

async function start(cluster: string, folder: string, execute: Execute): Promise<void> {
  const options = [
    `-k '${folder}'`,
    "-c listen_addresses=''",
    "-c unix_socket_permissions=0700",
    "-c max_connections=100",
    // Statements hold tenants' data, and any tenant can cause errors.
    "-c log_min_error_statement=panic",
  ];
  const log = join(folder, logName);
  try {
    await execute("pg_ctl", ["start", "-D", cluster, "-l", log, "-w", "-t", "60", "-o", options.join(" ")]);
  } catch (error) {
    const words = (await readFile(log, "utf8").catch(() => "")).trim().split("\n").slice(-3).join("; ");
    throw new BerthError("database_unavailable", `PostgreSQL did not start: ${words}`, { cause: error });
  }
}

/**
 * Not `pg_ctl stop`: it waits until there is no postmaster, so it fails if another server starts the next one at once.
 * SIGINT is PostgreSQL's fast shutdown: sessions end, and committed data is written.
 */
async function stop(cluster: string): Promise<void> {
  const stopping = await postmaster(cluster);
  if (!stopping) return;
  kill(stopping.pid, "SIGINT");
  for (let waited = 0; (await postmaster(cluster))?.pid === stopping.pid; waited += settlePollMs) {
    if (waited >= stopWaitMs) throw new BerthError("database_unavailable", "PostgreSQL does not shut down.");
    await sleep(settlePollMs);
  }
}

/**
 * PostgreSQL appends to its log, so the file can be truncated while it is open. PostgreSQL's own user does that: the
 * folder belongs to that user, and root would follow links there.
 */
async function boundLog(folder: string, user: { uid: number; gid: number } | null): Promise<void> {
  const log = join(folder, logName);
  if (((await lstat(log).catch(() => null))?.size ?? 0) <= maximumLogBytes) return;
  const script = `tail -c ${keptLogBytes} "$1" > "$1.old" && : > "$1"`;
  await run("/bin/sh", ["-c", script, "sh", log], { ...(user ?? {}), cwd: folder, env: childEnvironment });
}

async function password(folder: string): Promise<string> {
  return readFile(join(folder, "password"), "utf8");
}

async function databaseUser(): Promise<{ uid: number; gid: number } | null> {
  if (process.getuid?.() !== 0) return null;
  try {
    const [, , uid, gid] = (await run("getent", ["passwd", databaseUserName], { env: childEnvironment })).stdout.split(
      ":",
    );
    return { uid: Number(uid), gid: Number(gid) };
  } catch (error) {
    throw new BerthError(
      "privilege_missing",
      `As root, Berth runs PostgreSQL as the user ${databaseUserName}, which is not there. Make it with: ` +
        `useradd --system --home-dir /nonexistent --shell /usr/sbin/nologin ${databaseUserName}`,
      { cause: error },
    );
  }
}

/** Copies PostgreSQL's programs next to the cluster, with the links that the package's install script would make. */
async function installPrograms(folder: string): Promise<string> {
  const packageFile = createRequire(import.meta.url)
    .resolve(processor.packages.postgres)
    .replace(/dist\/.*$/, "package.json");
  const { version } = JSON.parse(await readFile(packageFile, "utf8")) as { version: string };
  const target = join(folder, `programs-${version}`);
  if (await exists(target)) return target;
  const partial = `${target}.partial`;
  await rm(partial, { recursive: true, force: true });
  const native = join(dirname(packageFile), "native");
  await cp(native, partial, { recursive: true, verbatimSymlinks: true });
  const links = JSON.parse(await readFile(join(native, "pg-symlinks.json"), "utf8")) as {
    source: string;
    target: string;
  }[];
  for (const link of links) {
    const [from, to] = [link.source, link.target].map((path) => join(partial, relative("native", path)));
    if (!(await exists(to!))) await symlink(relative(dirname(to!), from!), to!);
  }
  await run("chmod", ["-R", "a+rX", partial], { env: childEnvironment });
  for (const program of ["initdb", "pg_ctl", "postgres"]) await chmod(join(partial, "bin", program), 0o755);
  await rename(partial, target);
  return target;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
