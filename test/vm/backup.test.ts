import { execFile } from "node:child_process";
import { chmod, mkdtempDisposable, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { folderPrefix, testConfig } from "../support/config.ts";
import { VmService } from "../support/vm-service.ts";
import { makeSeed, plantSeed } from "../support/warm-seed.ts";

const run = promisify(execFile);
const launcher = join(import.meta.dirname, "../../berth");
const runtime = "claude-code";

function berth(args: string[], environment: Record<string, string>) {
  return run(launcher, args, { env: { PATH: process.env.PATH, HOME: "/nonexistent", ...environment } });
}

/** Has the machine's disk, its memory and a program hold a text. */
async function hold(service: VmService, machine: string, text: string): Promise<void> {
  await service.exec(machine, `echo ${text} > /home/agent/note; echo ${text} > /dev/shm/note; sync`);
  await service.exec(machine, `(exec -a sleeper-${text} sleep 100000 >/dev/null 2>&1 &)`);
}

async function held(service: VmService, machine: string): Promise<string> {
  const program = "ps -eo args | sed -n 's/^sleeper-\\([a-z0-9]*\\) .*/\\1/p'";
  return (await service.exec(machine, `cat /home/agent/note /dev/shm/note; ${program}`)).stdout;
}

test("machines of a destroyed data folder come back with files, memory and running programs", async () => {
  await using folder = await mkdtempDisposable(`${folderPrefix}backup-`);
  await chmod(folder.path, 0o711);
  const [file, secretKey] = [join(folder.path, "backup.tar"), join(folder.path, "secret.key")];
  const ids: Record<string, string> = {};
  await makeSeed(runtime);
  {
    const config = await testConfig();
    await plantSeed(config.dataFolder, { only: runtime });
    await using service = await VmService.on(config);
    const { client } = service;
    for (const name of ["awake", "asleep"]) {
      await client.createAgent(name, { runtime });
      await client.ask(name, `My name is ${name}.`);
      ids[name] = (await service.server.machines.list()).find(({ id }) => !Object.values(ids).includes(id))!.id;
      await hold(service, ids[name], name);
    }
    await client.call("POST", "/agents/asleep/suspend");
    await client.call("POST", "/agents/awake/snapshots", { name: "kept" });
    const { stdout } = await berth(["admin", "backup", file, "--json"], {
      BERTH_URL: service.server.url,
      BERTH_API_KEY: client.key,
    });
    expect(JSON.parse(stdout)).toMatchObject({ agents: 2, leftOut: [] });
    // It continues as if nothing had been.
    expect(await held(service, ids.awake!)).toBe("awake\nawake\nawake\n");
    expect((await stat(file)).size).toBeLessThan(8 * 1024 ** 3);
    await writeFile(secretKey, await readFile(join(config.dataFolder, "secret.key")));
  }
  const dataFolder = join(folder.path, "data");
  await berth(["admin", "restore", file, "--secret-key", secretKey], { BERTH_DATA_DIR: dataFolder });
  await using service = await VmService.on(await testConfig({ dataFolder }));
  const { client } = service;
  for (const name of ["awake", "asleep"]) {
    expect((await client.call("GET", `/agents/${name}`)).body.status).toBe("suspended");
    // Its second message: the conversation continues.
    expect(await client.ask(name, "And now?")).toContain(`My name is ${name}.`);
    expect(await held(service, ids[name]!)).toBe(`${name}\n${name}\n${name}\n`);
  }
  expect((await client.call("POST", "/agents/awake/rollback?wait=ready", { snapshot: "kept" })).body.status).toBe(
    "ready",
  );
  expect(await held(service, ids.awake!)).toBe("awake\nawake\nawake\n");
}, 900_000);
