import { firmwareTokenName, guestPort } from "../../contract/guest.ts";
import { processor } from "../../core/processor.ts";
import type { Counter } from "./counter.ts";

export type Accelerator = "kvm" | "tcg";

/** The guest's hardware. It is identical in all runs that share a template. */
export interface Hardware {
  accelerator: Accelerator;
  cpus: number;
  memoryMiB: number;
  counter: Counter;
}

/**
 * How a guest starts. `boot`: from the kernel. `state`: from the device state on descriptor 3, running at once.
 * `deferred`: empty; it waits for its memory, and for the monitor to name the state and start it.
 */
type Incoming = "boot" | "state" | "deferred";

export const stateDescriptor = 3;

/**
 * The disks below a machine's own, topmost first, and the lowest: the template's disk or image; null if the lowest
 * layer has no backing file.
 */
export interface DiskLayers {
  layers: readonly string[];
  base: { file: string; format: "qcow2" | "raw" } | null;
}

/** Paths are absolute. */
export interface Start {
  name: string;
  hardware: Hardware;
  kernel: string;
  initrd: string;
  disk: string;
  /** The read-only file system of the services image; null for a machine that was created without it. */
  services: string | null;
  /** The disk's backing files; none if its own header names them. */
  layers: DiskLayers | null;
  /** `shared`: writes go to the file. `private`: the file is mapped copy-on-write. `fresh`: no file. */
  memory: { kind: "shared" | "private"; file: string } | { kind: "fresh" };
  qmpSocket: string;
  /** The host port on 127.0.0.1 that forwards to the runner. */
  port: number;
  /** A file with the first channel token; given only to a booting guest. */
  tokenFile: string | null;
  incoming: Incoming;
}

/** QEMU options common to all machines. A template depends on them. */
export const machineOptions = `${processor.qemu.machine},memory-backend=ram,suppress-vmdesc=on`;

/**
 * The arguments for one QEMU. The guest gets only the devices it uses: its disk, the services image as a second,
 * read-only disk, one network card without a route (only the server can connect, inwards) and one serial port whose
 * output is kept in memory. The sandbox stops QEMU from starting programs, gaining privileges and changing its resource
 * limits.
 */
export function qemuArguments(start: Start): string[] {
  const { hardware } = start;
  return [
    "-name",
    start.name,
    "-nodefaults",
    "-no-user-config",
    "-display",
    "none",
    "-no-reboot",
    "-sandbox",
    "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny",
    "-machine",
    machineOptions,
    "-accel",
    acceleratorOption(hardware),
    "-cpu",
    processor.qemu.models[hardware.accelerator],
    "-smp",
    String(hardware.cpus),
    "-m",
    `${hardware.memoryMiB}M`,
    "-object",
    memoryOption(start),
    ...processor.qemu.globals.flatMap((option) => ["-global", option]),
    "-global",
    "migration.send-configuration=off",
    "-kernel",
    start.kernel,
    "-initrd",
    start.initrd,
    "-append",
    kernelCommandLine(hardware),
    ...layerOptions(start.layers),
    "-blockdev",
    diskOption(start.disk, start.layers),
    "-device",
    "virtio-blk-device,drive=disk",
    "-netdev",
    `user,id=net,restrict=on,ipv6=off,hostfwd=tcp:127.0.0.1:${start.port}-10.0.2.15:${guestPort}`,
    "-device",
    "virtio-net-device,netdev=net",
    // After the network card: saved machines without it have their other devices at the same places.
    ...servicesOptions(start.services),
    "-chardev",
    "ringbuf,id=console,size=65536",
    "-serial",
    "chardev:console",
    "-qmp",
    `unix:${start.qmpSocket},server=on,wait=off`,
    ...(start.tokenFile ? ["-fw_cfg", `name=${firmwareTokenName},file=${start.tokenFile}`] : []),
    ...incomingOptions(start.incoming),
  ];
}

function incomingOptions(incoming: Incoming): string[] {
  if (incoming === "boot") return [];
  return incoming === "state" ? ["-incoming", `fd:${stateDescriptor}`] : ["-incoming", "defer", "-S"];
}

function acceleratorOption({ accelerator, memoryMiB }: Hardware): string {
  return accelerator === "kvm" ? "kvm" : `tcg,thread=multi,tb-size=${translationCacheMiB(memoryMiB)}`;
}

/**
 * The maximum size of translated code under emulation, in addition to the guest's memory. When it is full, all code is
 * translated again: a new machine has 220 after three turns, and with 256 an agent's fourth turn or its first reset
 * took twice as long. Only the used part takes memory. A runtime that needs a larger machine has more code to
 * translate: OpenClaw starts twice as fast with 1,024.
 */
export function translationCacheMiB(memoryMiB: number): number {
  return memoryMiB > 2048 ? 1024 : 512;
}

function memoryOption({ hardware, memory }: Start): string {
  const size = `size=${hardware.memoryMiB}M`;
  if (memory.kind === "fresh") return `memory-backend-ram,id=ram,${size}`;
  return `memory-backend-file,id=ram,${size},mem-path=${escaped(memory.file)},share=${memory.kind === "shared" ? "on" : "off"}`;
}

export const diskNode = "disk";

function diskOption(file: string, below: DiskLayers | null): string {
  const backing = below ? ",backing=layer0" : "";
  return `driver=qcow2,node-name=${diskNode},discard=unmap,detect-zeroes=unmap${backing},file.driver=file,file.filename=${escaped(file)}`;
}

/** The disks below the machine's own, lowest first: each is named by the ones above. */
function layerOptions(below: DiskLayers | null): string[] {
  if (!below) return [];
  const { layers, base } = below;
  const node = (index: number) => `node-name=layer${index},read-only=on`;
  const file = (path: string) => `file.driver=file,file.filename=${escaped(path)}`;
  const backing = (index: number) => (base || index + 1 < layers.length ? `,backing=layer${index + 1}` : "");
  const upper = layers.map((path, index) => `driver=qcow2,${node(index)}${backing(index)},${file(path)}`);
  const lowest = base ? [`driver=${base.format},${node(layers.length)},${file(base.file)}`] : [];
  return [...lowest, ...upper.toReversed()].flatMap((option) => ["-blockdev", option]);
}

function servicesOptions(file: string | null): string[] {
  if (file === null) return [];
  const node = `driver=raw,node-name=services,read-only=on,file.driver=file,file.filename=${escaped(file)}`;
  return ["-blockdev", node, "-device", "virtio-blk-device,drive=services"];
}

/** QEMU splits its options at commas; a comma within a value is doubled. */
function escaped(value: string): string {
  return value.replaceAll(",", ",,");
}

function kernelCommandLine({ accelerator, counter: { khz, isSteady } }: Hardware): string {
  const clock = accelerator === "tcg" ? processor.emulatedClock(khz, isSteady) : [];
  return [processor.kernelOptions, ...clock].join(" ");
}
