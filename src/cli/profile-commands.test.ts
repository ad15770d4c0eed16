import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { json, ScriptedApi } from "../../test/support/scripted-api.ts";

// Several services, and how much the tool says.

let api: ScriptedApi;
let other: ScriptedApi;
let config: string;
beforeAll(async () => {
  api = await ScriptedApi.listen();
  other = await ScriptedApi.listen();
});
beforeEach(async () => {
  config = await mkdtemp(join(tmpdir(), "berth-cli-"));
  for (const each of [api, other]) {
    each.clear();
    each.answers["GET /agents?limit=100"] = [json({ data: [], nextCursor: null })];
  }
});
afterEach(() => rm(config, { recursive: true }));
afterAll(() => {
  api[Symbol.dispose]();
  other[Symbol.dispose]();
});

const berth = (args: string, environment: Record<string, string> = {}, input = "") =>
  api.berth(args.split(" "), {
    input,
    environment: { BERTH_URL: "", BERTH_API_KEY: "", XDG_CONFIG_HOME: config, BERTH_DATA_DIR: config, ...environment },
  });

test("services are named, chosen and forgotten, and each gets its own key alone", async () => {
  expect((await berth("profiles list")).stderr).toContain("no profiles");
  expect((await berth(`profiles add one --url ${api.url} --with-key`, {}, "berth_sk_one\n")).code).toBe(0);
  expect((await berth(`profiles add two --url ${other.url}/ --with-key`, {}, "berth_sk_two")).code).toBe(0);
  expect((await stat(join(config, "berth/profiles.json"))).mode & 0o777).toBe(0o600);
  await berth("agents list --profile two");
  await berth("--profile two agents list");
  await berth("agents list", { BERTH_PROFILE: "two" });
  expect(api.seen).toEqual([]);
  expect(other.seen.map(({ authorization }) => authorization)).toEqual(Array(3).fill("Bearer berth_sk_two"));
  expect((await berth("profiles use one")).stdout).toBe("one is used.\n");
  await berth("agents list");
  // A named address is no profile, and gets no profile's key.
  await berth("agents list", { BERTH_URL: other.url });
  expect(api.seen.map(({ authorization }) => authorization)).toEqual(["Bearer berth_sk_one"]);
  expect(other.seen.slice(3).map(({ authorization }) => authorization)).toEqual([undefined]);
  const listed = await berth("profiles list --json");
  expect(JSON.parse(listed.stdout)).toEqual({
    current: "one",
    profiles: [
      { name: "one", url: api.url, hasKey: true },
      { name: "two", url: other.url, hasKey: true },
    ],
  });
  expect((await berth("profiles list")).stdout).toMatch(/\* +one .* key\n +two /);
  await berth("profiles remove one");
  expect(JSON.parse(await readFile(join(config, "berth/profiles.json"), "utf8"))).toMatchObject({ current: null });
});

test.each([
  ["profiles add Ada --url http://127.0.0.1", "lowercase letters"],
  ["profiles add ada --url ftp://127.0.0.1", "--url: its value"],
  ["profiles add ada", "required option"],
  ["profiles use nobody", "There are no profiles"],
  ["profiles remove nobody", "There are no profiles"],
  ["agents list --profile nobody", 'no profile "nobody"'],
  ["agents list --profile __proto__", 'no profile "__proto__"'],
  ["agents list --quiet --verbose", "cannot be used with"],
])("%s is wrong use: %s", async (args, told) => {
  const { code, stderr } = await berth(args);
  expect([code, stderr]).toEqual([2, expect.stringContaining(told)]);
});

test("a file of profiles that is damaged is said to be, and is not replaced", async () => {
  await berth(`profiles add one --url ${api.url}`);
  await writeFile(join(config, "berth/profiles.json"), "{");
  expect(await berth("agents list")).toMatchObject({ code: 1, stderr: expect.stringContaining("is damaged") });
  expect((await berth(`profiles add two --url ${api.url}`)).code).toBe(1);
  expect(await readFile(join(config, "berth/profiles.json"), "utf8")).toBe("{");
});

test("--quiet leaves hints away, and --verbose tells of each request", async () => {
  const at = { BERTH_URL: api.url, BERTH_API_KEY: "berth_sk_test" };
  expect((await berth("agents list", at)).stderr).toContain("no agents yet");
  expect((await berth("agents list --quiet", at)).stderr).toBe("");
  expect((await berth("agents list --verbose", at)).stderr).toMatch(/^GET \/agents 200 no request id \d+ ms$/m);
});
