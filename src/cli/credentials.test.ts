import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findCredentials } from "./credentials.ts";
import { readEnvironment } from "./environment.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-cli-"));
  await writeFile(join(folder, "operator.key"), "berth_sk_operator\n");
});
afterAll(() => rm(folder, { recursive: true }));

test("the operator's key of the data folder is used on its own machine", async () => {
  const environment = readEnvironment({ BERTH_DATA_DIR: folder });
  expect(await findCredentials("http://127.0.0.1:7420", environment)).toEqual({ key: "berth_sk_operator" });
  expect(await findCredentials("http://[::1]:7420", environment)).toEqual({ key: "berth_sk_operator" });
});

test("the operator's key is not shown to another host", async () => {
  const environment = readEnvironment({ BERTH_DATA_DIR: folder });
  for (const url of ["https://berth.example", "http://127.evil.example", "http://10.0.0.1:7420"]) {
    expect(await findCredentials(url, environment)).toMatchObject({ key: null });
  }
});

test("BERTH_API_KEY comes first, for any host", async () => {
  const environment = readEnvironment({ BERTH_DATA_DIR: folder, BERTH_API_KEY: "berth_sk_mine" });
  expect(await findCredentials("https://berth.example", environment)).toEqual({ key: "berth_sk_mine" });
});

test("reports why there is no key", async () => {
  const environment = readEnvironment({ BERTH_DATA_DIR: join(folder, "none") });
  expect(await findCredentials("http://localhost:7420", environment)).toEqual({
    key: null,
    reason: `there is no ${join(folder, "none", "operator.key")}`,
  });
});
