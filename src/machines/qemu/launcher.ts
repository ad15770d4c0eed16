import { join } from "node:path";
import { BerthError } from "../../contract/errors.ts";
import { freePort } from "../../core/ports.ts";
import { layersBelow } from "./layers.ts";
import type { Layout } from "./layout.ts";
import type { MachineProcesses } from "./machine-processes.ts";
import { QemuProcess } from "./process.ts";
import type { MachineRecord } from "./record.ts";
import type { Sandbox } from "./sandbox.ts";
import { type HostBasis, hardwareOf, type Template } from "./template.ts";

/** The name of a machine's QEMU and its control group. */
export const machineName = (id: string) => `berth-${id}`;

/** The port may be taken between the check and QEMU's start. */
const startTries = 3;

export class Launcher {
  readonly #layout: Layout;
  readonly #sandbox: Sandbox;
  readonly #host: HostBasis;
  readonly #running: MachineProcesses;

  constructor(layout: Layout, sandbox: Sandbox, host: HostBasis, running: MachineProcesses) {
    this.#layout = layout;
    this.#sandbox = sandbox;
    this.#host = host;
    this.#running = running;
  }

  /** Starts on a free port. Retries on another if the port is taken first. */
  async onFreePort<Started>(start: (port: number) => Promise<Started>): Promise<Started> {
    for (let tries = startTries; ; tries--) {
      try {
        return await start(await freePort());
      } catch (error) {
        const portTaken = error instanceof Error && error.message.includes("host forwarding rule");
        if (tries <= 1 || !portTaken) throw error;
      }
    }
  }

  /**
   * `template`: the template whose memory the guest starts from. `state`: the device state to load instead of booting.
   * `deferred`: called with the process, whose guest then waits. Throws `machine_failed`, `shutting_down`.
   */
  async start(
    id: string,
    record: Pick<MachineRecord, "resources" | "user" | "template" | "imageId" | "bootImageId" | "disk" | "layers">,
    port: number,
    template: Template | null,
    state: string | null,
    deferred?: (pid: number) => void,
  ): Promise<QemuProcess> {
    if (this.#running.isClosing) throw new BerthError("shutting_down", "The service is shutting down.");
    const files = this.#layout.machine(id);
    const image = record.bootImageId === null ? null : this.#layout.image(record.bootImageId);
    const { kernel, initrd } = image ?? this.#host.image.files;
    const memory = template ? { kind: "private" as const, file: template.files.memory } : { kind: "fresh" as const };
    const { user, template: base } = record;
    const hardware = hardwareOf(this.#host, record.resources);
    const tokenFile = state ? null : files.token;
    const disk = join(files.folder, record.disk);
    const services = image?.services ?? null;
    const layers = record.layers.length === 0 ? null : layersBelow(this.#layout, record);
    const start = { name: machineName(id), hardware, kernel, initrd, disk, services, layers, memory, port, tokenFile };
    const bases = base ? [this.#layout.images, this.#layout.template(base).folder] : [this.#layout.images];
    // When its disk is frozen for a snapshot, it continues with another one in this folder.
    await this.#sandbox.ensureFolder(files.disks, user);
    // QEMU 7.2 opens the memory of a template for writing even to map it privately; see `named` in template.ts.
    const writable = [disk, files.disks, ...(template ? [template.files.memory] : [])];
    const paths = { readable: [...bases, ...(layers?.layers ?? [])], writable };
    return QemuProcess.start(
      start,
      files,
      { sandbox: this.#sandbox, user, paths, isBackground: false },
      state,
      deferred,
    );
  }
}
