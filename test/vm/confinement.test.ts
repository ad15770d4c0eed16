import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, readlink, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { VmService } from "../support/vm-service.ts";

// The limits on a QEMU process that its guest has taken over.

const run = promisify(execFile);
const canary = "canary-of-the-servers-environment";
const isRoot = process.getuid?.() === 0;
let service: VmService;
let ids: string[];

beforeAll(async () => {
  process.env.BERTH_TEST_CANARY = canary;
  service = await VmService.start();
  await Promise.all(["ada", "bea"].map((name) => service.client.createAgent(name)));
  ids = await Promise.all(["ada", "bea"].map((name) => service.machineId(name)));
});
afterAll(async () => {
  delete process.env.BERTH_TEST_CANARY;
  await service[Symbol.asyncDispose]();
});

const folderOf = (id: string) => join(service.config.dataFolder, "machines", id);

/** Processes that the service started: those that name its data folder, and their children. */
async function started(): Promise<number[]> {
  const found = new Set<number>();
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  for (const pid of pids) {
    const words = await readFile(`/proc/${pid}/cmdline`, "latin1").catch(() => "");
    if (words.includes(service.config.dataFolder) && pid !== process.pid) found.add(pid);
  }
  for (const pid of pids) {
    const parent = /^PPid:\t(\d+)$/m.exec(await readFile(`/proc/${pid}/status`, "latin1").catch(() => ""))?.[1];
    if (found.has(Number(parent))) found.add(pid);
  }
  return [...found];
}

test("no process that the service starts has its environment, which holds keys", async () => {
  const pids = await started();
  // Two QEMUs with the parents that bubblewrap leaves, and PostgreSQL with its processes.
  expect(pids.length).toBeGreaterThan(6);
  for (const pid of pids) {
    const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
    expect(environment).not.toContain(canary);
    expect(environment.split("\0").filter((each) => /KEY|SECRET|TOKEN|BERTH/.test(each))).toEqual([]);
  }
});

test("each QEMU sees /usr, the image, its template and its own machine, and nothing else", async () => {
  const [ada, bea] = await Promise.all(ids.map((id) => service.pid(id)));
  for (const namespace of ["mnt", "pid", "ipc", "uts"]) {
    const links = [ada, bea, process.pid].map((pid) => readlink(`/proc/${pid}/ns/${namespace}`));
    expect(new Set(await Promise.all(links)).size).toBe(3);
  }
  const root = `/proc/${ada}/root`;
  const top = service.config.dataFolder.split("/")[1]!;
  expect((await readdir(root)).toSorted()).toEqual(["bin", "dev", "lib", "lib64", "sbin", "usr", top].toSorted());
  expect(await readdir(join(root, service.config.dataFolder))).toEqual(
    expect.not.arrayContaining(["operator.key", "secret.key", "postgres"]),
  );
  expect(await readdir(join(root, service.config.dataFolder, "machines"))).toEqual([ids[0]]);
});

test.runIf(isRoot)(
  "each machine has a user of its own, which owns its disk and the folder of its monitor alone",
  async () => {
    const uids = await Promise.all(ids.map(async (id) => (await stat(`/proc/${await service.pid(id)}`)).uid));
    expect(new Set([0, ...uids]).size).toBe(3);
    for (const [index, id] of ids.entries()) {
      const owners = Object.fromEntries(
        await Promise.all(
          (await readdir(folderOf(id))).map(
            async (name) => [name, (await stat(join(folderOf(id), name))).uid] as const,
          ),
        ),
      );
      expect([owners["disk.qcow2"], owners.run, owners["machine.json"]]).toEqual([uids[index], uids[index], 0]);
    }
  },
);

test.runIf(isRoot)(
  "a machine's user opens no connections, not even to the service; its own port still answers",
  async () => {
    const { uid, gid } = await stat(`/proc/${await service.pid(ids[0]!)}`);
    const { port } = new URL(service.server.url);
    const connect = ["bash", "-c", `exec 3<>/dev/tcp/127.0.0.1/${port}`];
    const asMachine = ["setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", ...connect];
    await expect(run("env", asMachine, { cwd: "/" })).rejects.toThrow(/No route to host|refused|denied/);
    await run("env", connect);
    // A reload of the host's firewall removes what is not in its own rules.
    await run("nft", ["delete", "table", "inet", "berth"]);
    await run("env", asMachine, { cwd: "/" });
    const refused = () => run("env", asMachine, { cwd: "/" }).then(String, () => "refused");
    await expect.poll(refused, { timeout: 60_000 }).toBe("refused");
    expect((await service.exec(ids[0]!, "echo here")).stdout.trim()).toBe("here");
  },
);

test.runIf(isRoot)("what a taken-over QEMU has started under another name ends with its machine", async () => {
  const { uid, gid } = await stat(`/proc/${await service.pid(ids[1]!)}`);
  const hidden = spawn("setpriv", [`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "sleep", "600"], {
    cwd: "/",
    stdio: "ignore",
  });
  const ended = once(hidden, "exit");
  await expect.poll(async () => (await stat(`/proc/${hidden.pid}`)).uid).toBe(uid);
  expect((await service.client.call("POST", "/agents/bea/suspend")).body.status).toBe("suspended");
  await service.client.call("POST", "/agents/bea/resume?wait=ready");
  expect(await ended).toEqual([null, "SIGKILL"]);
  expect(await service.client.ask("bea", "run: echo here")).toContain("here");
});

test.runIf(isRoot)("a machine's user can neither read others' files nor replace what the server writes", async () => {
  const [own, other] = ids as [string, string];
  const { uid, gid } = await stat(`/proc/${await service.pid(own)}`);
  const groups = (await run("id", ["-G", "berth-vm"])).stdout.trim().split(" ").join(",");
  const asUser = (command: string) =>
    run("setpriv", [`--reuid=${uid}`, `--regid=${gid}`, `--groups=${groups}`, "sh", "-c", command]).then(
      () => "done",
      () => "refused",
    );
  const { dataFolder } = service.config;
  const { template } = await service.record(own);
  for (const command of [
    `cat ${folderOf(own)}/machine.json`,
    `cat ${folderOf(other)}/disk.qcow2`,
    `ls ${folderOf(other)}`,
    `rm -f ${folderOf(own)}/machine.json && ! [ -e ${folderOf(own)}/machine.json ]`,
    `ln -s /etc/passwd ${folderOf(own)}/machine.json.partial`,
    `ln -s /etc/passwd ${folderOf(own)}/memory-1`,
    `mv ${folderOf(own)}/run ${folderOf(own)}/moved`,
    `ln -s /etc/passwd ${dataFolder}/templates/${template}/x`,
    `sh -c 'echo x >> ${dataFolder}/templates/${template}/disk.qcow2'`,
    `cat ${dataFolder}/templates/${template}/template.json`,
    `cat ${dataFolder}/operator.key`,
  ]) {
    expect([command, await asUser(command)]).toEqual([command, "refused"]);
  }
  expect(await asUser(`[ -w ${folderOf(own)}/run ]`)).toBe("done");
});

/** Runs in a machine: makes a group, and what a wild QEMU would do in it. Prints JSON. */
const inMachine = `
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { ControlGroups, inGroup } from "./control-groups.ts";
const groups = await ControlGroups.open({ onlyCheck: false });
const group = await groups.make("wild", { cpus: 1, memoryMiB: 64, isBackground: true });
const bounds = Object.fromEntries(
  ["cpu.max", "cpu.weight", "memory.max", "pids.max"].map((name) => [name, readFileSync(group + "/" + name, "utf8").trim()]),
);
const run = (script) => spawnSync(inGroup(group)[0], [...inGroup(group).slice(1), "sh", "-c", script], { encoding: "utf8" });
const { stdout: own } = run("cat /proc/self/cgroup");
const { stdout: begun } = run("for n in $(seq 600); do sleep 60 >/dev/null & echo $n; done 2>/dev/null");
writeFileSync(group + "/cgroup.kill", "1");
await groups.remove("wild");
await groups.remove("wild");
console.log(JSON.stringify({ missing: groups.missing, bounds, own, begun: begun.trim().split("\\n").length }));
`;

// The kernel of a machine has cgroup v2, which the host may not have.
test("a control group bounds processors, memory and processes of what runs in it", async () => {
  const source = await readFile(new URL("../../src/machines/qemu/control-groups.ts", import.meta.url), "base64");
  const program = Buffer.from(inMachine).toString("base64");
  const { stdout, stderr } = await service.exec(
    ids[0]!,
    `cd "$(mktemp -d)" && echo ${source} | base64 -d > control-groups.ts && echo ${program} | base64 -d > run.mjs
    grep -q cgroup2 /proc/mounts || { mkdir -p /tmp/groups && mount -t cgroup2 none /tmp/groups; }
    node run.mjs`,
    "root",
  );
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toEqual({
    missing: [],
    bounds: {
      "cpu.max": "200000 100000",
      "cpu.weight": "10",
      "memory.max": String(64 * 1024 ** 2 + 2 * 1024 ** 3),
      "pids.max": "512",
    },
    own: "0::/berth/wild\n",
    begun: expect.any(Number),
  });
  expect(JSON.parse(stdout).begun).toBeLessThan(512);
});
