import { mkdir, readlink, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type TurnChanges as Changes, type FileChange, maximumChangedFiles } from "../../contract/changes.ts";
import type { RuntimeContext } from "../../runtimes/runtime.ts";
import { type Content, Copies, maximumCopyBytes, unknownContent } from "./copies.ts";
import { diffsOf, type Versions } from "./diffs.ts";
import { filesOf, type HomeFiles, hashOf, isLink, notIgnored, sizeIn, withoutTaggedCaches } from "./home-files.ts";

/** How long a look at the home may take. After that, the turn's changes are unknown. */
const maximumLookMs = 15_000;
/** How long the files that a turn changed are read. Later ones have no hash. */
const maximumReadMs = 5_000;
/** How long a turn's first model call waits for the copies of files that changed since the turn before. */
const copyingMs = 1_000;
/** The paths of a turn's changes together, in characters of JSON. */
const maximumNames = 512 * 1024;
/** The turns whose diffs the server may still ask for. */
const maximumKept = 2;

/** Keys, whose content is not kept. */
const privateFolders = [".ssh/", ".gnupg/"];

interface KnownFile {
  /** See `HomeFiles`. */
  stamp: string;
  /** Null: not read yet. */
  content: Content | null;
}

/** Finds the files of the home that a turn creates, changes and deletes. One turn runs at a time. */
export class TurnChanges {
  readonly #home: string;
  readonly #folder: string;
  readonly #repository: string;
  readonly #copies: Copies;
  readonly #log: (line: string) => void;
  /** The home when it was last looked at; null: it is to be read without comparing. */
  #known: Map<string, KnownFile> | null = null;
  #before: Promise<void> = Promise.resolve();
  /** Ends the copying of files. */
  #copying = new AbortController();
  #copied: Promise<void> = Promise.resolve();
  readonly #diffs = new Map<string, (string | null)[]>();

  constructor({ home, stateFolder, log }: Pick<RuntimeContext, "home" | "stateFolder" | "log">) {
    this.#home = home;
    this.#folder = join(stateFolder, "changes");
    this.#repository = join(this.#folder, "ignored.git");
    this.#copies = new Copies(join(this.#folder, "copies"));
    this.#log = log;
  }

  /**
   * Looks at the home before a turn. Resolves when its files are known and copied, or after a limit; never rejects. The
   * first time, and after a turn that had none, all files are copied.
   */
  begin(): Promise<void> {
    this.#before = this.#begin().catch((error: Error) => this.#forget(error));
    return this.#before;
  }

  async #begin(): Promise<void> {
    if (!this.#known) await this.#prepare();
    const files = await this.#look();
    this.#known = updated(this.#known ?? new Map(), files);
    await Promise.race([this.#copy(this.#known), sleep(copyingMs, undefined, { ref: false })]);
  }

  /** Copies the files that have not been read yet, instead of what was copied so far. */
  async #copy(known: ReadonlyMap<string, KnownFile>): Promise<void> {
    this.#copying.abort();
    this.#copying = new AbortController();
    const { signal } = this.#copying;
    this.#copied = this.#copyAll(known, signal).catch((error: Error) => {
      if (!signal.aborted) this.#log(`files are not copied before a turn: ${error.message}`);
    });
    await this.#copied;
  }

  /** Ends the copying of files. Resolves when none is being copied. */
  async stop(): Promise<void> {
    this.#copying.abort();
    await this.#copied;
  }

  async #copyAll(known: ReadonlyMap<string, KnownFile>, over: AbortSignal): Promise<void> {
    const unread = [...known].filter(([path, file]) => !file.content && isCopied(path, file)).map(([path]) => path);
    if (unread.length === 0) return;
    await this.#copies.measure();
    const shown = new Set(await this.#notIgnored(unread, known, over));
    for (const path of unread) {
      if (over.aborted) return;
      const file = known.get(path)!;
      file.content = shown.has(path) ? await this.#copies.add(this.#pathOf(path), file.stamp, true) : unknownContent;
    }
  }

  /** The changes since `begin`; null if they are unknown. Never rejects. */
  async end(turnId: string): Promise<Changes | null> {
    await this.#before;
    this.#copying.abort();
    if (!this.#known) return null;
    try {
      return await this.#end(turnId, this.#known);
    } catch (error) {
      this.#forget(error as Error);
      return null;
    }
  }

  async #end(turnId: string, before: ReadonlyMap<string, KnownFile>): Promise<Changes> {
    const signal = AbortSignal.timeout(maximumLookMs);
    const files = await this.#look();
    const after = updated(before, files);
    const touched = [...after].filter(([path, file]) => before.get(path) !== file).map(([path]) => path);
    const gone = [...before.keys()].filter((path) => !after.has(path));
    const shown = (await this.#notIgnored([...touched, ...gone], after, signal)).toSorted();
    await this.#read(shown, after);
    const changed = shown.filter((path) => !isSame(before.get(path), after.get(path)));
    const { listed, summary } = summaryOf(changed, before, after);
    const versions = listed.map((path) => versionsOf(before.get(path), after.get(path)));
    const diffs = await diffsOf(versions, this.#copies, this.#folder, signal).catch(() => listed.map(() => null));
    this.#keep(turnId, diffs);
    this.#known = after;
    await this.#copies.keepOnly(new Set([...after.values()].flatMap(({ content }) => content?.hash ?? [])));
    void this.#copy(after);
    return summary;
  }

  /** Reads the files that are listed, as far as the time allows. The next turn reads the others. */
  async #read(paths: readonly string[], files: ReadonlyMap<string, KnownFile>): Promise<void> {
    if (paths.length === 0) return;
    const begun = performance.now();
    await this.#copies.measure();
    for (const path of paths.slice(0, maximumChangedFiles)) {
      if (performance.now() - begun > maximumReadMs) return;
      const file = files.get(path);
      if (file) file.content = await this.#contentOf(path, file);
    }
  }

  /** For each file that the turn's changes list, its diff; null: unknown. */
  diffsOf(turnId: string): (string | null)[] | null {
    return this.#diffs.get(turnId) ?? null;
  }

  #keep(turnId: string, diffs: (string | null)[]): void {
    this.#diffs.set(turnId, diffs);
    for (const old of [...this.#diffs.keys()].slice(0, -maximumKept)) this.#diffs.delete(old);
  }

  #forget(error: Error): void {
    this.#known = null;
    this.#log(`the changes of a turn are unknown: ${error.message}`);
  }

  /** Removes the copies of an earlier runner, which are not known. */
  async #prepare(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
    for (const folder of ["objects", "refs"]) await mkdir(join(this.#repository, folder), { recursive: true });
    await writeFile(join(this.#repository, "HEAD"), "ref: refs/heads/main\n");
    await this.#copies.clear();
  }

  async #look(): Promise<HomeFiles> {
    return withoutTaggedCaches(await filesOf(this.#home, AbortSignal.timeout(maximumLookMs)));
  }

  async #notIgnored(paths: string[], files: ReadonlyMap<string, unknown>, signal: AbortSignal): Promise<string[]> {
    if (paths.length === 0) return paths;
    const isIgnoring = [...files.keys()].some((path) => path === ".gitignore" || path.endsWith("/.gitignore"));
    return isIgnoring ? notIgnored(paths, this.#home, this.#repository, signal) : paths;
  }

  async #contentOf(path: string, file: KnownFile): Promise<Content> {
    const place = this.#pathOf(path);
    if (isLink(file.stamp)) {
      const target = await readlink(place, { encoding: "buffer" }).catch(() => null);
      return { hash: target && hashOf(target), isKept: false };
    }
    return this.#copies.add(place, file.stamp, !isPrivate(path));
  }

  #pathOf(path: string): Buffer {
    return Buffer.concat([Buffer.from(`${this.#home}/`), Buffer.from(path, "latin1")]);
  }
}

/** The files as they are now. Those that are unchanged keep their content, and are the same objects. */
function updated(before: ReadonlyMap<string, KnownFile>, files: HomeFiles): Map<string, KnownFile> {
  const known = new Map<string, KnownFile>();
  for (const [path, stamp] of files) {
    const last = before.get(path);
    known.set(path, last?.stamp === stamp ? last : { stamp, content: null });
  }
  return known;
}

function isPrivate(path: string): boolean {
  return privateFolders.some((folder) => path.startsWith(folder));
}

/** Whether a file is copied before a turn. */
function isCopied(path: string, { stamp }: KnownFile): boolean {
  return sizeIn(stamp) <= maximumCopyBytes && !isLink(stamp) && !isPrivate(path);
}

/** Whether a file that was written to has the content that it had. */
function isSame(before: KnownFile | undefined, after: KnownFile | undefined): boolean {
  const hash = before?.content?.hash ?? null;
  return hash !== null && hash === after?.content?.hash;
}

/** The copies to compare; null if one is missing. */
function versionsOf(before: KnownFile | undefined, after: KnownFile | undefined): Versions | null {
  if ((before && !before.content?.isKept) || (after && !after.content?.isKept)) return null;
  return { before: before?.content?.hash ?? null, after: after?.content?.hash ?? null };
}

/** The changes, and the paths of the listed files in the same order. */
function summaryOf(
  changed: readonly string[],
  before: ReadonlyMap<string, KnownFile>,
  after: ReadonlyMap<string, KnownFile>,
): { listed: string[]; summary: Changes } {
  const summary: Changes = { created: 0, changed: 0, deleted: 0, files: [], cut: false, writers: "all" };
  const listed: string[] = [];
  let names = 0;
  for (const path of changed) {
    const now = after.get(path);
    const change: FileChange["change"] = !now ? "deleted" : before.has(path) ? "changed" : "created";
    summary[change] += 1;
    const name = Buffer.from(path, "latin1").toString("utf8");
    names += JSON.stringify(name).length;
    if (listed.length === maximumChangedFiles || names > maximumNames) {
      summary.cut = true;
      continue;
    }
    listed.push(path);
    summary.files.push({ name, change, size: now ? sizeIn(now.stamp) : null, hash: now?.content?.hash ?? null });
  }
  return { listed, summary };
}
