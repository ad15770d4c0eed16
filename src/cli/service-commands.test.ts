import { existsSync } from "node:fs";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ScriptedApi } from "../../test/support/scripted-api.ts";
import { serverSettings } from "./environment.ts";

let api: ScriptedApi;
beforeAll(async () => {
  api = await ScriptedApi.listen();
});
afterAll(() => api[Symbol.dispose]());

test("a dry run prints the unit for this data folder, and changes nothing", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "berth-service-"));
  const dataFolder = join(folder.path, "data");
  const { code, stdout } = await api.berth(["service", "install", "--dry-run"], {
    environment: { BERTH_DATA_DIR: dataFolder },
  });
  expect([code, existsSync(dataFolder)]).toEqual([0, false]);
  expect(stdout).toContain(`\nEnvironment=BERTH_DATA_DIR=${dataFolder}\n`);
  expect(stdout).toMatch(/^ExecStart=\/.+\/node \/.+\/src\/main\.ts$/m);
});

test.skipIf(existsSync("/run/systemd/system"))("without systemd, each command says so", async () => {
  for (const words of [["install"], ["uninstall"], ["status"]]) {
    const { code, stderr } = await api.berth(["service", ...words]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("systemd does not run on this host")]);
  }
});

test("the settings of the service are the server's variables, not the tool's", () => {
  const variables = {
    BERTH_PORT: "7421",
    OPENAI_API_KEY_FILE: "/etc/berth/openai",
    BERTH_HOST: "",
    BERTH_API_KEY: "berth_sk_x",
    BERTH_URL: "http://other",
    BERTH_DATA_DIR: "/srv/berth",
    HOME: "/root",
  };
  expect(serverSettings(variables)).toEqual({ BERTH_PORT: "7421", OPENAI_API_KEY_FILE: "/etc/berth/openai" });
});
