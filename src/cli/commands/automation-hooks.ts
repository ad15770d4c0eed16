import type { Automation, AutomationRun, AutomationWithSecret, CreateAutomation, HookDelivery } from "@berth/client";
import { Option } from "commander";
import type { ToolCommand } from "../command.ts";
import { connect } from "../connect.ts";
import { CliError } from "../errors.ts";
import { limitOption, repeatable } from "../options.ts";
import { readSecret } from "../prompt.ts";
import { printable } from "../terminal.ts";
import { localTime } from "../time.ts";
import { note } from "../verbosity.ts";

type HookTrigger = Extract<CreateAutomation["trigger"], { type: "hook" }>;
type HookFilter = NonNullable<HookTrigger["filters"]>[number];

export interface HookOptions {
  hook?: HookTrigger["verify"];
  filter?: string[];
}

/** The help of `--secret`, which reads it from the terminal or standard input: arguments are visible to others. */
const secretHelp = "read the secret that the sender has chosen";

const about = { name: "the automation's name", delivery: "the delivery's id" };

/** Adds the options of a hook to the command that creates or changes an automation. */
export function addHookOptions(command: ToolCommand): ToolCommand {
  return command
    .addOption(
      new Option("--hook <sender>", "in place of --cron: run for each delivery, verified as this sender's").choices([
        "standard-webhooks",
        "github",
        "gitlab",
        "slack",
        "bearer",
      ]),
    )
    .addOption(
      repeatable("--filter <filter>", "with --hook: $.PATH=VALUE, HEADER=VALUE, ~GLOB in place of =VALUE, or neither"),
    );
}

/** Null without the options of a hook. */
export function hookTrigger({ hook, filter }: HookOptions): HookTrigger | null {
  if (hook === undefined) {
    if (filter === undefined) return null;
    throw new CliError("--filter needs --hook.", 2);
  }
  return { type: "hook", verify: hook, ...(filter && { filters: filter.map(filterOf) }) };
}

/** A filter such as `$.action=opened`, `x-github-event~pull_*` or `$.issue`. */
function filterOf(text: string): HookFilter {
  const [, place, operator, value = ""] = /^([^=~]+)(?:([=~])(.*))?$/s.exec(text) ?? [];
  if (place === undefined) throw new CliError(`--filter ${printable(text)}: a path or a header's name is missing.`, 2);
  const subject = place.startsWith("$") ? { path: place } : { header: place };
  if (operator === undefined) return { ...subject, exists: true };
  if (operator === "~") return { ...subject, glob: value };
  const isJson = place.startsWith("$") && /^(?:true|false|null|-?\d+(?:\.\d+)?)$/.test(value);
  return { ...subject, equals: isJson ? (JSON.parse(value) as number | boolean | null) : value };
}

/** The secret that the sender has chosen, if it is given. */
export async function givenSecret(isGiven: true | undefined): Promise<{ secret?: string }> {
  return isGiven ? { secret: (await readSecret("Secret of the hook: ")).trim() } : {};
}

export function secretOption(): Option {
  return new Option("--secret", secretHelp);
}

/** The address and the secret of a hook, which are shown once. */
export function secretText({ hook, secret }: AutomationWithSecret): string {
  return [
    `address  ${printable(hook!.url)}`,
    `secret   ${secret === null ? "is encrypted with another secret key" : printable(secret)}`,
  ].join("\n");
}

export function hookText({ verify, filters = [] }: HookTrigger): string {
  return `hook ${verify}${filters.length === 0 ? "" : `, ${filters.length} ${filters.length === 1 ? "filter" : "filters"}`}`;
}

/** The lines of a hook in what `automations get` prints. */
export function hookLines({ hook }: Automation): [string, string][] {
  if (!hook) return [];
  const { url, secretHint, earlierSecretUntil } = hook;
  const earlier = earlierSecretUntil === null ? "" : `; the one before until ${localTime(earlierSecretUntil)}`;
  return [
    ["address", url],
    ["secret", `…${secretHint}${earlier}`],
  ];
}

export function addHookCommands(automations: ToolCommand): void {
  automations
    .add("rotate-secret <name>", "replace the secret of a hook; the one before is valid for 24 hours more", about)
    .addOption(secretOption())
    .prints(
      async (name: string, { secret }: { secret?: true }) =>
        connect().automations.rotateSecret(name, await givenSecret(secret)),
      secretText,
    );
  automations
    .add("deliveries <name>", "list the deliveries to a hook", about)
    .addOption(limitOption(20))
    .lists({
      list: (name: string, { limit }: { limit: number }) => connect().automations.deliveries(name).take(limit),
      empty: () => "There were no deliveries.",
      newestFirst: true,
      older: "There are older deliveries: --limit shows more.",
      columns: {
        RECEIVED: ({ receivedAt }: HookDelivery) => localTime(receivedAt),
        VERDICT: "verdict",
        EVENT: ({ event }) => printable(event ?? ""),
        ID: "id",
        RUN: ({ runId }) => runId ?? "",
        REASON: ({ reason }) => printable(reason ?? ""),
      },
    });
  automations.add("send-again <name> <delivery>", "run an automation for an earlier delivery", about).prints(
    (name: string, delivery: string): Promise<AutomationRun> => connect().automations.sendAgain(name, delivery),
    (_, name) => note(`Started. To see the result: berth automations runs ${printable(name)}`),
  );
}
