import type { InstallStepName } from "../contract/agents.ts";
import type { ErrorCode } from "../contract/errors.ts";
import type { Driver } from "../machines/driver.ts";
import { driverCalls } from "../machines/driver-calls.ts";

/** A keeper's driver: one machine. */
export interface KeeperDriver extends Driver {
  /** Of what kind a runtime's templates are that fit this node: 16 hexadecimal digits. */
  templateKind(runtime: string): Promise<string>;
}

/** A server's calls of the keeper in a machine's pod: the calls of a driver that has this one machine. */
export type KeeperCall =
  | "templateKind"
  | {
      [Call in keyof typeof driverCalls]: (typeof driverCalls)[Call]["inPod"] extends true ? Call : never;
    }[keyof typeof driverCalls];

/** Whether a call of this name is the keeper's. */
export function isKeeperCall(name: string): name is KeeperCall {
  return (
    name === "templateKind" || (Object.hasOwn(driverCalls, name) && driverCalls[name as keyof typeof driverCalls].inPod)
  );
}

/** The parameters that are sent: all but what reports and what aborts. */
export type Sent<Call extends KeeperCall> = Call extends "create"
  ? [Parameters<Driver["create"]>[0]]
  : Call extends "suspend" | "packDisk"
    ? [string]
    : Parameters<KeeperDriver[Call]>;

/** A call's result. */
export type Outcome<Call extends KeeperCall> = Awaited<ReturnType<KeeperDriver[Call]>>;

/**
 * A line of a response. Steps arrive while the call runs, and empty lines otherwise; the last line has the result or
 * the error.
 */
export type KeeperLine =
  | { plan: readonly InstallStepName[] }
  | { begin: InstallStepName }
  | { result: unknown }
  | { error: { code: ErrorCode; message: string } };

/**
 * The files that a keeper sends: a snapshot, by its id, with all files that it is based on; a template, by its name; or
 * a snapshot's packed disk. A disk is sent once, and received by no keeper.
 */
export interface Passed {
  kind: "snapshots" | "templates" | "disks";
  name: string;
}

const filesPath = /^\/files\/(snapshots|templates|disks)\/(?!\.)([\w.-]{1,100})$/;

/** The path of a packed disk in its archive. */
export function packedFile(snapshot: string): string {
  return `disks/${snapshot}/disk.qcow2`;
}

/** `GET` reads it as a tar archive, `POST` brings it as one. */
export function pathOf({ kind, name }: Passed): string {
  return `/files/${kind}/${name}`;
}

/** The files that a path requests; null for another path. */
export function passedAt(path = ""): Passed | null {
  const [, kind, name] = filesPath.exec(path) ?? [];
  return name === undefined ? null : { kind: kind as Passed["kind"], name };
}

/** Where the keeper listens in its pod. */
export const keeperPort = 7070;
/** Says the term of the server that asks: one that was deposed is refused. */
export const epochHeader = "berth-epoch";
/** Where a server waits to answer the model calls of a template that is made. */
export const uplinkPath = "/uplink";
/** The protocol of a connection that becomes one to the guest. */
export const guestProtocol = "berth-guest";
/** The longest silence in an answer. */
export const pulseMs = 5_000;
