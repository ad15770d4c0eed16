import { readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Quarantine, type Quarantined } from "../../src/core/quarantine.ts";
import type { Handshake } from "../../src/machines/connect.ts";
import type { KeptSnapshot } from "../../src/machines/driver.ts";

/** The parts of a driver without VMs whose machines' disks and snapshots are folders. */
export abstract class FolderDriver {
  readonly accelerator = "none";
  protected readonly folder: string;
  protected readonly quarantineFolder: Quarantine;

  /** `folder` holds a folder for each machine. */
  constructor(folder: string) {
    this.folder = folder;
    this.quarantineFolder = new Quarantine(dirname(folder));
  }

  async prepare(): Promise<null> {
    return null;
  }

  async sweep(): Promise<void> {}

  async close(): Promise<void> {}

  async handshake(): Promise<Handshake> {
    return "proof";
  }

  protected snapshotFolder(id: string): string {
    return join(dirname(this.folder), "snapshots", id);
  }

  async snapshots(): Promise<KeptSnapshot[]> {
    const found = await readdir(this.snapshotFolder("")).catch(() => []);
    return found.filter((name) => !name.endsWith(".partial")).map((id) => ({ id, bytes: 4096 }));
  }

  async removeSnapshot(snapshot: string): Promise<void> {
    await rm(this.snapshotFolder(snapshot), { recursive: true, force: true });
  }

  /** The "disk" is a folder. One line of it stands for the image. */
  async packDisk(snapshot: string): Promise<string> {
    const path = `${this.folder}-packed-${snapshot}`;
    await writeFile(path, `the disk of snapshot ${snapshot}\n`);
    return path;
  }

  async quarantineSnapshot(id: string): Promise<void> {
    const facts = { id, kind: "snapshot", agent: null, runtime: null } as const;
    await this.quarantineFolder.add(this.snapshotFolder(id), facts);
  }

  async quarantined(): Promise<Quarantined[]> {
    return (await this.quarantineFolder.list()).filter(({ kind }) => kind !== "import");
  }

  async removeQuarantined(id: string): Promise<void> {
    for (const kind of ["machine", "snapshot"] as const) await this.quarantineFolder.remove(id, kind);
  }
}
