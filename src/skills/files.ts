import { createHash } from "node:crypto";
import { BerthError } from "../contract/errors.ts";
import { maximumSkillBytes, maximumSkillFiles, maximumSkillPath } from "../contract/skills.ts";

/** A file of a skill. Its path is relative to the skill's folder. */
export interface SkillBytes {
  path: string;
  executable: boolean;
  bytes: Buffer;
}

/** The file that makes a folder a skill. */
export const instructionsFile = "SKILL.md";

const maximumDepth = 16;
/** The longest name of a file on Linux, in bytes. */
const maximumName = 255;
const megabyte = 1024 * 1024;

/** Left out: a repository's own files, and those that macOS adds. */
const ignored = /^(.*\/)?(\.git|__MACOSX)(\/|$)|(^|\/)(\.DS_Store|\._[^/]*)$/;

/** Collects the files of a source, whose sizes and paths may be anything. Throws `skill_invalid` at the first error. */
export class SkillFiles {
  readonly #files: SkillBytes[] = [];
  #bytes = 0;

  /** Whether a file of this path belongs to a skill. */
  isWanted(path: string): boolean {
    return !ignored.test(path);
  }

  /** Refuses a file, before its bytes are read, that would exceed the limits. */
  requireSpace(path: string, size: number): void {
    if (this.#files.length >= maximumSkillFiles) throw invalid(`a skill has up to ${maximumSkillFiles} files`);
    if (this.#bytes + size > maximumSkillBytes)
      throw invalid(`with ${shown(path)}, its files exceed the ${maximumSkillBytes / megabyte} MiB of a skill`);
  }

  add(file: SkillBytes): void {
    this.requireSpace(file.path, file.bytes.length);
    requirePath(file.path);
    this.#files.push(file);
    this.#bytes += file.bytes.length;
  }

  /** The files in the order of their paths, without a folder that is around all of them. */
  finish(): SkillBytes[] {
    const files = withoutOuterFolder(this.#files);
    requireDistinct(files.map(({ path }) => path));
    if (!files.some(({ path }) => path === instructionsFile))
      throw invalid(`it has no ${instructionsFile}, neither on top nor in a single folder`);
    return files.toSorted((one, other) => Buffer.compare(Buffer.from(one.path), Buffer.from(other.path)));
  }
}

/** The hash that pins a skill's content: see `Skill.hash` in the contract. `files` are in order. */
export function hashOf(files: readonly SkillBytes[]): string {
  const sum = createHash("sha256");
  for (const { path, executable, bytes } of files)
    sum.update(`${createHash("sha256").update(bytes).digest("hex")} ${executable ? "x" : "-"} ${path}\n`);
  return sum.digest("hex");
}

const scriptNames = /\.(sh|bash|py|js|mjs|cjs|ts|rb|pl|php|lua|ps1)$/i;

/** Whether the skill may run the file, as far as its path, its mode and its beginning say. */
export function isProgram({ path, executable, bytes }: SkillBytes): boolean {
  return executable || path.startsWith("scripts/") || scriptNames.test(path) || bytes.subarray(0, 2).equals(shebang);
}

const shebang = Buffer.from("#!");

/** An error of a skill's content. `why` continues "The skill is not valid: ". */
export function invalid(why: string): BerthError {
  return new BerthError("skill_invalid", `The skill is not valid: ${why}.`);
}

/** A path in an error, whatever it has. */
export function shown(path: string): string {
  return JSON.stringify(path.length > 100 ? `${path.slice(0, 100)}…` : path);
}

/** A path is written below the skill's folder, on any system. */
function requirePath(path: string): void {
  const parts = path.split("/");
  const isPlain = (part: string) =>
    part !== "" && part !== "." && part !== ".." && Buffer.byteLength(part) <= maximumName;
  // U+FFFD stands for bytes that are not UTF-8.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  if (/[\0-\x1f\x7f\\\ufffd]/.test(path) || !path.isWellFormed() || !parts.every(isPlain))
    throw invalid(`${shown(path)} is not a relative path of plain names in UTF-8`);
  if (Buffer.byteLength(path) > maximumSkillPath || parts.length > maximumDepth)
    throw invalid(`${shown(path)} is too long: a path has up to ${maximumSkillPath} bytes and ${maximumDepth} names`);
}

function withoutOuterFolder(files: readonly SkillBytes[]): SkillBytes[] {
  const slash = files[0]?.path.indexOf("/") ?? -1;
  const outer = files[0]?.path.slice(0, slash + 1) ?? "";
  if (slash < 0 || !files.every(({ path }) => path.startsWith(outer))) return [...files];
  return files.map((file) => ({ ...file, path: file.path.slice(outer.length) }));
}

/** Names that differ only by case would be one file where somebody unpacks the skill on another system. */
function requireDistinct(paths: readonly string[]): void {
  const seen = new Map<string, string>();
  for (const path of paths) {
    const key = path.normalize("NFC").toLowerCase();
    const other = seen.get(key);
    if (other !== undefined) throw invalid(`it has both ${shown(other)} and ${shown(path)}`);
    seen.set(key, path);
  }
  for (const [key, path] of seen) {
    for (let slash = key.indexOf("/"); slash >= 0; slash = key.indexOf("/", slash + 1)) {
      if (seen.has(key.slice(0, slash))) throw invalid(`${shown(path)} is below a file`);
    }
  }
}
