import { chmod, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { skillsPath } from "../contract/guest.ts";
import { type PinnedSkill, SkillContent } from "../contract/skills.ts";
import { parseValue } from "../contract/validation.ts";
import { replaceFile } from "../runtimes/process.ts";
import { type RuntimeContext, skillsFolder } from "../runtimes/runtime.ts";
import { removeTree } from "./files/removal.ts";

const fetchMs = 60_000;

/**
 * The skills of the agent's workspace, on the machine's disk. They belong to root, so that programs of the agent's user
 * do not change them, and are outside of its home.
 */
export class RuntimeSkills {
  readonly #context: RuntimeContext;
  readonly #folder: string;
  /** The hashes of the skills that are there, by name. */
  readonly #record: string;

  constructor(context: RuntimeContext) {
    this.#context = context;
    this.#folder = skillsFolder(context);
    this.#record = join(context.stateFolder, "skills", "installed.json");
  }

  /** Runtimes look for the folder when they start, and some watch it. */
  async prepare(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o755 });
  }

  /**
   * Installs a turn's skills, and removes all others. True if something has changed: a runtime reads them when it starts.
   * A skill that cannot be had is left out and logged, and tried again with the next turn. Without `wanted`, as from a server
   * of an earlier version, nothing changes.
   */
  async change(wanted: readonly PinnedSkill[] | undefined): Promise<boolean> {
    if (!wanted) return false;
    const installed = await this.#installed();
    const missing = wanted.filter(({ name, hash }) => installed.get(name) !== hash);
    const removed = [...installed.keys()].filter((name) => !wanted.some((skill) => skill.name === name));
    let hasChanged = false;
    for (const name of removed) {
      await this.#note(installed, name, null);
      await removeTree(join(this.#folder, name));
      hasChanged = true;
    }
    for (const skill of missing) if (await this.#install(installed, skill)) hasChanged = true;
    return hasChanged;
  }

  async #install(installed: Map<string, string>, skill: PinnedSkill): Promise<boolean> {
    const { name, hash } = skill;
    const fresh = join(this.#context.stateFolder, "skills", `new-${name}`);
    try {
      const content = await this.#content(skill);
      await removeTree(fresh);
      await write(fresh, content);
      // Without a record, a skill that is replaced only in part is replaced again.
      await this.#note(installed, name, null);
      await removeTree(join(this.#folder, name));
      await this.prepare();
      await rename(fresh, join(this.#folder, name));
      await this.#note(installed, name, hash);
      return true;
    } catch (error) {
      this.#context.log(`the skill ${name} is left out: ${(error as Error).message}`);
      await removeTree(fresh).catch(() => {});
      return false;
    }
  }

  async #content({ name, hash }: PinnedSkill): Promise<SkillContent> {
    const url = `${this.#context.gatewayUrl}${skillsPath}${name}/${hash}`;
    const answer = await fetch(url, { signal: AbortSignal.timeout(fetchMs) });
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    return parseValue(SkillContent, await answer.json());
  }

  async #installed(): Promise<Map<string, string>> {
    try {
      return new Map(Object.entries(JSON.parse(await readFile(this.#record, "utf8")) as Record<string, string>));
    } catch {
      return new Map(); // There are none, or the agent has changed the file.
    }
  }

  /** Null: it is not there, or not whole. */
  async #note(installed: Map<string, string>, name: string, hash: string | null): Promise<void> {
    if (hash === null) installed.delete(name);
    else installed.set(name, hash);
    await mkdir(dirname(this.#record), { recursive: true, mode: 0o755 });
    await replaceFile(this.#record, JSON.stringify(Object.fromEntries(installed)));
  }
}

/** The server has checked the paths, and the folder is new. */
async function write(folder: string, { files }: SkillContent): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o755 });
  for (const { path, executable, data } of files) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true, mode: 0o755 });
    await writeFile(file, Buffer.from(data, "base64"), { flag: "wx" });
    await chmod(file, executable ? 0o755 : 0o644);
  }
}
