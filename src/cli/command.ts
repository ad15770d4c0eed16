import type { Agent } from "@berth/client";
import { Command } from "commander";
import { type Installing, type InstallOptions, runInstallation } from "./installation.ts";
import { jsonOption, yesOption } from "./options.ts";
import { requireConsent } from "./prompt.ts";
import { copyBody } from "./streams.ts";
import { type Columns, tableText } from "./table.ts";
import { writeJson } from "./terminal.ts";
import { note } from "./verbosity.ts";

/** A list, and how a terminal shows it. */
interface Listing<Args extends unknown[], Row> {
  list: (...args: Args) => Promise<Row[] | { data: Row[]; nextCursor?: string | null }>;
  columns: Columns<NoInfer<Row>> | ((rows: readonly NoInfer<Row>[], ...args: Args) => Columns<NoInfer<Row>>);
  /** The note in place of an empty table. */
  empty?: string | ((...args: Args) => string);
  /** The items come newest first, and a terminal shows them newest last. */
  newestFirst?: boolean;
  /** The note where `--limit` leaves out older items. */
  older?: string;
  /** The list as CSV, for a command with `--csv`. */
  csv?: (...args: Args) => Promise<Response>;
}

/**
 * A command of the tool: commander's, with the few ways in which our commands run. The functions that these methods take
 * get the command's arguments, then its options. Each method adds the option that it reads, and is called last.
 */
export class ToolCommand extends Command {
  #question: (args: unknown[]) => string | null = () => null;
  #otherwise = "";

  override createCommand(name?: string): ToolCommand {
    return new ToolCommand(name);
  }

  /** Adds a command, such as `remove <agent> <snapshot>`. `about` describes all of its arguments but an agent's name. */
  add(usage: string, description: string, about: Readonly<Record<string, string>> = {}): ToolCommand {
    const [verb = "", ...words] = usage.split(" ");
    const command = this.command(verb).description(description);
    for (const word of words) command.argument(word, about[word.replaceAll(/\W/g, "")] ?? "the agent's name");
    return command;
  }

  /** Adds text below the options in the help. */
  after(text: string): this {
    return this.addHelpText("after", `\n${text}`);
  }

  /**
   * Adds `--yes`. Without it, the command asks for confirmation before it runs, and fails with `otherwise`. It does not
   * ask where `question` returns null.
   */
  confirms<Args extends unknown[]>(question: (...args: Args) => string | null, otherwise: string): this {
    this.#question = (args) => question(...(args as Args));
    this.#otherwise = otherwise;
    return this.addOption(yesOption());
  }

  /**
   * Adds `--json`. The command prints the result of `run` as JSON, or else the text that `show` returns; `show` may
   * also print.
   */
  prints<Args extends unknown[], Result>(
    run: (...args: Args) => Promise<Result> | Result,
    show: (result: NoInfer<Result>, ...args: Args) => unknown,
  ): this {
    return this.runs<Args>(async (...args) => {
      const result = await run(...args);
      if (this.opts().json) return writeJson(process.stdout, result ?? null);
      const text = await show(result, ...args);
      if (typeof text === "string") console.log(text);
    });
  }

  /** Adds `--json`. The command prints a list, as JSON, as a table or, with `--csv`, as CSV. */
  lists<Args extends unknown[], Row>(listing: Listing<Args, Row>): this {
    const { list, columns, empty, newestFirst, older, csv } = listing;
    return this.runs<Args>(async (...args) => {
      if (csv && this.opts().csv) return copyBody(await csv(...args));
      const answer = await list(...args);
      if (this.opts().json) return writeJson(process.stdout, answer);
      const { data, nextCursor = null } = Array.isArray(answer) ? { data: answer } : answer;
      if (data.length === 0 && empty !== undefined) return note(typeof empty === "string" ? empty : empty(...args));
      if (nextCursor !== null && older !== undefined) note(older);
      const rows = newestFirst ? data.toReversed() : data;
      console.log(tableText(typeof columns === "function" ? columns(rows, ...args) : columns, rows));
    });
  }

  /** Adds `--json`. The command prints each event as JSON, or else as `show` prints it. */
  streams<Args extends unknown[], Event>(
    run: (...args: Args) => AsyncIterable<Event>,
    show: (event: NoInfer<Event>) => unknown,
  ): this {
    return this.runs<Args>(async (...args) => {
      for await (const event of run(...args)) {
        if (this.opts().json) writeJson(process.stdout, event);
        else await show(event);
      }
    });
  }

  /** Adds `--json`. The service installs an agent after `begin`, and the command shows the progress. */
  installs<Args extends unknown[]>(doing: Installing, begin: (...args: Args) => Promise<Agent>): this {
    return this.runs<Args>((...args) => runInstallation(doing, () => begin(...args), this.opts<InstallOptions>()));
  }

  /** Adds `--json`, which `run` reads. */
  runs<Args extends unknown[]>(run: (...args: Args) => Promise<void>): this {
    // A command may have added it before its other options.
    if (!this.options.some(({ long }) => long === "--json")) this.addOption(jsonOption());
    return this.action(async (...given: unknown[]) => {
      const args = given.slice(0, -1); // The last is this command.
      const question = this.#question(args);
      if (question !== null && !this.opts().yes) await requireConsent(question, this.#otherwise);
      await run(...(args as Args));
    });
  }
}
