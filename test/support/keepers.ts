import { mkdir, open, readdir, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { type Header, type Pack, pack } from "tar-stream";
import { DiskReserve } from "../../src/core/disk-reserve.ts";
import type { Passed } from "../../src/kubernetes/keeper-calls.ts";
import type { KeeperAddress } from "../../src/kubernetes/keeper-client.ts";
import { KeeperServer } from "../../src/kubernetes/keeper-server.ts";
import { PassedFiles } from "../../src/kubernetes/passed-files.ts";
import { TemplateUplinks } from "../../src/kubernetes/template-uplinks.ts";
import { hostCounter } from "../../src/machines/qemu/counter.ts";
import { QemuDriver } from "../../src/machines/qemu/driver.ts";
import { Layout } from "../../src/machines/qemu/layout.ts";
import { hostProcessor } from "../../src/machines/qemu/probe.ts";
import { qemuVersion } from "../../src/machines/qemu/process.ts";
import { templateKey } from "../../src/machines/qemu/template.ts";

// Keepers of machines, with real drivers and without guests.

export const mebibyte = 1024 ** 2;
export const resources = { cpus: 1, memoryMiB: 64, diskGiB: 10 };
export const snapshot = { kind: "snapshots", name: "5ee2" } as const;

/** A member of a tar archive. */
export type Member = Partial<Header> & { name: string } & { content?: string };

export interface Keeper extends AsyncDisposable {
  address: KeeperAddress;
  data: string;
}

/** A keeper with its driver, in `folder`. `left`: the free space of its volume, in bytes. */
export async function openKeeper(folder: string, name: string, left: () => number): Promise<Keeper> {
  const data = join(folder, name);
  await mkdir(data);
  const images = join(folder, "images");
  const driver = await QemuDriver.open({
    layout: new Layout(data, images),
    reserve: new (class extends DiskReserve {
      override async left() {
        return left();
      }
    })(data, 0),
    builtImage: join(images, "img"),
    acceleration: { choice: "tcg", probeMs: 0 },
    usualResources: () => resources,
    serveTemplateUplink: () => {},
    log: () => {},
  });
  const server = await KeeperServer.listen({
    driver,
    files: await PassedFiles.open(driver, join(data, "passed")),
    uplinks: new TemplateUplinks(),
    token: name,
    epochFile: join(data, "epoch"),
    host: "127.0.0.1",
    port: 0,
  });
  return {
    address: { host: "127.0.0.1", port: server.port, token: name, epoch: 1 },
    data,
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await driver.close();
      await rm(data, { recursive: true });
    },
  };
}

const put = async (keeper: Keeper, path: string, content: string | Buffer) => {
  const file = join(keeper.data, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
};

/** The record of the snapshot. */
export const record = (template: Passed, changes: object = {}) => ({
  runtime: "claude-code",
  resources,
  imageId: "img",
  bootImageId: "img",
  template: template.name,
  layers: ["layer"],
  memory: null,
  token: "secret",
  nextToken: null,
  ...changes,
});

/** A template with 64 MiB of memory, most of it holes, and a snapshot that lies on it. */
export async function fill(keeper: Keeper, template: Passed): Promise<void> {
  const of = (part: string) => `templates/${template.name}/${part}`;
  await put(keeper, of("disk.qcow2"), "a template's disk");
  await put(keeper, of("state"), "its devices");
  await put(keeper, of("memory"), "");
  {
    await using memory = await open(join(keeper.data, of("memory")), "w");
    await memory.write(Buffer.from("its memory"), 0, 10, 20 * mebibyte);
    await memory.truncate(64 * mebibyte);
  }
  const parts: Record<string, object> = {};
  for (const part of ["disk.qcow2", "memory", "state"]) {
    const { size, mtimeMs } = await stat(join(keeper.data, of(part)));
    parts[part] = { size, mtimeMs };
  }
  await put(keeper, of("template.json"), JSON.stringify({ imageId: "img", token: "t", parts }));
  await put(keeper, "layers/layer/disk.qcow2", Buffer.alloc(mebibyte, "layer"));
  await put(keeper, `snapshots/${snapshot.name}/snapshot.json`, JSON.stringify(record(template)));
}

/** The files of a machine, in addition to those that every keeper has. */
export async function filesOf({ data }: Keeper): Promise<string[]> {
  const found = await readdir(data, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => !entry.isDirectory()).map(({ parentPath, name }) => join(parentPath, name));
  return files
    .map((file) => file.slice(data.length + 1))
    .filter((file) => file !== "epoch")
    .toSorted();
}

/** The template that fits this host, and an image for it in `folder`. */
export async function templateIn(folder: string): Promise<Passed> {
  const image = join(folder, "images/img");
  await mkdir(image, { recursive: true });
  await writeFile(join(image, "image.json"), JSON.stringify({ id: "img", handshake: "proof" }));
  const host = { qemu: await qemuVersion(), ...(await hostProcessor("tcg")), counter: await hostCounter() };
  const basis = { ...host, accelerator: "tcg", image: { id: "img" }, runtime: "claude-code", resources } as const;
  return { kind: "templates", name: `${templateKey(basis as Parameters<typeof templateKey>[0])}-0123abcd` };
}

/** An archive that is written while it is sent. Its reader may leave. */
export function packed(response: ServerResponse): Pack {
  const archive = pack();
  archive.on("error", () => {});
  archive.pipe(response, () => {});
  return archive;
}

/** Somebody in a machine's pod, in place of its keeper. */
export async function answering({ address }: Keeper, answer: (response: ServerResponse) => unknown) {
  const server: Server = createServer((_, response) => {
    response.on("error", () => {});
    void answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    address: { ...address, port } as KeeperAddress,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
