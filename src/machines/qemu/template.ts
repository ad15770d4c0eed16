import { createHash, randomBytes, randomUUID } from "node:crypto";
import { chmod, readdir, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Resources } from "../../contract/agents.ts";
import { BerthError } from "../../contract/errors.ts";
import { noSecrets } from "../../contract/guest.ts";
import type { DiskReserve } from "../../core/disk-reserve.ts";
import { freePort } from "../../core/ports.ts";
import { hasEnded } from "../../core/process-table.ts";
import { newAdoption, newToken } from "../adoption.ts";
import { connectChannel, dialPort } from "../connect.ts";
import { GuestConnection } from "../guest-client.ts";
import { type Accelerator, type Hardware, machineOptions } from "./command.ts";
import type { Counter } from "./counter.ts";
import { force, linkFolder, nullWhereMissing, readRecord, writeWhole } from "./files.ts";
import type { Image } from "./image.ts";
import type { Layout, TemplateFiles } from "./layout.ts";
import { copyDisk, createOverlay, QemuProcess } from "./process.ts";
import type { Sandbox } from "./sandbox.ts";

/** Incremented when the way templates are made changes, so that older ones are remade. */
const templateFormat = 3;

const bootTimeoutMs = 120_000;
const quiesceTimeoutMs = 60_000;
/** Lets the connections' ends reach the guest. */
const settleMs = 500;

/** The last output of the runner and the runtime, in the guest. */
const runnerLog = "tail -n 10 /run/berth/runner.log";

/** Marks the folder of a template that is still being made. */
const partialEnding = ".partial";

/** Written last: a folder without it is not a template. */
interface TemplateRecord {
  imageId: string;
  /** The token that its runner accepts. */
  token: string;
  /** The name, size in bytes and modification time of each part, to check that it is unchanged. */
  parts: Record<string, { size: number; mtimeMs: number }>;
  /** Not used for new machines. Machines suspended over it can still wake. */
  isInvalidated?: true;
}

export interface Template {
  /** Its folder's name, which the records of its machines contain. */
  name: string;
  files: TemplateFiles;
  token: string;
}

/** The host properties that machines depend on. */
export interface HostBasis {
  /** The image of the kernel and the initial RAM disk, whatever the runtime. */
  image: Image;
  qemu: string;
  accelerator: Accelerator;
  /** The host's processor. A guest's memory holds its detected features. */
  cpu: string;
  /** The host's kernel and microcode under KVM, which decide how the processor behaves in a guest; empty under TCG. */
  kernel: string;
  counter: Counter;
}

/** How long an unused template is kept, in milliseconds. */
const keptMs = 30 * 86_400_000;

/** Whether the template with this record was used recently. */
async function isRecent(record: string): Promise<boolean> {
  return Date.now() - (await stat(record)).mtimeMs < keptMs;
}

/** A template's inputs. Any difference makes a different template. */
export interface TemplateBasis extends HostBasis {
  runtime: string;
  /** The only size of the runtime's templates. */
  resources: Resources;
}

/** Warm machines to clone, one per runtime. If none fits, one is made. */
export class Templates {
  readonly #layout: Layout;
  readonly #sandbox: Sandbox;
  readonly #reserve: DiskReserve;
  readonly #serveUplink: (socket: Socket) => void;
  readonly #log: (message: string) => void;
  readonly #making = new Map<string, Promise<Template>>();
  readonly #suspect = new Set<string>();
  readonly #warming = new Set<QemuProcess>();

  /** `serveUplink` answers the throwaway turns' model calls. */
  constructor(
    layout: Layout,
    sandbox: Sandbox,
    reserve: DiskReserve,
    serveUplink: (socket: Socket) => void,
    log: (message: string) => void,
  ) {
    this.#layout = layout;
    this.#sandbox = sandbox;
    this.#reserve = reserve;
    this.#serveUplink = serveUplink;
    this.#log = log;
  }

  /** The template for this basis, if it was made; null otherwise. */
  find(basis: TemplateBasis): Promise<Template | null> {
    return this.#find(templateKey(basis));
  }

  /** The template for this basis. Concurrent callers wait for the same one. Rejects with `template_failed`. */
  async get(basis: TemplateBasis): Promise<Template> {
    const key = templateKey(basis);
    const making = this.#making.get(key);
    if (making) return making;
    const found = this.#find(key).then((template) => template ?? this.#make(key, basis));
    this.#making.set(key, found);
    return found.finally(() => this.#making.delete(key));
  }

  /**
   * Records that a clone did not respond. The first time, its process may have been killed; the second time in a row,
   * the template is discarded.
   */
  async markSuspect(name: string): Promise<void> {
    if (!this.#suspect.has(name)) return void this.#suspect.add(name);
    this.#suspect.delete(name);
    await this.#invalidate(name);
  }

  /** Records that one of its machines responded. */
  trust(name: string): void {
    this.#suspect.delete(name);
  }

  /**
   * Stops using a template for new machines; the next caller gets a new one. Machines made from it still need its disk,
   * and its memory if suspended. The sweep removes it after the last of them.
   */
  async #invalidate(name: string): Promise<void> {
    this.#log(`the template ${name} is not usable; a new one will be made`);
    const { record: file } = this.#layout.template(name);
    const record = await readRecord<TemplateRecord>(file);
    if (record) await writeWhole(file, JSON.stringify({ ...record, isInvalidated: true } satisfies TemplateRecord));
  }

  /**
   * Removes unfinished templates that a crash left, and unused ones unless they are based on one of `currentImages` and
   * were used in the last thirty days: some hosts report another clock rate at each start, which makes another
   * template.
   */
  async sweep(inUse: ReadonlySet<string>, currentImages: ReadonlySet<string>): Promise<void> {
    for (const name of await readdir(this.#layout.templates)) {
      const files = this.#layout.template(name);
      const record = await readRecord<TemplateRecord>(files.record);
      const isPartial = name.endsWith(partialEnding);
      if (isPartial && this.#making.size > 0) continue;
      const isWhole = record && !record.isInvalidated && !isPartial;
      if (inUse.has(name) || (isWhole && currentImages.has(record.imageId) && (await isRecent(files.record)))) {
        // Those of earlier versions belonged to the machines' user.
        await this.#freeze(files);
        continue;
      }
      await rm(files.folder, { recursive: true, force: true });
    }
  }

  async close(): Promise<void> {
    for (const qemu of this.#warming) await qemu.kill();
    await Promise.allSettled(this.#making.values());
  }

  /**
   * Links a template's files into another layout's folder, and counts as a use of it. Throws `template_failed` if it is
   * missing or has changed since it was saved.
   */
  async stage(name: string, to: Layout): Promise<void> {
    if (!(await this.named(name))) throw new BerthError("template_failed", `The warm template ${name} does not exist.`);
    const { folder, record } = this.#layout.template(name);
    await linkFolder(folder, to.template(name).folder);
    const now = new Date();
    await utimes(record, now, now); // See `isRecent`.
  }

  /** The template with that name; null if it is missing or has changed since it was saved. */
  async named(name: string): Promise<Template | null> {
    const files = this.#layout.template(name);
    const record = await readRecord<TemplateRecord>(files.record);
    return record && (await asSaved(name, files, record));
  }

  async #find(key: string): Promise<Template | null> {
    for (const name of await readdir(this.#layout.templates)) {
      if (!name.startsWith(`${key}-`) || name.endsWith(partialEnding)) continue;
      const files = this.#layout.template(name);
      const record = await readRecord<TemplateRecord>(files.record);
      if (!record || record.isInvalidated) continue;
      const template = await asSaved(name, files, record);
      if (!template) await this.#invalidate(name);
      else {
        const now = new Date();
        await utimes(files.record, now, now); // See `isRecent`.
        return template;
      }
    }
    return null;
  }

  async #make(key: string, basis: TemplateBasis): Promise<Template> {
    const started = performance.now();
    this.#log(`making the template of ${basis.runtime}`);
    const name = `${key}-${randomBytes(4).toString("hex")}`;
    const partial = this.#layout.template(`${name}${partialEnding}`);
    const final = this.#layout.template(name);
    try {
      await this.#reserve.require();
      await this.#sandbox.folder(partial.folder, this.#sandbox.templateUser);
      const token = newToken();
      await this.#warmAndSave(partial, token, basis);
      const record: TemplateRecord = { imageId: basis.image.id, token, parts: await partsOf(partial) };
      await writeWhole(partial.record, JSON.stringify(record));
      await force(partial.folder);
      await rename(partial.folder, final.folder);
      await force(this.#layout.templates);
      this.#log(`made the template of ${basis.runtime} in ${((performance.now() - started) / 1000).toFixed(1)} s`);
      return { name, files: final, token };
    } catch (error) {
      await rm(partial.folder, { recursive: true, force: true });
      if (error instanceof BerthError && error.code === "disk_full") throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw new BerthError("template_failed", `The warm template of ${basis.runtime} could not be made: ${reason}`, {
        cause: error,
      });
    }
  }

  async #warmAndSave(files: TemplateFiles, token: string, basis: TemplateBasis): Promise<void> {
    if (this.#layout.areImagesApart) {
      await copyDisk(files.disk, basis.image.files.rootfs, basis.resources.diskGiB * 1024 ** 3);
    } else await createOverlay(files.disk, `../../images/${basis.image.id}/rootfs.img`, "raw");
    const firmwareToken = newToken();
    await writeWhole(files.token, firmwareToken);
    await writeFile(files.memory, "", { mode: 0o600 });
    const user = this.#sandbox.templateUser;
    await this.#sandbox.give(user, files.disk, files.token, files.memory);
    const port = await freePort();
    const name = `berth-template-${basis.runtime}-${randomBytes(4).toString("hex")}`;
    const qemu = await QemuProcess.start(
      {
        name,
        hardware: hardwareOf(basis, basis.resources),
        kernel: basis.image.files.kernel,
        initrd: basis.image.files.initrd,
        disk: files.disk,
        services: basis.image.files.services,
        layers: null,
        memory: { kind: "shared", file: files.memory },
        port,
        tokenFile: files.token,
      },
      files,
      {
        sandbox: this.#sandbox,
        user,
        paths: { readable: [this.#layout.images], writable: [files.disk, files.memory] },
        isBackground: true,
      },
      null,
    );
    this.#warming.add(qemu);
    try {
      await this.#warm(qemu.pid, port, firmwareToken, token, basis.runtime);
      await qemu.pause();
      await writeFile(files.state, await qemu.saveState(files, { continues: false }), { mode: 0o600 });
    } catch (error) {
      const console = await qemu.console().catch(() => "");
      if (console.trim()) this.#log(`the template's console: ${console.trim().split("\n").slice(-5).join(" | ")}`);
      throw error;
    } finally {
      this.#warming.delete(qemu);
      await qemu.kill();
      await this.#sandbox.removeGroup(name);
    }
    for (const path of [files.token, files.run, files.log]) await rm(path, { recursive: true, force: true });
    await this.#freeze(files);
    // The record is synced after them: a power cut leaves no incomplete template with a record.
    for (const file of [files.disk, files.memory, files.state]) await force(file);
  }

  /**
   * Makes a finished template read-only for the machines' users, who share its group. They can still write to its
   * memory: QEMU 7.2 opens it so even to map it privately. They cannot hide it, because they do not own the file: its
   * modification time no longer matches the record.
   */
  async #freeze({ folder, disk, memory, state }: TemplateFiles): Promise<void> {
    const user = this.#sandbox.templateUser;
    const modes = [
      [disk, user ? 0o440 : 0o400],
      [state, 0o400],
      [memory, user ? 0o660 : 0o600],
      [folder, user ? 0o750 : 0o700],
    ] as const;
    for (const [path, mode] of modes) {
      // A template that was staged for its disk alone has no other parts.
      await this.#sandbox.show(user, path).catch(nullWhereMissing);
      await chmod(path, mode).catch(nullWhereMissing);
    }
  }

  /** Boots, starts the runtime and runs its throwaway turns. Then disconnects, so that no connection is saved. */
  async #warm(pid: number, port: number, firmwareToken: string, token: string, runtime: string): Promise<void> {
    const dial = async () => {
      if (hasEnded(pid)) throw new BerthError("machine_failed", "QEMU has ended.");
      return dialPort(port);
    };
    const proved = { handshake: "proof" } as const; // Templates are made of the newest image only.
    const first = await connectChannel(dial, { ...proved, channel: "control", tokens: [firmwareToken] }, bootTimeoutMs);
    const machineId = randomUUID().replaceAll("-", "");
    using connection = new GuestConnection({ machine: machineId, account: () => null }, first.socket);
    const { guest } = connection;
    await guest.adopt(newAdoption(machineId, "template", runtime, token, noSecrets), { timeoutMs: bootTimeoutMs });
    const { socket: uplink } = await connectChannel(
      dial,
      { ...proved, channel: "uplink", tokens: [token] },
      bootTimeoutMs,
    );
    this.#serveUplink(uplink);
    await guest.warmUp({}).catch(async (error: unknown) => {
      const { stdout } = await guest.exec({ command: runnerLog, user: "root", timeoutMs: 10_000 });
      if (stdout.trim()) this.#log(`the template's runtime printed: ${stdout.trim().split("\n").join(" | ")}`);
      throw error;
    });
    await guest.quiesce({ endRuntime: false }, { timeoutMs: quiesceTimeoutMs });
    uplink.destroy();
    await connection.close();
    await sleep(settleMs);
  }
}

export function hardwareOf(
  { accelerator, counter }: Pick<HostBasis, "accelerator" | "counter">,
  { cpus, memoryMiB }: Resources,
): Hardware {
  return { accelerator, counter, cpus, memoryMiB };
}

/** The name of the matching template: the same for the same basis, different if anything in the basis differs. */
export function templateKey(basis: TemplateBasis): string {
  return `${basis.runtime}-${templateKind(basis)}`;
}

/** 16 hexadecimal digits, which differ if anything in the basis differs. */
export function templateKind({ runtime, resources, image, ...host }: TemplateBasis): string {
  const { qemu, accelerator, cpu, kernel, counter } = host;
  const { cpus, memoryMiB } = resources;
  const parts = [templateFormat, runtime, image.id, qemu, cpu, kernel, accelerator, machineOptions, cpus, memoryMiB];
  const clock = accelerator === "tcg" && counter.isSteady ? ["tsc=reliable"] : [];
  return createHash("sha256")
    .update(JSON.stringify([...parts, ...clock]))
    .digest("hex")
    .slice(0, 16);
}

export function runtimeOf(template: string): string {
  return template.replace(/-[0-9a-f]{16}-[0-9a-f]{8}$/, "");
}

/** The template if its parts match its record, else null. */
async function asSaved(name: string, files: TemplateFiles, record: TemplateRecord): Promise<Template | null> {
  const parts = await partsOf(files).catch(nullWhereMissing);
  return JSON.stringify(parts) === JSON.stringify(record.parts) ? { name, files, token: record.token } : null;
}

/** Updates a template's record to its parts' current state: copies have other times. */
export async function refreshTemplate(files: TemplateFiles): Promise<void> {
  const record = await readRecord<TemplateRecord>(files.record);
  // A template with a part missing is used for its disk alone.
  const parts = record && (await partsOf(files).catch(nullWhereMissing));
  if (parts) await writeWhole(files.record, JSON.stringify({ ...record, parts }));
}

async function partsOf(files: TemplateFiles): Promise<TemplateRecord["parts"]> {
  const parts: TemplateRecord["parts"] = {};
  for (const file of [files.disk, files.memory, files.state]) {
    const { size, mtimeMs } = await stat(file);
    parts[basename(file)] = { size, mtimeMs };
  }
  return parts;
}
