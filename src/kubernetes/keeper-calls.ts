import type { InstallStepName } from "../contract/agents.ts";
import type { ErrorCode } from "../contract/errors.ts";
import type { Driver } from "../machines/driver.ts";
import { driverCalls } from "../machines/driver-calls.ts";

export interface KeeperDriver extends Driver {
  templateKind(runtime: string): Promise<string>;
}

/** A server's calls of the keeper in a machine's pod: the calls of a driver that has this one machine. */
export type KeeperCall =
  | "templateKind"
  | {
      [Call in keyof typeof driverCalls]: (typeof driverCalls)[Call]["inPod"] extends true ? Call : never;
    }[keyof typeof driverCalls];

export function isKeeperCall(name: string): name is KeeperCall {
  return (
    name === "templateKind" || (Object.hasOwn(driverCalls, name) && driverCalls[name as keyof typeof driverCalls].inPod)
  );
}

/** The parameters that are sent, without callbacks and abort signals. */
export type Sent<Call extends KeeperCall> = Call extends "create"
  ? [Parameters<Driver["create"]>[0]]
  : Call extends "suspend" | "packDisk"
    ? [string]
    : Parameters<KeeperDriver[Call]>;

export type Outcome<Call extends KeeperCall> = Awaited<ReturnType<KeeperDriver[Call]>>;

/**
 * A line of a response. Steps arrive while the call runs, with empty lines in between; the last line has the result or
 * the error.
 */
export type KeeperLine =
  | { plan: readonly InstallStepName[] }
  | { begin: InstallStepName }
  | { result: unknown }
  | { error: { code: ErrorCode; message: string } };

/**
 * Files that a keeper sends: a snapshot, by its id, with all files that it is based on; a template, by its name; or a
 * snapshot's packed disk. A disk is sent once, and received by no keeper.
 */
export interface Passed {
  kind: "snapshots" | "templates" | "disks";
  name: string;
}

const filesPath = /^\/files\/(snapshots|templates|disks)\/(?!\.)([\w.-]{1,100})$/;

export function packedFile(snapshot: string): string {
  return `disks/${snapshot}/disk.qcow2`;
}

/** `GET` reads the files as a tar archive, `POST` sends them as one. */
export function pathOf({ kind, name }: Passed): string {
  return `/files/${kind}/${name}`;
}

/** Null for any other path. */
export function passedAt(path = ""): Passed | null {
  const [, kind, name] = filesPath.exec(path) ?? [];
  return name === undefined ? null : { kind: kind as Passed["kind"], name };
}

/** The keeper's port in its pod. */
export const keeperPort = 7070;
/** The term of the server that calls. Keepers refuse a deposed server. */
export const epochHeader = "berth-epoch";
/** Where a server waits for the model calls of a template that is being made. */
export const uplinkPath = "/uplink";
/** Protocol name of a connection that is upgraded to one to the guest. */
export const guestProtocol = "berth-guest";
/** The longest silence in a response. */
export const pulseMs = 5_000;
