import type { SearchMatch } from "@berth/client";
import type { ToolCommand } from "../command.ts";
import { connect } from "../connect.ts";
import { limitOption } from "../options.ts";
import { type Output, printable, styled } from "../terminal.ts";
import { localTime } from "../time.ts";
import { note } from "../verbosity.ts";

interface SearchOptions {
  agent?: string;
  limit: number;
}

export function register(program: ToolCommand): void {
  program
    .add("search <words...>", "search messages and replies of all agents, newest last", {
      words: 'texts that have all of them are found; a "quoted phrase" in its order',
    })
    .option("--agent <name>", "only texts of this agent")
    .addOption(limitOption(20))
    .after(
      "A word of three or more letters also finds longer words that begin with it.\nberth turns show AGENT TURN prints a turn that was found.",
    )
    .prints(
      (words: string[], { agent, limit }: SearchOptions) =>
        connect()
          .search({ q: words.join(" "), agent })
          .take(limit),
      ({ data, nextCursor }) => {
        if (data.length === 0) return note("No message or reply matches.");
        if (nextCursor !== null) note("There are older matches: --limit shows more.");
        return data.toReversed().map(matchText).join("\n\n");
      },
    );
}

function matchText({ agent, conversation, turnId, kind, createdAt, excerpt, matches }: SearchMatch): string {
  const output = process.stdout;
  const title = conversation.title === null ? "" : ` ${conversation.title}`;
  const place = `${agent}, conversation ${conversation.id}${title}`;
  return [
    `${localTime(createdAt)}  ${styled(output, "bold", printable(place))}`,
    styled(output, "dim", `${kind} of turn ${turnId}`),
    `  ${marked(excerpt, matches, output)}`,
  ].join("\n");
}

/** The excerpt with its matches in bold. */
function marked(excerpt: string, matches: SearchMatch["matches"], output: Output): string {
  let text = "";
  let at = 0;
  for (const { start, end } of matches) {
    text += printable(excerpt.slice(at, start)) + styled(output, "bold", printable(excerpt.slice(start, end)));
    at = end;
  }
  return text + printable(excerpt.slice(at));
}
