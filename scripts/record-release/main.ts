import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { startEmbeddedPostgres } from "../../src/core/database/embedded.ts";
import { newFolder } from "../../test/support/config.ts";
import { layEarlierCode } from "../../test/support/earlier-release.ts";
import { newDatabase } from "../../test/support/new-database.ts";
import {
  loadReleaseDatabase,
  ReleaseClient,
  type ReleaseRecord,
  releaseFolder,
  writeReleaseFiles,
} from "../../test/support/release-answers.ts";
import type { ScriptedService } from "../../test/support/scripted-service.ts";
import { completeRelease, fillRelease, type ReleaseFacts } from "./data.ts";
import { dumpSql } from "./dump.ts";
import { releaseRequests, unrecorded } from "./requests.ts";

// Writes test/releases/0.1.0: a database of that release with a row in each table, and the answers of the release's own
// code to its credentials. Takes that code from the repository's history.

/** The release's service, in the shape of today's. */
interface Release {
  Service: typeof ScriptedService;
  routes: Record<string, { method: string; path: string }>;
}

const secretKey = randomBytes(32).toString("base64");
const retention = { auditDays: 36_500, networkLogDays: 36_500 };

await using stack = new AsyncDisposableStack();
const code = join(stack.adopt(await mkdtemp(join(tmpdir(), "berth-")), removed), "code");
await layEarlierCode(code);
const release: Release = {
  Service: (await import(join(code, "test/support/scripted-service.ts"))).ScriptedService,
  routes: (await import(join(code, "src/api/routes.ts"))).routes,
};
const postgresFolder = stack.adopt(await newFolder(), removed);
const postgres = stack.adopt(await startEmbeddedPostgres(postgresFolder), (each) => each.stop());
await mkdir(releaseFolder, { recursive: true });
const { facts, ...parts } = await makeDatabase();
const record = { secretKey, ...parts, answers: await recordAnswers(facts, parts) };
await writeFile(join(releaseFolder, "answers.json"), `${JSON.stringify(record, null, 1)}\n`);

function removed(folder: string): Promise<void> {
  return rm(folder, { recursive: true });
}

async function makeDatabase() {
  const { pool, databaseUrl } = await newDatabase(postgres, postgresFolder, "made");
  const service = await release.Service.start({ databaseUrl, secretKey, ...retention });
  const { facts, ...parts } = await fillRelease(service).finally(() => service[Symbol.asyncDispose]());
  await using client = Object.assign(new pg.Client(pool), { [Symbol.asyncDispose]: () => client.end() });
  await client.connect();
  Object.assign(facts, await completeRelease(client));
  const sql = await dumpSql(client, join(code, "src/store/migrations"));
  await writeFile(join(releaseFolder, "database.sql"), sql);
  return { facts, ...parts };
}

/** Asks the release's code with the database as it was dumped. */
async function recordAnswers(
  facts: ReleaseFacts,
  { credentials, files }: Pick<ReleaseRecord, "credentials" | "files">,
): Promise<ReleaseRecord["answers"]> {
  const { databaseUrl } = await newDatabase(postgres, postgresFolder, "loaded");
  await loadReleaseDatabase(databaseUrl);
  const dataFolder = await newFolder();
  await writeReleaseFiles(dataFolder, files);
  await using service = await release.Service.start({ databaseUrl, dataFolder, secretKey, ...retention });
  const requests = releaseRequests(facts);
  requireAll(requests.filter(({ method }) => method === "GET").map(({ path }) => path));
  const client = new ReleaseClient(service.server.url, credentials);
  const answers: ReleaseRecord["answers"] = [];
  for (const request of requests) answers.push({ request, answer: await client.ask(request) });
  return answers;
}

/** Throws if a GET route of the release is neither asked nor known as unrecorded. */
function requireAll(paths: readonly string[]): void {
  for (const { method, path } of Object.values(release.routes)) {
    if (method !== "GET" || unrecorded[`GET ${path}`] !== undefined) continue;
    const pattern = path
      .replaceAll(".", "\\.")
      .replace("{path}", ".+")
      .replaceAll(/\{\w+\}/g, "[^/]+");
    if (!paths.some((each) => new RegExp(`^${pattern}(\\?|$)`).test(each))) throw new Error(`GET ${path} is not asked`);
  }
}
