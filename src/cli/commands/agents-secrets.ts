import type { ToolCommand } from "../command.ts";
import { agentOf } from "../connect.ts";
import { CliError } from "../errors.ts";
import { repeatable } from "../options.ts";
import { readSecret } from "../prompt.ts";

const setHelp = `
The value is asked for, or read from standard input; it is on no command line. In the machine, the variable with this name
holds a placeholder. Where a program sends it in the Authorization header (or the one given) to one of the hosts, the value goes in its
place.

Examples:
  berth agents secrets set ada GITHUB_TOKEN --host api.github.com --host github.com
  berth agents secrets set ada NPM_TOKEN --host registry.npmjs.org < token.txt
  berth agents secrets set ada SEARCH_KEY --host api.search.example --header x-api-key`;

const hostHelp = "where it may be sent: a host, or *.example.com; can be repeated";
const headerHelp = "the request header that carries it; can be repeated (default: authorization)";

/** Adds `berth agents secrets`. */
export function addSecretCommands(agents: ToolCommand): void {
  const secrets = agents.add("secrets", "manage an agent's own secrets, which it can use but not read");
  secrets.add("list <name>", "list the secrets that an agent can use, without their values").lists({
    list: (name: string) => agentOf(name).secrets.list(),
    empty: (name) => `${name} has no secrets. To give it one: berth agents secrets set ${name} NAME --host HOST`,
    columns: {
      NAME: "name",
      OF: "from",
      HOSTS: ({ hosts }) => hosts.join(", "),
      PLACEHOLDER: "placeholder",
    },
  });
  secrets
    .add("set <name> <secret>", "set a secret that an agent can use but not read", {
      secret: "the secret's name, such as GITHUB_TOKEN",
    })
    .addOption(repeatable("--host <host>", hostHelp).makeOptionMandatory())
    .addOption(repeatable("--header <header>", headerHelp))
    .addHelpText("after", setHelp)
    .prints(
      async (name: string, secret: string, { host: hosts, header: headers }: { host: string[]; header?: string[] }) => {
        const value = (await readSecret(`Value of ${secret}: `)).trim();
        if (value === "") throw new CliError("The value is empty; nothing was set.", 2);
        return agentOf(name).secrets.set(secret, { value, hosts, headers });
      },
      ({ name, placeholder, hosts }) =>
        `${name} is ${placeholder} in the machine, and is replaced with its value on the way to: ${hosts.join(", ")}`,
    );
  secrets.add("remove <name> <secret>", "remove a secret from an agent", { secret: "the secret's name" }).prints(
    (name: string, secret: string) => agentOf(name).secrets.remove(secret),
    (_, name, secret) => `${secret} was removed from ${name}.`,
  );
}
