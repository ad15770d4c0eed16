import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { agent, installation, json, ScriptedApi, streaming } from "../../test/support/scripted-api.ts";
import { ScriptedTerminal } from "../../test/support/scripted-terminal.ts";

// berth agents export and import.

let api: ScriptedApi;
let folder: string;
beforeAll(async () => {
  api = await ScriptedApi.listen();
  folder = await mkdtemp(join(tmpdir(), "berth-test-archives-"));
});
beforeEach(() => api.clear());
afterAll(async () => {
  api[Symbol.dispose]();
  await rm(folder, { recursive: true });
});

const made = {
  agent: agent("eve"),
  installed: { apt: [{ name: "cowsay", version: "3.03" }], npm: [{ name: "@a/b", version: "1.0.0" }] },
  secrets: [{ name: "TOKEN", hosts: ["api.example.com"], headers: ["authorization"] }],
  agents: ["bob"],
  hadDisk: true,
};

test("an archive is written as it comes, and not to a terminal", async () => {
  api.answers["GET /agents/ada/export"] = [(response) => response.end("an archive")];
  api.answers["GET /agents/ada/export?disk=true"] = [(response) => response.end("a large archive")];
  expect(await api.berth(["agents", "export", "ada"])).toEqual({ code: 0, stdout: "an archive", stderr: "" });
  expect((await api.berth(["agents", "export", "ada", "--disk"])).stdout).toBe("a large archive");
  api.clear();
  await using terminal = await ScriptedTerminal.run(["agents", "export", "ada"], {
    BERTH_URL: api.url,
    BERTH_API_KEY: "berth_sk_test",
  });
  expect(await terminal.exited).toBe(2);
  expect(terminal.output).toContain("berth agents export ada > ada.berth");
  expect(api.seen).toEqual([]);
});

test("an archive that breaks off fails the command", async () => {
  api.answers["GET /agents/ada/export"] = [
    (response) => {
      response.write("half");
      setTimeout(() => response.destroy(), 50);
    },
  ];
  const { code, stderr } = await api.berth(["agents", "export", "ada"]);
  expect([code, stderr]).toEqual([1, expect.stringContaining("connection broke")]);
});

test("an import sends a file or standard input, waits, and says what did not come along", async () => {
  const file = join(folder, "ada.berth");
  await writeFile(file, "an archive");
  api.answers["POST /imports"] = [json(made, 201)];
  api.answers["POST /imports?name=eve&model=default"] = [json(made, 201)];
  api.answers["GET /agents/eve/install-status"] = [streaming(installation("installed", null))];
  api.answers["GET /agents/eve"] = [json(agent("eve"))];
  const { code, stdout, stderr } = await api.berth(["agents", "import", file]);
  expect([code, stdout]).toEqual([0, expect.stringContaining("eve is ready")]);
  expect(api.seen[0]).toMatchObject({ method: "POST", body: await readFile(file, "utf8") });
  for (const text of [
    "berth agents secrets set eve TOKEN --host api.example.com",
    "berth exec eve -- sudo apt-get install -y cowsay",
    "berth exec eve -- sudo npm install -g @a/b",
    "bob",
    "disk in the archive is not used",
  ]) {
    expect(stdout + stderr).toContain(text);
  }
  const piped = ["agents", "import", "-", "--name", "eve", "--model", "default", "--no-wait", "--json"];
  const answer = await api.berth(piped, { input: "piped" });
  expect(JSON.parse(answer.stdout)).toEqual(made);
  expect(api.seen.at(-1)).toMatchObject({ body: "piped" });
});

test("a file that is not there is not sent", async () => {
  const { code, stderr } = await api.berth(["agents", "import", join(folder, "none")]);
  expect([code, stderr, api.seen]).toEqual([1, expect.stringContaining("There is no file"), []]);
});
