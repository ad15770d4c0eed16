import { cpus, loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { TestClient } from "../test/support/client.ts";
import { ScriptedService } from "../test/support/scripted-service.ts";
import { VmService } from "../test/support/vm-service.ts";

// `node bench/export.ts`: exports and imports an agent whose home has one large file and many small ones. First with the
// runner as a process of the host, which shows what server and format cost; then in a real machine, compared with its
// floors: the machine's own reading speed, and the speed of sending one file. MB/s of the archive.

const largeBytes = 192 * 1024 ** 2;
const smallFiles = 2_000;
const rounds = 3;

console.log(`${cpus().length} × ${cpus()[0]!.model}, load ${loadavg()[0]!.toFixed(1)}`);
{
  await using service = await ScriptedService.start();
  await service.client.createAgent("ada");
  await fill(service.client, "files");
  await measure("a process of the host", service.client);
}
{
  await using service = await VmService.start();
  await service.client.createAgent("ada");
  await fill(service.client, "files");
  const id = await service.machineId("ada");
  await rate("  tar in the machine, to nowhere", async () => {
    await service.exec(id, "tar --create --file=- --sort=name -C /home/agent . | cat > /dev/null");
    return largeBytes;
  });
  await rate("  one file from the machine", () => read(service.client, "/agents/ada/files/files/large"));
  await measure("a machine, TCG", service.client);
  await rate("export with the disk", () => read(service.client, "/agents/ada/export?disk=true"));
}

async function fill(client: TestClient, folder: string): Promise<void> {
  const random = crypto.getRandomValues.bind(crypto);
  const large = Buffer.alloc(largeBytes);
  for (let at = 0; at < large.length; at += 65_536) random(large.subarray(at, at + 65_536));
  await put(client, `/agents/ada/files/${folder}/large`, large);
  const command = `mkdir -p ${folder}/small && cd ${folder}/small && for each in $(seq ${smallFiles}); do echo $each > $each; done`;
  const { headers } = await client.fetch("POST", "/agents/ada/commands", { command });
  const path = `/agents/ada/commands/${headers.get("x-command-id")}`;
  while ((await client.call("GET", path)).body.status === "running") await sleep(200);
}

async function measure(what: string, client: TestClient): Promise<void> {
  console.log(what);
  let archive = Buffer.alloc(0);
  for (let round = 0; round < rounds; round++) {
    await rate("  export", () => read(client, "/agents/ada/export"));
  }
  const response = await client.fetch("GET", "/agents/ada/export");
  archive = Buffer.from(await response.arrayBuffer());
  for (let round = 0; round < rounds; round++) {
    const begun = performance.now();
    await rate("  import, received and checked", () => send(client, archive));
    while ((await client.call("GET", "/agents/eve")).body.status === "provisioning") await sleep(50);
    console.log(`  import → ready: ${((performance.now() - begun) / 1_000).toFixed(1)} s`);
    await client.call("DELETE", "/agents/eve");
  }
}

async function put(client: TestClient, path: string, bytes: Buffer<ArrayBuffer>): Promise<void> {
  const headers = { authorization: `Bearer ${client.key}`, "content-type": "application/octet-stream" };
  const { status } = await fetch(client.url + path, { method: "PUT", headers, body: bytes });
  if (status !== 201) throw new Error(`${path}: ${status}`);
}

async function send(client: TestClient, archive: Buffer<ArrayBuffer>): Promise<number> {
  const headers = { authorization: `Bearer ${client.key}`, "content-type": "application/x-tar" };
  const { status } = await fetch(`${client.url}/imports?name=eve`, { method: "POST", headers, body: archive });
  if (status !== 201) throw new Error(`the import was answered with ${status}`);
  return archive.length;
}

/** Reads a body to nowhere. Returns its size. */
async function read(client: TestClient, path: string): Promise<number> {
  let bytes = 0;
  for await (const chunk of (await client.fetch("GET", path)).body!) bytes += chunk.length;
  return bytes;
}

async function rate(name: string, action: () => Promise<number>): Promise<void> {
  const begun = performance.now();
  const bytes = await action();
  const seconds = (performance.now() - begun) / 1_000;
  const cells = [`${(bytes / 1e6 / seconds).toFixed(1)} MB/s`, `${(bytes / 1e6).toFixed(0)} MB`];
  console.log(name.padEnd(36) + cells.map((cell) => cell.padStart(12)).join(""));
}
