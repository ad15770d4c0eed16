import { execFile } from "node:child_process";
import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { settingsText } from "./settings-file.ts";
import { type UnitFacts, unitText } from "./unit.ts";

const run = promisify(execFile);

const facts: UnitFacts = {
  isSystem: true,
  node: process.execPath,
  program: "/srv/berth/src/main.ts",
  dataFolder: "/var/lib/berth",
  environmentFile: "/etc/berth/berth.env",
  needsHome: false,
};

/** The report of systemd's own checks on a unit. */
async function checked(text: string, ...words: string[]): Promise<string> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "berth-unit-"));
  const file = join(folder.path, "berth.service");
  await writeFile(file, text);
  const env = { ...process.env, XDG_RUNTIME_DIR: folder.path };
  const { stdout, stderr } = await run("systemd-analyze", [...words, file], { env }).catch((error) => error);
  return stdout + stderr;
}

test.each([true, false])("systemd finds nothing wrong with the unit (of the system: %s)", async (isSystem) => {
  const words = isSystem ? ["verify"] : ["--user", "verify"];
  expect(await checked(unitText({ ...facts, isSystem }), ...words)).toBe("");
});

test("the exposure that systemd calculates stays below 5", async () => {
  const told = await checked(unitText(facts), "security", "--offline=true", "--threshold=50", "--no-pager");
  expect(told).toMatch(/Overall exposure level for berth.service: [0-4]\.\d/);
});

test("paths with spaces, quotes, percent and dollar signs are one word", async () => {
  const dataFolder = '/srv/my "data" 100% $HOME';
  const text = unitText({ ...facts, dataFolder, program: "/srv/a b/$x/main.ts" });
  expect(text).toContain('ReadWritePaths="/srv/my \\"data\\" 100%% $HOME"');
  expect(text).toContain('Environment="BERTH_DATA_DIR=/srv/my \\"data\\" 100%% $HOME"');
  expect(text).toMatch(/^ExecStart=\S+ "\/srv\/a b\/\$\$x\/main\.ts"$/m);
  expect(await checked(text, "verify")).toBe("");
  expect(() => unitText({ ...facts, dataFolder: "/srv/a\nExecStartPre=/bin/sh" })).toThrow(/cannot contain this path/);
});

test("a home folder can be read only where something of the service is in one", () => {
  expect(unitText(facts)).toContain("\nProtectHome=yes\n");
  expect(unitText({ ...facts, needsHome: true })).toContain("\nProtectHome=read-only\n");
});

test("settings are read back as they are, and what a file cannot contain is refused", async () => {
  const values = { BERTH_PORT: "7420", OPENAI_API_KEY: 'sk-"a b" $HOME \\n #' };
  expect(settingsText(values)).toContain(`OPENAI_API_KEY='sk-"a b" $HOME \\n #'\n`);
  expect(() => settingsText({ BERTH_HOST: "a\nLD_PRELOAD=x" })).toThrow(
    /BERTH_HOST: its value cannot be stored in a settings file/,
  );
  expect(() => settingsText({ BERTH_HOST: "it's" })).toThrow(/BERTH_HOST/);
});

test("all sets of system calls that the unit names are known to systemd, which ignores others", async () => {
  const [, filter] = /^SystemCallFilter=(.+)$/m.exec(unitText(facts))!;
  const sets = filter!.split(" ").filter((word) => word.startsWith("@"));
  const { stdout } = await run("systemd-analyze", ["syscall-filter", "--no-pager", ...sets]);
  for (const set of sets) expect(stdout).toContain(set);
});
