import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { RunCommand } from "../../contract/commands.ts";
import { Approvals } from "../../runtimes/approvals.ts";
import type { RuntimeContext } from "../../runtimes/runtime.ts";
import { startProcess } from "./command-process.ts";
import { PreparedShells, type ShellStart } from "./prepared-shells.ts";

let folder: string;
let context: RuntimeContext;
let shells: CountedShells;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  folder = await mkdtemp(join(tmpdir(), "berth-shells-"));
  context = {
    uid: process.getuid!(),
    gid: process.getgid!(),
    home: folder,
    packages: folder,
    stateFolder: folder,
    gatewayUrl: "http://127.0.0.1:1",
    proxyUrl: "http://127.0.0.1:1",
    functionsUrl: "http://127.0.0.1:1/mcp",
    runtimePort: 1,
    approvals: new Approvals(),
    environmentFile: join(folder, "environment"),
    log: () => {},
  };
  shells = new CountedShells();
});
afterEach(async () => {
  vi.useRealTimers();
  shells.end();
  await rm(folder, { recursive: true });
});

/** Counts the commands that a shell waited for. */
class CountedShells extends PreparedShells {
  taken = 0;

  override prepare(user: RunCommand["user"], start: ShellStart) {
    super.prepare(user, start);
    vi.advanceTimersByTime(1_000);
  }

  override async take(run: RunCommand, start: ShellStart) {
    const shell = await super.take(run, start);
    if (shell) this.taken++;
    return shell;
  }
}

const ofAgent = { user: "agent", openStdin: false, detach: false } as const;

function run(command: RunCommand["command"], more: Partial<RunCommand> = {}) {
  return new Promise<{ stdout: string; stderr: string; exitCode: number | null; signal: string | null }>(
    (resolve, reject) => {
      const text = { stdout: "", stderr: "" };
      startProcess({ ...ofAgent, command, ...more }, context, shells, {
        output: (stream, chunk) => {
          text[stream] += chunk.toString();
        },
        exited: (exitCode, signal) => resolve({ ...text, exitCode, signal }),
      }).catch(reject);
    },
  );
}

describe("a command has the same outcome in a shell that waited as in one of its own:", () => {
  test.each<[string, RunCommand["command"], Partial<RunCommand>?]>([
    ["its environment", ["env"]],
    ["variables of its own", ["env"], { env: { TEXT: "it's\n$HOME", PATH: "/bin", HOME: "/" } }],
    ["its arguments", ["printf", "%s|", "a b", "it's", "new\nline", "", "$HOME", "`id`", "\\"]],
    ["its folder", ["bash", "-c", "pwd; declare -p OLDPWD; ls /proc/self/fd"], { cwd: "link" }],
    ["its session", ["bash", "-c", '[ $(ps -o sid= $$) = $$ ] && [ $(ps -o pgid= $$) = $$ ] && echo "leads both"']],
    ["its input", ["cat"], { stdin: "hello\n" }],
    ["both outputs and its exit code", ["bash", "-c", "echo out; echo err >&2; exit 3"]],
    ["its signal", ["bash", "-c", "kill -TERM $$"]],
    ["a program that does not exist", ["nope", "x"]],
    ["a name that begins with a dash", ["-a", "x"]],
    ["a folder as its program", ["/usr"]],
    ["a script that names no interpreter", ["./script"]],
    ["a line for a login shell", "shopt -q login_shell && echo login $0 $SHLVL $-; pwd; env | sort"],
    ["a line that is not complete", "echo 'a"],
    ["several lines", "cat <<END\nit's $((1 + 1))\nEND\nfalse"],
  ])("%s", async (_, command, more) => {
    await symlink("/usr", join(folder, "link"));
    await writeFile(join(folder, "script"), "[[ a == a ]] && echo bash", { mode: 0o755 });
    const own = await run(command, more);
    expect(shells.taken).toBe(0);
    expect(await run(command, more)).toEqual(own);
    expect(shells.taken).toBe(1);
  });
});

test("the secrets are those of the command's start", async () => {
  await writeFile(context.environmentFile, "export OLD=1\n");
  expect((await run(["printenv", "OLD"])).stdout).toBe("1\n");
  await writeFile(context.environmentFile, "export NEW=2\n");
  expect((await run(["bash", "-c", "echo $OLD $NEW"])).stdout).toBe("2\n");
  expect((await run("echo $OLD $NEW")).stdout).toBe("2\n");
  expect(shells.taken).toBe(2);
});

test.each([
  ["a variable of bash's own", { BASH_ENV: "/nothing" }],
  ["a variable that libraries read at their start", { LD_LIBRARY_PATH: "/nothing" }],
  ["a name that bash does not know", { "a.b": "c" }],
  ["more than bash reads quickly", { LONG: "x".repeat(5_000) }],
])("a command has a shell of its own with %s", async (_, env) => {
  await run(["true"]);
  expect((await run(["env"], { env })).stdout).toContain(Object.entries(env)[0]!.join("="));
  expect(shells.taken).toBe(0);
  await run(["true"]);
  expect(shells.taken).toBe(1);
});

test("a command whose folder cannot be entered is not run, and the next one is", async () => {
  await run(["true"]);
  await expect(run(["touch", join(folder, "ran")], { cwd: join(folder, "gone") })).rejects.toThrow("ENOENT");
  expect(await readdir(folder)).not.toContain("ran");
  expect(await run(["echo", "here"])).toMatchObject({ stdout: "here\n", exitCode: 0 });
});

test.each(["SIGKILL", "SIGSTOP"])("a command runs once where the shell that waited has had a %s", async (signal) => {
  await run(["true"]);
  // A process that has just been forked has its parent's command line. The pattern does not match the search itself.
  const search = "until pgrep -f 'berth_jo[b]' -P $(ps -o ppid= $$); do sleep 0.01; done";
  const pids = (await run(["bash", "-c", search])).stdout.trim().split("\n").map(Number);
  // 0 is the group of this process, with all other tests.
  expect(Math.min(...pids)).toBeGreaterThan(1);
  for (const pid of pids) process.kill(pid, signal);
  const running = run(["bash", "-c", `echo x >> ${folder}/runs`]);
  vi.advanceTimersByTime(10_000);
  expect(await running).toMatchObject({ exitCode: 0 });
  expect(await readFile(join(folder, "runs"), "utf8")).toBe("x\n");
});
