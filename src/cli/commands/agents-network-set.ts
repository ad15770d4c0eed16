import type { ChangeNetwork } from "@berth/client";
import { type Command, Option } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { CliError } from "../errors.ts";
import { showNetwork } from "../network-view.ts";
import { type CommonOptions, jsonOption } from "../options.ts";

interface SetOptions extends CommonOptions {
  allow?: string[];
  deny?: string[];
  allowAll?: true;
  denyNothing?: true;
}

const help = `
A rule is example.com, *.example.com (all names below it), an address, a network (198.51.100.0/24) or *, each with :PORT
behind it where it is for one port only. What is denied is not allowed. A list that is not given stays.

Examples:
  berth agents network set ada --allow registry.npmjs.org --allow '*.github.com:443'
  berth agents network set ada --deny '*'`;

/** `berth agents network set NAME` */
export function register(network: Command): void {
  network
    .command("set")
    .description("set where an agent may connect to")
    .argument("<name>", "the agent's name")
    .addOption(ruleOption("--allow <rule>", "what they may connect to, and nothing else; can be repeated"))
    .addOption(ruleOption("--deny <rule>", "what they may not; can be repeated"))
    .addOption(new Option("--allow-all", "they may connect to anything").conflicts("allow"))
    .addOption(new Option("--deny-nothing", "nothing is denied any more").conflicts("deny"))
    .addOption(jsonOption())
    .addHelpText("after", help)
    .action(setNetwork);
}

function ruleOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser((rule: string, all: string[] = []) => all.concat(rule));
}

async function setNetwork(name: string, { json, ...options }: SetOptions): Promise<void> {
  const client = connect(readEnvironment());
  const allow = options.allowAll ? ["*"] : options.allow;
  const deny = options.denyNothing ? [] : options.deny;
  if (!allow && !deny) {
    throw new CliError("Nothing is to be set: give --allow, --allow-all, --deny or --deny-nothing.", 2);
  }
  const before = allow && deny ? { allow, deny } : await client.agent(name).network.get();
  const change: ChangeNetwork = { allow: allow ?? before.allow, deny: deny ?? before.deny };
  showNetwork(await client.agent(name).network.set(change), json);
}
