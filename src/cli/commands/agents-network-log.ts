import type { NetworkLogEntry } from "@berth/client";
import { type Command, Option } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption, positiveNumber } from "../options.ts";
import { type Cell, formatTable } from "../table.ts";
import { printable, writeJson } from "../terminal.ts";
import { localTime } from "../time.ts";
import { note } from "../verbosity.ts";

interface LogOptions extends CommonOptions {
  limit: number;
  verdict?: NetworkLogEntry["verdict"];
}

/** The columns of a connection. */
export const headings = ["TIME", "TO", "ADDRESS", "OUTCOME", "SENT", "RECEIVED", "COUNT"];

/** `berth agents network log NAME` */
export function register(network: Command): void {
  network
    .command("log")
    .description("show an agent's connections, newest last")
    .argument("<name>", "the agent's name")
    .option("-n, --limit <number>", "how many of the newest to show", positiveNumber, 50)
    .addOption(new Option("--verdict <verdict>", "only those").choices(["allowed", "refused"]))
    .addOption(jsonOption())
    .addHelpText("after", "\nA connection is shown once it has ended. SENT and RECEIVED are bytes.")
    .action(async (name: string, { limit, verdict, json }: LogOptions) => {
      const client = connect(readEnvironment());
      const entries = await client.agent(name).network.log({ verdict }).take(limit);
      if (json) return writeJson(process.stdout, entries);
      const { data, nextCursor } = entries;
      if (data.length === 0) return note(`${printable(name)} has connected to nothing yet.`);
      if (nextCursor !== null) note("There are older connections: --limit shows more.");
      process.stdout.write(formatTable(process.stdout, headings, data.reverse().map(rowOf)));
    });
}

/** A connection's row. */
export function rowOf(entry: NetworkLogEntry): Cell[] {
  const { startedAt, verdict, reason, outcome, host, port, address, bytesSent, bytesReceived, count } = entry;
  const to = port === null ? host : `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const came = verdict === "refused" ? `refused: ${reason}` : (outcome ?? "");
  const style = verdict === "refused" ? "red" : outcome === "closed" ? "green" : "yellow";
  return [
    localTime(startedAt),
    to,
    address ?? "",
    { text: came, style } as const,
    `${bytesSent}`,
    `${bytesReceived}`,
    `${count}`,
  ];
}
