import { type Command, Option } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { CliError } from "../errors.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { readSecret } from "../prompt.ts";
import { writeJson } from "../terminal.ts";

interface SetOptions extends CommonOptions {
  host: string[];
  header?: string[];
}

const help = `
The value is asked for, or read from standard input; it is on no command line. In the machine the variable of this name
holds a placeholder. Where a program sends it in the Authorization header (or the one given) to one of the hosts, the value goes in its
place.

Examples:
  berth agents secrets set ada GITHUB_TOKEN --host api.github.com --host github.com
  berth agents secrets set ada NPM_TOKEN --host registry.npmjs.org < token.txt
  berth agents secrets set ada SEARCH_KEY --host api.search.example --header x-api-key`;

/** `berth agents secrets set NAME SECRET --host HOST` */
export function register(secrets: Command): void {
  const host = new Option("--host <host>", "where it may go: a host, or *.example.com; can be repeated")
    .argParser((text: string, all: string[] = []) => all.concat(text))
    .makeOptionMandatory();
  const header = new Option(
    "--header <header>",
    "the request header that carries it; can be repeated (default: authorization)",
  ).argParser((text: string, all: string[] = []) => all.concat(text));
  secrets
    .command("set")
    .description("set a secret that an agent can use but not read")
    .argument("<name>", "the agent's name")
    .argument("<secret>", "the secret's name, such as GITHUB_TOKEN")
    .addOption(host)
    .addOption(header)
    .addOption(jsonOption())
    .addHelpText("after", help)
    .action(async (name: string, secret: string, { host: hosts, header: headers, json }: SetOptions) => {
      const client = connect(readEnvironment());
      const value = (await readSecret(`Value of ${secret}: `)).trim();
      if (value === "") throw new CliError("The value is empty; nothing was set.", 2);
      const record = await client.agent(name).secrets.set(secret, { value, hosts, headers });
      if (json) writeJson(process.stdout, record);
      else
        console.log(
          `${record.name} is ${record.placeholder} in the machine, and its value on the way to: ${record.hosts.join(", ")}`,
        );
    });
}
