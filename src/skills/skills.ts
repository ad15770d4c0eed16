import type { ServerHttp2Stream } from "node:http2";
import type { AppContext } from "../context.ts";
import { BerthError } from "../contract/errors.ts";
import { PinnedSkill, type SetSkill, type Skill, type SkillContent } from "../contract/skills.ts";
import type { Viewer } from "../core/http/access.ts";
import type { Caller } from "../core/http/caller.ts";
import { filesIn } from "./archive.ts";
import { filesAt } from "./git/source.ts";
import { type CheckedSkill, checkedSkill, filesOf, type SkillState, toSkillView } from "./skill.ts";
import { noSkill } from "./store.ts";

/** The most repositories that are read at once: each may need some 200 MiB of memory. */
const maximumFetches = 3;

/** The fields of an upload, without the content. */
interface Asked extends Pick<SetSkill, "agents"> {
  /** The hash that the content must have; undefined: any. */
  hash?: string | undefined;
}

/** Skills of workspaces: folders of instructions and programs that their agents have in their machines. */
export class Skills {
  readonly #context: AppContext;
  /** The workspaces for which a repository is being read. */
  readonly #fetching = new Set<string>();

  constructor(context: AppContext) {
    this.#context = context;
  }

  /** By name. */
  list(viewer: Viewer): Promise<SkillState[]> {
    return this.#context.stores.skills.list(viewer);
  }

  /** Throws `skill_not_found`. */
  async find(viewer: Viewer, name: string): Promise<Skill> {
    const { skills } = this.#context.stores;
    const [skill] = await skills.list(viewer, name);
    const content = skill && (await skills.content(viewer.accountId, name));
    if (!skill || !content) throw noSkill(name);
    return toSkillView(skill, content);
  }

  /**
   * Changes the agents that have it and, with `git`, creates it or replaces its content. `made`: it is new. Throws `skill_not_found`,
   * `request_invalid`, `git_failed`, `too_many_requests`, and the errors of `receive`.
   */
  async set(caller: Caller, name: string, asked: SetSkill): Promise<{ skill: Skill; made: boolean }> {
    const skill = asked.git ? await this.#fetch(caller.accountId, name, asked.git, asked.hash) : null;
    const { agents } = asked;
    const made = await this.#context.stores.skills.set(caller, name, { skill, agents }, caller);
    return { skill: await this.find(caller, name), made };
  }

  /**
   * Creates a skill from an archive, or replaces its content. `made`: it is new. Throws `skill_invalid`, `skill_changed`,
   * `request_invalid`, `too_many_skills`, `skills_full`.
   */
  async receive(
    caller: Caller,
    name: string,
    archive: Buffer,
    { agents, hash }: Asked,
  ): Promise<{ skill: Skill; made: boolean }> {
    const skill = checkedSkill(await filesIn(archive), { name, hash, source: { type: "archive" } });
    const made = await this.#context.stores.skills.set(caller, name, { skill, agents }, caller);
    return { skill: await this.find(caller, name), made };
  }

  /** Sends the files of a skill to the machine of an agent that has it. `path`: NAME/HASH. */
  async serve(agentId: string, stream: ServerHttp2Stream, path: string): Promise<void> {
    const [name, hash] = path.split("/");
    const asked = PinnedSkill.safeParse({ name, hash });
    const found = asked.success ? await this.#context.stores.skills.forAgent(agentId, asked.data) : null;
    if (stream.destroyed) return;
    if (!found) {
      stream.respond({ ":status": 404 });
      return void stream.end();
    }
    const files = filesOf(found).map(({ bytes, ...file }) => ({ ...file, data: bytes.toString("base64") }));
    stream.respond({ ":status": 200, "content-type": "application/json" });
    stream.end(JSON.stringify({ files } satisfies SkillContent));
  }

  async #fetch(
    accountId: string,
    name: string,
    git: NonNullable<SetSkill["git"]>,
    hash: string | undefined,
  ): Promise<CheckedSkill> {
    const { skillOutbound } = this.#context;
    await skillOutbound.requireAllowed(git.url, "git.url");
    if (new URL(git.url).search !== "") throw new BerthError("request_invalid", "git.url: an address has no query.");
    if (this.#fetching.size >= maximumFetches || this.#fetching.has(accountId))
      throw new BerthError(
        "too_many_requests",
        "Another skill is being read from git. Try again when it has been added.",
      );
    this.#fetching.add(accountId);
    try {
      const { commit, files } = await filesAt(git, skillOutbound.connect);
      return checkedSkill(files, { name, hash, source: { type: "git", ...git, commit } });
    } finally {
      this.#fetching.delete(accountId);
    }
  }

  /** Throws `skill_not_found`. */
  async remove(accountId: string, name: string): Promise<void> {
    if (!(await this.#context.stores.skills.remove(accountId, name))) throw noSkill(name);
  }
}
