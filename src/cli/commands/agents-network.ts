import type { Network, NetworkLogEntry } from "@berth/client";
import { Option } from "commander";
import type { ToolCommand } from "../command.ts";
import { agentOf } from "../connect.ts";
import { CliError } from "../errors.ts";
import { limitOption, repeatable } from "../options.ts";
import { type Columns, fieldsText } from "../table.ts";
import { printable } from "../terminal.ts";
import { localTime } from "../time.ts";

interface SetOptions {
  allow?: string[];
  deny?: string[];
  allowAll?: true;
  denyNothing?: true;
  ask?: boolean;
}

/** The options of commands that list connections. */
export interface ConnectionsOptions {
  limit: number;
  verdict?: NetworkLogEntry["verdict"];
}

const setHelp = ` 
A rule is example.com, *.example.com (all names below it), an address, a network (198.51.100.0/24) or *, each optionally
with :PORT. --deny takes precedence over --allow. A list that is not given does not change.

Examples:
  berth agents network set ada --allow registry.npmjs.org --allow '*.github.com:443'
  berth agents network set ada --deny '*'`;

/** Adds `berth agents network`. */
export function addNetworkCommands(agents: ToolCommand): void {
  const network = agents.add("network", "manage where an agent may connect to");
  network
    .add("get <name>", "show where an agent may connect to")
    .prints((name: string) => agentOf(name).network.get(), networkText);
  network
    .add("set <name>", "set where an agent may connect to")
    .addOption(repeatable("--allow <rule>", "a destination to allow, and no others; can be repeated"))
    .addOption(repeatable("--deny <rule>", "a destination to deny; can be repeated"))
    .addOption(new Option("--allow-all", "allow every destination").conflicts("allow"))
    .addOption(new Option("--deny-nothing", "deny nothing").conflicts("deny"))
    .option("--ask", "ask a person about destinations that are on neither list; they are refused until then")
    .option("--no-ask", "refuse such destinations without asking")
    .addHelpText("after", setHelp)
    .prints(setNetwork, networkText);
  network
    .add("allow <name> <rules...>", "allow destinations in addition, and deny them no longer")
    .prints((name: string, rules: string[]) => decide(name, "allow", rules), networkText);
  network
    .add("deny <name> <rules...>", "deny destinations in addition, and allow them no longer")
    .prints((name: string, rules: string[]) => decide(name, "deny", rules), networkText);
  network
    .add("log <name>", "show an agent's connections, newest last")
    .addOption(limitOption(50))
    .addOption(verdictOption())
    .after("A connection appears once it is closed. SENT and RECEIVED are bytes.")
    .lists({
      list: (name: string, { limit, verdict }: ConnectionsOptions) =>
        agentOf(name).network.log({ verdict }).take(limit),
      empty: (name) => `${printable(name)} has made no connections yet.`,
      newestFirst: true,
      older: "There are older connections: --limit shows more.",
      columns: connectionColumns,
    });
}

/** `--verdict`, on commands that list connections. */
export function verdictOption(): Option {
  return new Option("--verdict <verdict>", "only connections with this verdict").choices(["allowed", "refused"]);
}

/** The columns of a list of connections. */
export const connectionColumns: Columns<NetworkLogEntry> = {
  TIME: ({ startedAt }) => localTime(startedAt),
  TO: ({ host, port }) => (port === null ? host : `${host.includes(":") ? `[${host}]` : host}:${port}`),
  ADDRESS: "address",
  OUTCOME: ({ verdict, reason, outcome }) => {
    if (verdict === "refused") return { text: `refused: ${reason}`, style: "red" };
    return { text: outcome ?? "", style: outcome === "closed" ? "green" : "yellow" };
  },
  SENT: "bytesSent",
  RECEIVED: "bytesReceived",
  COUNT: "count",
};

async function setNetwork(name: string, options: SetOptions): Promise<Network> {
  const allow = options.allowAll ? ["*"] : options.allow;
  const deny = options.denyNothing ? [] : options.deny;
  const { ask } = options;
  if (!allow && !deny && ask === undefined) {
    throw new CliError("Nothing to set. Pass --allow, --allow-all, --deny, --deny-nothing, --ask or --no-ask.", 2);
  }
  const { network } = agentOf(name);
  const before = allow && deny ? { allow, deny } : await network.get();
  return network.set({
    allow: allow ?? before.allow,
    deny: deny ?? before.deny,
    ...(ask !== undefined && { ask }),
  });
}

/** Adds rules to one list, and removes them from the other. */
async function decide(name: string, list: "allow" | "deny", rules: string[]): Promise<Network> {
  const { network } = agentOf(name);
  const { allow, deny } = await network.get();
  const added = (to: string[]) => [...to, ...rules.filter((rule) => !to.includes(rule))];
  const rest = (of: string[]) => of.filter((rule) => !rules.includes(rule));
  return network.set(
    list === "allow" ? { allow: added(allow), deny: rest(deny) } : { allow: rest(allow), deny: added(deny) },
  );
}

function networkText({ allow, deny, ask, operator }: Network): string {
  const rules = (list: readonly string[]) => list.join(", ") || "nothing";
  return fieldsText({
    allow: rules(allow),
    deny: rules(deny),
    "on neither list": ask ? "ask" : "refuse",
    "operator's allow": rules(operator.allow),
    "operator's deny": rules(operator.deny),
  });
}
