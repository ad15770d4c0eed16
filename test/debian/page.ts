import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import type { DebianRoot } from "./debian-root.ts";

/** The command blocks of a page of the documentation, which a test runs as its reader does. */
export class Page {
  readonly #blocks: string[];
  readonly #run = new Set<string>();
  /** Replaced in the blocks, such as `VERSION`. */
  readonly values: Record<string, string> = {};

  private constructor(blocks: string[]) {
    this.#blocks = blocks;
  }

  /** `name`: a file in docs. */
  static async read(name: string): Promise<Page> {
    const text = await readFile(join(import.meta.dirname, "../../docs", name), "utf8");
    return new Page([...text.matchAll(/^```\n(.*?)^```$/gms)].map(([, block]) => block!));
  }

  /** The one block that is `text`, or else contains it, as commands. One that follows a log is ended after a while. */
  take(text: string): string {
    const same = this.#blocks.filter((block) => block === `${text}\n`);
    const found = same.length > 0 ? same : this.#blocks.filter((block) => block.includes(text));
    expect(found, text).toHaveLength(1);
    this.#run.add(found[0]!);
    const commands = found[0]!.replaceAll(/^sudo (.* --follow\b[^#\n]*).*$/gm, "sudo timeout 3 $1 || true");
    return Object.entries(this.values).reduce((all, [name, value]) => all.replaceAll(name, value), commands);
  }

  /** Runs the one block that contains `text` as the root's user. Returns all output; fails at the first error. */
  run(root: DebianRoot, text: string, folder?: string): Promise<string> {
    return root.runAsUser(this.take(text), folder);
  }

  /** The blocks that were not run. */
  get leftOut(): string[] {
    return this.#blocks.filter((block) => !this.#run.has(block));
  }
}
