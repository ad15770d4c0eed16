import type { Layout } from "./layout.ts";
import { killByMonitor, QemuProcess } from "./process.ts";

/** The processes of the machines that run, by the machines' ids. */
export class MachineProcesses {
  readonly #layout: Layout;
  readonly #log: (message: string) => void;
  readonly #processes = new Map<string, QemuProcess>();
  /** Those whose guests do not run yet. */
  readonly #waking = new Set<QemuProcess>();
  /** Those whose guests stand at a write that the host's disk does not take. */
  readonly #standing = new Set<QemuProcess>();
  #closing = false;

  constructor(layout: Layout, log: (message: string) => void) {
    this.#layout = layout;
    this.#log = log;
  }

  /** Whether the server is about to let go of them: no machine is started then, and no memory given up. */
  get isClosing(): boolean {
    return this.#closing;
  }

  get(id: string): QemuProcess | undefined {
    return this.#processes.get(id);
  }

  has(id: string): boolean {
    return this.#processes.has(id);
  }

  /** Takes one whose guest runs, or stands where it may go on by itself. */
  add(id: string, qemu: QemuProcess): void {
    this.#processes.set(id, qemu);
    qemu.onFullDisk(() => void this.outlastFullDisk(id, qemu));
    void qemu.ended.then(() => {
      if (this.#processes.get(id) === qemu) this.#processes.delete(id);
    });
  }

  /** Takes one whose guest does not run yet, until that is disposed. */
  waking(qemu: QemuProcess): Disposable {
    this.#waking.add(qemu);
    return { [Symbol.dispose]: () => void this.#waking.delete(qemu) };
  }

  /** Ends the machine's process, be it one that was taken or one that another server has left. */
  async end(id: string): Promise<void> {
    const qemu = this.#processes.get(id);
    if (qemu) await qemu.kill();
    else await killByMonitor(this.#layout.machine(id).qmp);
    this.#processes.delete(id);
  }

  /**
   * The machine's process among `processes` and what QEMU says of it. It is not taken yet. One that does not answer is of
   * no use, and is killed.
   */
  async find(
    id: string,
    processes: ReadonlyMap<string, number>,
  ): Promise<{ qemu: QemuProcess | null; status: string | undefined }> {
    try {
      const qemu = await QemuProcess.find(this.#layout.machine(id), processes);
      return { qemu, status: await qemu?.status() };
    } catch (error) {
      this.#log(`a machine did not answer and was ended: ${id}: ${(error as Error).message}`);
      await killByMonitor(this.#layout.machine(id).qmp);
      return { qemu: null, status: undefined };
    }
  }

  /** Sees to a guest that QEMU has stopped at a write, until the host's disk takes it. Never rejects. */
  async outlastFullDisk(id: string, qemu: QemuProcess): Promise<void> {
    if (this.#standing.has(qemu)) return;
    this.#standing.add(qemu);
    this.#log(`the host's disk is full, so that machine ${id} stands still until there is space`);
    try {
      await qemu.outlastFullDisk();
      this.#log(`machine ${id} goes on`);
    } catch (error) {
      if (!this.#closing) this.#log(`machine ${id} stands still no more: ${(error as Error).message}`);
    } finally {
      this.#standing.delete(qemu);
    }
  }

  beginClosing(): void {
    this.#closing = true;
  }

  /** Lets go of them. They run on. */
  close(): void {
    for (const { qmp } of [...this.#processes.values(), ...this.#waking]) qmp[Symbol.dispose]();
  }
}
