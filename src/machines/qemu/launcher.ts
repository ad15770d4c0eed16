import type { Resources } from "../../contract/agents.ts";
import { BerthError } from "../../contract/errors.ts";
import { freePort } from "../../platform/ports.ts";
import type { Layout } from "./layout.ts";
import type { MachineProcesses } from "./machine-processes.ts";
import type { Privilege } from "./privilege.ts";
import { QemuProcess } from "./process.ts";
import { type HostBasis, hardwareOf, type Template } from "./template.ts";

/** The port may be taken between the check and QEMU's start. */
const startTries = 3;

/** Starts QEMU in a machine's folder. */
export class Launcher {
  readonly #layout: Layout;
  readonly #privilege: Privilege;
  readonly #host: HostBasis;
  readonly #running: MachineProcesses;

  constructor(layout: Layout, privilege: Privilege, host: HostBasis, running: MachineProcesses) {
    this.#layout = layout;
    this.#privilege = privilege;
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
    resources: Resources,
    port: number,
    template: Template | null,
    state: string | null,
    deferred?: (pid: number) => void,
  ): Promise<QemuProcess> {
    if (this.#running.isClosing) throw new BerthError("shutting_down", "The service is being stopped.");
    const files = this.#layout.machine(id);
    const { kernel, initrd } = this.#host.image.files;
    const memory = template ? { kind: "private" as const, file: template.files.memory } : { kind: "fresh" as const };
    const hardware = hardwareOf(this.#host, resources);
    const tokenFile = state ? null : files.token;
    const start = { name: `berth-${id}`, hardware, kernel, initrd, disk: files.disk, memory, port, tokenFile };
    return QemuProcess.start(start, files, this.#privilege, state, deferred);
  }
}
