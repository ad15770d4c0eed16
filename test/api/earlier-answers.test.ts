import { rm } from "node:fs/promises";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Database, migrate, openDatabase } from "../../src/core/database/database.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/core/database/embedded.ts";
import { newFolder } from "../support/config.ts";
import { newDatabase } from "../support/new-database.ts";
import {
  loadReleaseDatabase,
  ReleaseClient,
  readReleaseRecord,
  writeReleaseFiles,
} from "../support/release-answers.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// A database of release 0.1.0 and the answers of that release's code to its keys, tokens and users, by
// scripts/record-release/main.ts. Today's server answers the same. Lists below are written by hand.

/** Fields that an answer has gained since: the request, then the field. */
const added = [
  [/\/agents(\?|$)/, "data.*.image"],
  [/\/agents(\?|$)/, "data.*.maker"],
  [/\/agents(\?|$)/, "data.*.private"],
  [/\/agents\/(ada|bob|hal)$/, "image"],
  [/\/agents\/(ada|bob|hal)$/, "maker"],
  [/\/agents\/(ada|bob|hal)$/, "private"],
  [/\/agents(\?|$)/, "data.*.queueLength"],
  [/\/agents(\?|$)/, "data.*.queue"],
  [/\/agents\/(ada|bob|hal)$/, "queueLength"],
  [/\/agents\/(ada|bob|hal)$/, "queue"],
  [/\/agents(\?|$)/, "data.*.permissions"],
  [/\/agents(\?|$)/, "data.*.effort"],
  [/\/agents\/(ada|bob|hal)$/, "effort"],
  [/\/turns$/, "data.*.effort"],
  [/\/turns$/, "data.*.usage.contextTokens"],
  [/\/turns$/, "data.*.usage.contextLimit"],
  [/\/turns\/[^/]+$/, "usage.contextTokens"],
  [/\/turns\/[^/]+$/, "usage.contextLimit"],
  [/\/turns\/[^/]+$/, "effort"],
  [/\/runtimes$/, "data.*.abilities.effort"],
  [/\/agents(\?|$)/, "data.*.acp"],
  [/\/agents\/(ada|bob|hal)$/, "acp"],
  [/\/agents(\?|$)/, "data.*.fallbackModels"],
  [/\/agents\/(ada|bob|hal)$/, "fallbackModels"],
  [/\/agents\/(ada|bob|hal)$/, "permissions"],
  [/\/agents(\?|$)/, "data.*.maxCredits"],
  [/\/agents(\?|$)/, "data.*.maxMinutes"],
  [/\/agents(\?|$)/, "data.*.maxToolCalls"],
  [/\/agents(\?|$)/, "data.*.schedules"],
  [/\/agents\/(ada|bob|hal)$/, "schedules"],
  [/\/agents\/(ada|bob|hal)$/, "maxCredits"],
  [/\/agents\/(ada|bob|hal)$/, "maxMinutes"],
  [/\/agents\/(ada|bob|hal)$/, "maxToolCalls"],
  [/agent-card\.json$/, "defaultInputModes.*"],
  [/agent-card\.json$/, "skills.*.inputModes.*"],
  [/\/turns$/, "data.*.attachments"],
  [/\/turns$/, "data.*.output"],
  [/\/turns$/, "data.*.changes"],
  [/\/turns\/[^/]+$/, "attachments"],
  [/\/turns\/[^/]+$/, "output"],
  [/\/turns\/[^/]+$/, "changes"],
  [/\/turns$/, "data.*.reason"],
  [/\/turns\/[^/]+$/, "reason"],
  [/\/runtimes$/, "data.*.abilities.permissions"],
  [/\/runtimes$/, "data.*.abilities.steer"],
  [/\/runtimes$/, "data.*.abilities.output"],
  [/\/runtimes$/, "data.*.wires"],
  [/\/runtimes$/, "data.*.needsProgram"],
  [/\/runtimes$/, "data.*.description"],
  [/\/billing\/entries/, "data.*.listPrice"],
  [/\/turns$/, "data.*.queuedAt"],
  [/\/turns\/[^/]+$/, "queuedAt"],
  [/\/turns$/, "data.*.createdBy"],
  [/\/turns\/[^/]+$/, "createdBy"],
  [/\/(snapshots|secrets|shares)$/, "data.*.createdBy"],
  [/\/secrets$/, "data.*.from"],
  [/\/files\//, "data.*.createdBy"],
  [/\/network$/, "createdBy"],
  [/\/billing$/, "lowCredits"],
  [/\/network$/, "ask"],
  [/GET \/keys$/, "data.*.role"],
  [/\/audit$/, "data.*.createdBy"],
  [/\/audit$/, "data.*.resource"],
  [/\/v1\/responses\/[^/]+$/, "usage.input_tokens_details.cache_write_tokens"],
] as const;

/** Deliberate differences: the request, the field and the reason. */
const announced = [
  [
    /^ada-only GET \/agents/,
    /(^|\.)(instructions|mcpServers\.docs|agents\.length|agents\.\*)$/,
    "agent keys see no settings",
  ],
  [/^operator POST \/keys$/, /(^|\.)message$/, "errors about invalid fields say what is allowed"],
  [/\/commands\/[^/]+/, /^message$/, "the text of an error is for people"],
  [/GET \/readyz$/, /^checks\.\w+\.message$/, "the texts of checks are for people"],
  [/agent-card\.json$/, /^description$/, "the agent's description is for people"],
  [/agent-card\.json$/, /nputModes\.length$/, "agents take images and files"],
  [/agent-card\.json$/, /^capabilities\.pushNotifications$/, "clients are notified of their tasks"],
] as const;

/** Values of the moment in which the answer was made. */
const momentary = [
  [/\/keys$/, /lastUsedAt$/],
  [/POST \/dashboard\/session$/, /^(accessToken|expiresAt)$/],
  [/\/files\/work/, /modifiedAt$/],
  [/\/(billing|admin\/credits)$/, /spentThisMonth$/],
  // The usage of this month. `GET /billing/usage` is asked for the month of the record.
  [/GET \/billing$/, /^usage\b/],
] as const;

/** A field whose value differs. */
interface Difference {
  /** `AS METHOD PATH` */
  request: string;
  /** Its path in the body, with `*` for positions in lists. */
  field: string;
  before: unknown;
  now: unknown;
}

let folder: string;
let postgres: EmbeddedPostgres;
beforeAll(async () => {
  folder = await newFolder();
  postgres = await startEmbeddedPostgres(folder);
});
afterAll(async () => {
  await postgres.stop();
  await rm(folder, { recursive: true });
});

test("each table of the earlier release has a row and keeps its rows", async () => {
  const { pool, databaseUrl } = await newDatabase(postgres, folder, "rows");
  await loadReleaseDatabase(databaseUrl);
  const database = openDatabase({ ...pool, max: 1 }, () => {});
  const before = await countRows(database);
  expect(Object.entries(before).filter(([, count]) => count === 0)).toEqual([]);
  await migrate(database);
  const after = await countRows(database);
  await database.destroy();
  expect(after).toMatchObject({ ...before, kysely_migration: after.kysely_migration });
});

test("an upgrade changes no answer for the keys, tokens and users of the earlier release", async () => {
  const { databaseUrl } = await newDatabase(postgres, folder, "answers");
  await loadReleaseDatabase(databaseUrl);
  const { secretKey, credentials, files, answers } = await readReleaseRecord();
  const dataFolder = await newFolder();
  await writeReleaseFiles(dataFolder, files);
  const years = { auditDays: 36_500, networkLogDays: 36_500 };
  await using service = await ScriptedService.start({ databaseUrl, dataFolder, secretKey, ...years });
  const client = new ReleaseClient(service.server.url, credentials);
  const [found, gained]: [Difference[], Set<string>] = [[], new Set()];
  for (const { request, answer } of answers) {
    const now = await client.ask(request);
    const name = `${request.as} ${request.method} ${request.path}`;
    expect({ name, status: now.status, type: now.type }).toEqual({ name, status: answer.status, type: answer.type });
    for (const each of differencesOf(answer.body, now.body)) {
      if (each.before === undefined) gained.add(`${name} ${each.field}`);
      else found.push({ request: name, ...each });
    }
  }
  const isListed = (list: readonly (readonly [RegExp, RegExp, ...unknown[]])[], { request, field }: Difference) =>
    list.some(([requests, fields]) => requests.test(request) && fields.test(field));
  const lasting = found.filter((each) => !isListed(momentary, each));
  expect(lasting.filter((each) => !isListed(announced, each))).toEqual([]);
  expect(announced.filter((each) => !lasting.some((one) => isListed([each], one)))).toEqual([]);
  const isAdded = ([requests, field]: (typeof added)[number], name: string) =>
    name.endsWith(` ${field}`) && requests.test(name.slice(0, -field.length - 1));
  expect([...gained].filter((name) => !added.some((each) => isAdded(each, name)))).toEqual([]);
  expect(added.filter((each) => ![...gained].some((name) => isAdded(each, name)))).toEqual([]);
});

async function countRows(database: Database): Promise<Record<string, number>> {
  const { rows } = await sql<{ table: string; count: string }>`
    select table_name as table,
      (xpath('//count/text()', query_to_xml(format('select count(*) as count from %I', table_name), false, true, '')))[1]::text
        as count
    from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`.execute(database);
  return Object.fromEntries(rows.map(({ table, count }) => [table, Number(count)]));
}

/** The fields that differ, where one without a value on one side is undefined there. */
function differencesOf(before: unknown, now: unknown, field = ""): Omit<Difference, "request">[] {
  const isNested = (value: unknown): value is object => typeof value === "object" && value !== null;
  if (!isNested(before) || !isNested(now) || Array.isArray(before) !== Array.isArray(now)) {
    return Object.is(before, now) ? [] : [{ field, before, now }];
  }
  const isList = Array.isArray(before);
  const below = (name: string) => (field === "" ? "" : `${field}.`) + name;
  const lengths = isList ? differencesOf(before.length, (now as unknown[]).length, below("length")) : [];
  const names = new Set([...Object.keys(before), ...Object.keys(now)]);
  const values = [...names].flatMap((name) =>
    differencesOf(before[name as never], now[name as never], below(isList ? "*" : name)),
  );
  return [...lengths, ...values];
}
