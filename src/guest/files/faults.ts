import type { GuestRefusalCode } from "../../contract/guest.ts";

/** An error of a file call, in a worker and on its way out of it. */
export class FileFault extends Error {
  readonly code: GuestRefusalCode;

  constructor(code: GuestRefusalCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Name prefix of unfinished files and folders, which are next to their targets. */
export const unfinishedPrefix = ".berth-upload-";

const faults: Readonly<Record<string, [GuestRefusalCode, string]>> = {
  ENOENT: ["file_not_found", "There is no such file or folder"],
  EEXIST: ["file_exists", "Something is there already"],
  ENOTDIR: ["not_a_folder", "A part of the path is not a folder"],
  EISDIR: ["is_a_folder", "This is a folder"],
  ENOTEMPTY: ["folder_not_empty", "The folder is not empty"],
  ELOOP: ["link_loop", "Links lead around in a circle"],
  EACCES: ["permission_denied", "The user may not do this in the machine"],
  EPERM: ["permission_denied", "The user may not do this in the machine"],
  EROFS: ["permission_denied", "This is on a file system that cannot be written"],
  EBUSY: ["permission_denied", "The machine itself uses this"],
  ENXIO: ["file_not_regular", "This is not a regular file"],
  ENODEV: ["file_not_regular", "This is not a regular file"],
  ENAMETOOLONG: ["file_name_too_long", "A name has up to 255 bytes, and a path up to 4,095"],
  ENOSPC: ["machine_disk_full", "The machine's disk is full"],
  EDQUOT: ["machine_disk_full", "The machine's disk is full"],
  EFBIG: ["machine_disk_full", "The machine's file system takes no file of this size"],
  EINVAL: ["file_exists", "This cannot be done with itself or with what is in it"],
};

/**
 * A system call's error for the caller, with its entry; `asked` is the request's path. Other errors are returned
 * unchanged.
 */
export function faultOf(error: unknown, asked: string): Error {
  const { code = "", path } = error as NodeJS.ErrnoException;
  const known = faults[code];
  if (error instanceof FileFault || !known) return error as Error;
  // The caller knows nothing of unfinished files and descriptors.
  const isOwn = path === undefined || path.includes(unfinishedPrefix) || path.startsWith("/proc/");
  return new FileFault(known[0], `${known[1]}: ${shortened(isOwn ? asked : path)}`);
}

const shown = 300;

export function shortened(path: string): string {
  return path.length <= shown ? path : `${path.slice(0, shown).toWellFormed()}…`;
}
