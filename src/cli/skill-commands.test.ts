import { chmod, mkdir, mkdtempDisposable, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { folderPrefix } from "../../test/support/config.ts";
import { json, ScriptedApi } from "../../test/support/scripted-api.ts";
import { described, skillText } from "../../test/support/skill-archives.ts";

let api: ScriptedApi;
beforeAll(async () => {
  api = await ScriptedApi.listen();
});
beforeEach(() => api.clear());
afterAll(() => api[Symbol.dispose]());

const time = "2026-01-02T03:04:05.678Z";
const skill = {
  name: "pdf-forms",
  description: "Fills in forms.",
  license: null,
  compatibility: "Python",
  metadata: {},
  allowedTools: ["Bash(git:*)", "Read"],
  programs: ["scripts/fill.py"],
  hash: "a".repeat(64),
  size: 10,
  source: { type: "git", url: "https://example.com/skills", ref: null, path: "pdf-forms", commit: "b".repeat(40) },
  agents: ["ada"],
  createdBy: null,
  createdAt: time,
  updatedAt: time,
  instructions: "",
  files: [{ path: "scripts/fill.py", size: 10, executable: true }],
};
const answer = (fields: object = {}) => [json({ ...skill, ...fields })];

test("a folder is packed with its modes, and sent under its name", async () => {
  await using folder = await mkdtempDisposable(`${folderPrefix}skill-`);
  const path = join(folder.path, "pdf-forms");
  await mkdir(join(path, "scripts"), { recursive: true });
  await mkdir(join(path, ".git"));
  await writeFile(join(path, ".git/config"), "left out");
  await writeFile(join(path, "SKILL.md"), skillText("pdf-forms", described));
  await writeFile(join(path, "scripts/fill.py"), "print()");
  await chmod(join(path, "scripts/fill.py"), 0o755);
  api.answers["PUT /skills/pdf-forms/archive?agents=ada,bob"] = answer();
  const { code, stdout, stderr } = await api.berth(["skills", "add", path, "--agent", "ada", "--agent", "bob"]);
  expect([code, stderr, api.seen.map(({ path }) => path)]).toEqual([
    0,
    "",
    ["/skills/pdf-forms/archive?agents=ada,bob"],
  ]);
  expect(stdout).toContain("Programs: scripts/fill.py\n");
  expect(stdout).toContain(`From: https://example.com/skills, pdf-forms, at the commit ${"b".repeat(40)}\n`);
  await symlink("/etc/passwd", join(path, "link"));
  const refused = await api.berth(["skills", "add", path]);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("a skill has no links") });
  expect(api.seen).toHaveLength(1);
});

test("a folder that is no skill is not sent", async () => {
  await using folder = await mkdtempDisposable(`${folderPrefix}skill-`);
  await writeFile(join(folder.path, "large"), Buffer.alloc(5 * 1024 ** 2));
  expect(await api.berth(["skills", "add", folder.path])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("4 MiB of a skill"),
  });
  expect(await api.berth(["skills", "add", join(folder.path, "none")])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("does not exist"),
  });
  expect(api.seen).toEqual([]);
});

test("a repository is named to the service", async () => {
  api.answers["PUT /skills/pdf-forms"] = answer();
  const url = "https://example.com/skills.git";
  const added = [
    "skills",
    "add",
    url,
    "--path",
    "a/pdf-forms/",
    "--ref",
    "v1",
    "--hash",
    "a".repeat(64),
    "--all-agents",
  ];
  expect((await api.berth(added)).code).toBe(0);
  api.answers["PUT /skills/skills"] = answer();
  expect((await api.berth(["skills", "add", url])).code).toBe(0);
  expect(api.seen.map(({ body }) => JSON.parse(body))).toEqual([
    { git: { url, ref: "v1", path: "a/pdf-forms/" }, hash: "a".repeat(64), agents: null },
    { git: { url, ref: null, path: null } },
  ]);
  expect(await api.berth(["skills", "add", import.meta.filename, "--ref", "v1"])).toMatchObject({ code: 2 });
});

test("skills are listed, shown, changed and deleted", async () => {
  api.answers["GET /skills"] = [json({ data: [skill, { ...skill, agents: null }], nextCursor: null })];
  expect((await api.berth(["skills", "list"])).stdout).toBe(
    [
      "NAME       HASH          AGENTS  PROGRAMS  TOOLS",
      "pdf-forms  aaaaaaaaaaaa  ada     1         Bash(git:*) Read",
      "pdf-forms  aaaaaaaaaaaa  all     1         Bash(git:*) Read",
      "",
    ].join("\n"),
  );
  api.answers["GET /skills/pdf-forms"] = answer({ description: "\u001b[31mred" });
  const { stdout } = await api.berth(["skills", "show", "pdf-forms"]);
  expect(stdout).toContain("scripts/fill.py  10 B  executable");
  expect(stdout).not.toContain("\u001b");
  api.answers["PUT /skills/pdf-forms"] = answer();
  await api.berth(["skills", "update", "pdf-forms", "--no-agents"]);
  expect(JSON.parse(api.seen.at(-1)!.body)).toEqual({ agents: [] });
  expect(await api.berth(["skills", "update", "pdf-forms"])).toMatchObject({ code: 2 });
  api.answers["DELETE /skills/pdf-forms"] = [(response) => response.writeHead(204).end()];
  expect(await api.berth(["skills", "remove", "pdf-forms", "--yes"])).toMatchObject({ code: 0 });
});
