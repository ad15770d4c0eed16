import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { portNumber } from "../port-option.ts";
import { writeJson } from "../terminal.ts";
import { futureTime, localTime } from "../time.ts";
import { note } from "../verbosity.ts";

interface ShareOptions extends CommonOptions {
  expires?: string;
}

/** `berth share AGENT PORT` */
export function register(program: Command): void {
  program
    .command("share")
    .description("make a public link to a page that an agent serves")
    .argument("<agent>", "the agent's name")
    .argument("<port>", "the port that its program listens on", portNumber)
    .option("--expires <time>", "when the link ends: 12h, 90d or a date; by default, when it is removed", futureTime)
    .addOption(jsonOption())
    .action(async (name: string, port: number, { expires, json }: ShareOptions) => {
      const { ports } = connect(readEnvironment()).agent(name);
      const share = await ports.share(port, expires === undefined ? {} : { expiresAt: expires });
      if (json) return writeJson(process.stdout, share);
      console.log(share.url);
      const end = share.expiresAt === null ? "" : `It ends at ${localTime(share.expiresAt)}. `;
      note(`Whoever has this link sees the page. ${end}To end it: berth shares remove ${name} ${share.id}`);
    });
}
