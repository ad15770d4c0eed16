import type { Layout } from "./layout.ts";
import { killByMonitor, QemuProcess } from "./process.ts";

export class MachineProcesses {
  readonly #layout: Layout;
  readonly #log: (message: string) => void;
  readonly #processes = new Map<string, QemuProcess>();
  /** Processes whose guests are not running yet. */
  readonly #waking = new Set<QemuProcess>();
  /** Processes whose guests are stopped at a write because the host's disk is full. */
  readonly #standing = new Set<QemuProcess>();
  #closing = false;

  constructor(layout: Layout, log: (message: string) => void) {
    this.#layout = layout;
    this.#log = log;
  }

  /**
   * True once the server is about to release its machines. From then on it starts no machine and discards no memory.
   */
  get isClosing(): boolean {
    return this.#closing;
  }

  get(id: string): QemuProcess | undefined {
    return this.#processes.get(id);
  }

  has(id: string): boolean {
    return this.#processes.has(id);
  }

  /** Adds a process whose guest is running, or is stopped but may resume without help. */
  add(id: string, qemu: QemuProcess): void {
    this.#processes.set(id, qemu);
    qemu.onFullDisk(() => void this.outlastFullDisk(id, qemu));
    qemu.onBroken((status) => {
      this.#log(`stopping machine ${id}, since its QEMU is in the state ${status}`);
      void qemu.kill();
    });
    void qemu.ended.then(() => {
      if (this.#processes.get(id) === qemu) this.#processes.delete(id);
    });
  }

  /** Adds a process whose guest is not running yet, until disposed. */
  waking(qemu: QemuProcess): Disposable {
    this.#waking.add(qemu);
    return { [Symbol.dispose]: () => void this.#waking.delete(qemu) };
  }

  async end(id: string): Promise<void> {
    const qemu = this.#processes.get(id);
    if (qemu) await qemu.kill();
    else await killByMonitor(this.#layout.machine(id).qmp);
    this.#processes.delete(id);
  }

  /**
   * Finds the machine's process among `processes`, and its QEMU status. Does not add it. A process that does not
   * respond is killed.
   */
  async find(
    id: string,
    processes: ReadonlyMap<string, number>,
  ): Promise<{ qemu: QemuProcess | null; status: string | undefined }> {
    try {
      const qemu = await QemuProcess.find(this.#layout.machine(id), processes);
      return { qemu, status: await qemu?.status() };
    } catch (error) {
      this.#log(`stopped a machine that did not respond: ${id}: ${(error as Error).message}`);
      await killByMonitor(this.#layout.machine(id).qmp);
      return { qemu: null, status: undefined };
    }
  }

  /** Retries a guest that QEMU stopped at a write until the host's disk has space. Never rejects. */
  async outlastFullDisk(id: string, qemu: QemuProcess): Promise<void> {
    if (this.#standing.has(qemu)) return;
    this.#standing.add(qemu);
    this.#log(`the host's disk is full; machine ${id} is paused until there is space`);
    try {
      await qemu.outlastFullDisk();
      this.#log(`machine ${id} continues`);
    } catch (error) {
      if (!this.#closing) this.#log(`machine ${id} is no longer paused: ${(error as Error).message}`);
    } finally {
      this.#standing.delete(qemu);
    }
  }

  beginClosing(): void {
    this.#closing = true;
  }

  /** Releases the processes. They keep running. */
  close(): void {
    for (const { qmp } of [...this.#processes.values(), ...this.#waking]) qmp[Symbol.dispose]();
  }
}
