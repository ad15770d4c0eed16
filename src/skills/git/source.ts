import { Agent, type buildConnector } from "undici";
import { BerthError } from "../../contract/errors.ts";
import { maximumSkillFiles } from "../../contract/skills.ts";
import { invalid, type SkillBytes, SkillFiles, shown } from "../files.ts";
import type { GitObject } from "./pack.ts";
import { GitFailed, isId, Repository } from "./repository.ts";

/** A folder of a repository. */
export interface GitAddress {
  url: string;
  /** A branch, a tag or a commit; null: HEAD. */
  ref: string | null;
  /** The skill's folder; null: the root. */
  path: string | null;
}

const fetchMs = 60_000;
const maximumDepth = 20;
const maximumFolders = maximumSkillFiles;
const lfsPointer = "version https://git-lfs.github.com/spec/";

type Objects = Map<string, GitObject>;

/** A file of a commit. */
interface Blob {
  path: string;
  id: string;
  executable: boolean;
}

/**
 * The files of a folder at a commit, and the commit's id. `connect` opens connections. Throws `git_failed` and
 * `skill_invalid`.
 */
export async function filesAt(
  { url, ref, path }: GitAddress,
  connect: buildConnector.connector,
): Promise<{ commit: string; files: SkillBytes[] }> {
  const dispatcher = new Agent({ connect, headersTimeout: fetchMs, bodyTimeout: fetchMs });
  try {
    const repository = new Repository(url, dispatcher, AbortSignal.timeout(fetchMs));
    const { filters } = await repository.open();
    const commit = ref !== null && isId(ref) ? ref : await repository.resolve(ref);
    const objects = await repository.commit(commit, filters);
    const files = new SkillFiles();
    const walk = new Walk(objects, files);
    walk.enter(folderAt(objects, commit, path));
    const { blobs } = walk;
    const missing = [...new Set(blobs.map(({ id }) => id))].filter((id) => !objects.has(id));
    const fetched = missing.length > 0 ? await repository.objects(missing) : new Map<string, GitObject>();
    for (const { id, ...file } of blobs) {
      const blob = objects.get(id) ?? fetched.get(id);
      if (blob?.type !== "blob") throw new GitFailed(`its server did not send ${shown(file.path)}`);
      if (blob.bytes.subarray(0, lfsPointer.length).toString("latin1") === lfsPointer)
        throw invalid(`${shown(file.path)} is stored with Git LFS, which is not read`);
      files.add({ ...file, bytes: blob.bytes });
    }
    return { commit, files: files.finish() };
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error;
    throw new BerthError("git_failed", `The repository cannot be read: ${error.message}.`, { cause: error });
  } finally {
    await dispatcher.destroy();
  }
}

/** The tree of a folder of a commit. */
function folderAt(objects: Objects, commit: string, path: string | null): Buffer {
  const root = objects.get(commit);
  if (root?.type !== "commit") throw new GitFailed("its server did not send the commit");
  const [, id = ""] = /^tree ([0-9a-f]{40})$/m.exec(root.bytes.toString("latin1", 0, 46)) ?? [];
  let tree = treeOf(objects, id);
  for (const name of (path ?? "").split("/").filter((part) => part !== "" && part !== ".")) {
    const entry = entriesOf(tree).find((each) => each.name === name && each.mode === "40000");
    if (!entry) throw invalid(`the commit ${commit} has no folder ${shown(path!)}`);
    tree = treeOf(objects, entry.id);
  }
  return tree;
}

/** The files below a folder. The same folder may be in many others, so that a small pack has endless paths. */
class Walk {
  readonly blobs: Blob[] = [];
  readonly #objects: Objects;
  readonly #files: SkillFiles;
  #folders = 0;

  constructor(objects: Objects, files: SkillFiles) {
    this.#objects = objects;
    this.#files = files;
  }

  enter(tree: Buffer, prefix = ""): void {
    if (++this.#folders > maximumFolders || prefix.split("/").length > maximumDepth) throw tooMany();
    for (const { mode, name, id } of entriesOf(tree)) {
      const path = prefix + name;
      if (!this.#files.isWanted(path)) continue;
      if (mode === "40000") this.enter(treeOf(this.#objects, id), `${path}/`);
      else if (mode === "100644" || mode === "100755") this.blobs.push({ path, id, executable: mode === "100755" });
      else
        throw invalid(
          `${shown(path)} is ${mode === "160000" ? "a submodule" : "a link"}; a skill has plain files only`,
        );
      if (this.blobs.length > maximumSkillFiles) throw tooMany();
    }
  }
}

function tooMany(): BerthError {
  return invalid(`it has more than ${maximumSkillFiles} files or folders; set \`git.path\` to the folder of the skill`);
}

function treeOf(objects: Objects, id: string): Buffer {
  const tree = objects.get(id);
  if (tree?.type !== "tree") throw new GitFailed("its server did not send all folders");
  return tree.bytes;
}

/** The entries of a tree: a mode, a space, a name, a null character and 20 bytes of an id for each. */
function* treeEntries(tree: Buffer): Generator<{ mode: string; name: string; id: string }> {
  for (let at = 0; at < tree.length; ) {
    const space = tree.indexOf(0x20, at);
    const end = tree.indexOf(0, space);
    if (space < 0 || end < 0 || end + 21 > tree.length) throw new GitFailed("one of its folders is damaged");
    const mode = tree.toString("latin1", at, space);
    yield {
      // Old programs wrote files that their group may change.
      mode: mode === "100664" ? "100644" : mode,
      name: tree.toString("utf8", space + 1, end),
      id: tree.toString("hex", end + 1, end + 21),
    };
    at = end + 21;
  }
}

function entriesOf(tree: Buffer) {
  return [...treeEntries(tree)];
}
