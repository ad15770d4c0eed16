import type {
  Automation,
  AutomationRun,
  AutomationWithSecret,
  ChangeAutomation,
  CreateAutomation,
} from "@berth/client";
import { Option } from "commander";
import type { ToolCommand } from "../command.ts";
import { connect } from "../connect.ts";
import { CliError } from "../errors.ts";
import { limitOption, positiveNumber } from "../options.ts";
import { textOf } from "../streams.ts";
import { printable } from "../terminal.ts";
import { futureTime, localTime } from "../time.ts";
import { note } from "../verbosity.ts";
import {
  addHookCommands,
  addHookOptions,
  givenSecret,
  type HookOptions,
  hookLines,
  hookText,
  hookTrigger,
  secretOption,
  secretText,
} from "./automation-hooks.ts";

interface SettingOptions extends HookOptions {
  agent?: string;
  from?: string;
  snapshot?: string;
  withSecrets?: true;
  message?: string;
  cron?: string;
  timeZone?: string;
  jitter?: number;
  at?: string;
  conversation?: Automation["conversation"];
  overlap?: Automation["overlap"];
  missed?: Automation["missed"];
  maxCredits?: string;
  timeout?: number;
  keep?: number;
}

const name = "the automation's name";
const about = { name };

export function register(program: ToolCommand): void {
  const automations = program.add("automations", "send messages to agents on a schedule or for deliveries");
  addList(automations);
  addSettings(automations.add("create <name>", "create an automation", about))
    .option("--paused", "create it paused")
    .addOption(secretOption())
    .prints(create, (automation) => {
      note(`Created ${printable(automation.name)}. ${nextText(automation)}`);
      return automation.hook ? secretText(automation) : undefined;
    });
  automations
    .add("get <name>", "show an automation", about)
    .prints((name: string) => connect().automations.get(name), automationText);
  addSettings(automations.add("update <name>", "change an automation from its next run on", about)).prints(
    update,
    (automation) => note(`Changed ${printable(automation.name)}. ${nextText(automation)}`),
  );
  automations
    .add("delete <name>", "delete an automation with its runs", about)
    .confirms((name: string) => `Delete the automation ${printable(name)} with its runs?`, "Nothing was deleted.")
    .prints(
      (name: string) => connect().automations.delete(name),
      (_, name) => note(`Deleted ${printable(name)}.`),
    );
  automations.add("run <name>", "run an automation now, also while it is paused", about).prints(
    (name: string) => connect().automations.run(name),
    (_, name) => note(`Started. To see the result: berth automations runs ${printable(name)}`),
  );
  automations.add("pause <name>", "pause an automation; a run that has begun continues", about).prints(
    (name: string) => connect().automations.pause(name),
    ({ name }) => note(`Paused ${printable(name)}.`),
  );
  automations.add("resume <name>", "resume a paused automation", about).prints(
    (name: string) => connect().automations.resume(name),
    (automation) => note(`Resumed ${printable(automation.name)}. ${nextText(automation)}`),
  );
  addRuns(automations);
  automations
    .add("times <line>", "show when a line of cron would run next", {
      line: "minute, hour, day of month, month, day of week, in quotes",
    })
    .option("--time-zone <zone>", "the time zone, such as Europe/Berlin; default: this machine's")
    .prints(
      (cron: string, { timeZone = localZone() }: { timeZone?: string }) =>
        connect().automations.times({ cron, timeZone }),
      ({ times }) => times.map((time) => localTime(time)).join("\n"),
    );
  addHookCommands(automations);
}

function addList(automations: ToolCommand): void {
  automations
    .add("list [agent]", "list the workspace's automations, or those of one agent", { agent: "the agent's name" })
    .addOption(limitOption(50))
    .lists({
      list: (agent: string | undefined, { limit }: { limit: number }) =>
        connect().automations.list({ agent }).take(limit),
      empty: () => "There are no automations.",
      columns: {
        NAME: ({ name }: Automation) => name,
        AGENT: (automation) => targetText(automation) + (automation.byAgent ? " (its own)" : ""),
        WHEN: ({ trigger }) => triggerText(trigger),
        NEXT: ({ paused, hook, nextRunAt }) => (paused ? "paused" : localTime(nextRunAt, hook ? "" : "never")),
        "LAST RUN": ({ lastRun }) => (lastRun ? `${lastRun.status} ${localTime(lastRun.dueAt)}` : ""),
      },
    });
}

function addRuns(automations: ToolCommand): void {
  automations
    .add("runs <name>", "list an automation's runs", about)
    .addOption(limitOption(20))
    .lists({
      list: (name: string, { limit }: { limit: number }) => connect().automations.runs(name).take(limit),
      empty: () => "It has not run.",
      newestFirst: true,
      older: "There are older runs: --limit shows more.",
      columns: {
        DUE: ({ dueAt }: AutomationRun) => localTime(dueAt),
        STATUS: "status",
        AGENT: ({ agent }) => agent ?? "",
        TURN: ({ turnId }) => turnId ?? "",
        CREDITS: ({ credits }) => credits ?? "",
        RESULT: ({ reason, reply }) => printable(firstLine(reason?.message ?? reply)),
      },
    });
}

function addSettings(command: ToolCommand): ToolCommand {
  return addHookOptions(command)
    .option("-a, --agent <agent>", "the agent that gets the message")
    .option("--from <agent>", "in place of --agent: each run has a fresh agent that starts from this one")
    .option("--snapshot <snapshot>", "with --from: the state at this snapshot, by name or id")
    .option("--with-secrets", "with --from: copy the agent's secrets too")
    .option("-m, --message <text>", "the text for the agent, with --hook a template; - reads standard input")
    .option("--cron <line>", "when to run: minute, hour, day of month, month, day of week")
    .option("--time-zone <zone>", "with --cron: the time zone, such as Europe/Berlin; default: this machine's")
    .addOption(
      new Option("--jitter <seconds>", "with --cron: the most that a run may be late").argParser(positiveNumber),
    )
    .addOption(
      new Option("--at <time>", "in place of --cron: the only time, from now or in ISO 8601").argParser(futureTime),
    )
    .addOption(
      new Option("--conversation <kind>", "a conversation for each run, or one for all").choices(["new", "continue"]),
    )
    .addOption(
      new Option("--overlap <kind>", "the treatment of a run while another one has not ended").choices([
        "skip",
        "queue",
        "cancel-previous",
      ]),
    )
    .addOption(new Option("--missed <kind>", "the treatment of times at which no server ran").choices(["once", "skip"]))
    .option("--max-credits <credits>", "the credits that one run may cost; none removes the limit")
    .addOption(
      new Option("--timeout <minutes>", "how many minutes after its time a run is cancelled").argParser(positiveNumber),
    )
    .addOption(
      new Option("--keep <hours>", "with --from: how long the agent is kept afterwards").argParser(positiveNumber),
    );
}

async function create(
  name: string,
  options: SettingOptions & { paused?: true; secret?: true },
): Promise<AutomationWithSecret> {
  const { message, trigger, ...settings } = await settingsOf(options);
  if (message === undefined) throw new CliError("A message is required: --message TEXT, or - for standard input.", 2);
  if (!trigger) throw new CliError("A trigger is required: --cron LINE, --at TIME or --hook SENDER.", 2);
  const secret = await givenSecret(options.secret);
  const asked: CreateAutomation = {
    ...{ name, message, trigger, ...settings, ...secret },
    ...(options.paused && { paused: true }),
  };
  return connect().automations.create(asked);
}

async function update(name: string, options: SettingOptions): Promise<Automation> {
  const change = await settingsOf(options);
  if (Object.keys(change).length === 0) {
    throw new CliError("Nothing to change. Pass at least one of --message, --cron, --at, --agent, --from, …", 2);
  }
  return connect().automations.update(name, change);
}

async function settingsOf(options: SettingOptions): Promise<ChangeAutomation> {
  const { agent, from, snapshot, withSecrets, conversation, overlap, missed, timeout, keep, maxCredits } = options;
  const trigger = triggerOf(options);
  const message = options.message === undefined ? undefined : await textOf(options.message);
  if (from === undefined && (snapshot !== undefined || withSecrets)) {
    throw new CliError("--snapshot and --with-secrets need --from.", 2);
  }
  return {
    ...(agent !== undefined && { agent }),
    ...(from !== undefined && { from: { agent: from, ...(snapshot && { snapshot }), secrets: withSecrets ?? false } }),
    ...(message !== undefined && { message }),
    ...(trigger && { trigger }),
    ...(conversation && { conversation }),
    ...(overlap && { overlap }),
    ...(missed && { missed }),
    ...(maxCredits !== undefined && { maxCredits: maxCredits === "none" ? null : maxCredits }),
    ...(timeout !== undefined && { timeout }),
    ...(keep !== undefined && { keep }),
  };
}

function triggerOf({ cron, timeZone, jitter, at, ...hook }: SettingOptions): CreateAutomation["trigger"] | null {
  const delivered = hookTrigger(hook);
  if (delivered && (cron !== undefined || at !== undefined)) {
    throw new CliError("--hook excludes --cron and --at.", 2);
  }
  if (delivered) return delivered;
  if (at !== undefined) return { type: "schedule", at };
  if (cron === undefined) {
    if (timeZone === undefined && jitter === undefined) return null;
    throw new CliError("--time-zone and --jitter need --cron.", 2);
  }
  return { type: "schedule", cron, timeZone: timeZone ?? localZone(), ...(jitter !== undefined && { jitter }) };
}

function localZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

function automationText(automation: Automation): string {
  const { message, conversation, overlap, missed, maxCredits, timeout, keep, pausedReason, lastRun } = automation;
  const lines: [string, string][] = [
    ["agent", targetText(automation)],
    ["when", triggerText(automation.trigger)],
    ...hookLines(automation),
    [
      "next run",
      automation.paused
        ? `paused${pausedReason ? `: ${pausedReason.message}` : ""}`
        : automation.hook
          ? "at the next delivery"
          : localTime(automation.nextRunAt, "never"),
    ],
    [
      "last run",
      lastRun
        ? `${lastRun.status} ${localTime(lastRun.dueAt)}${lastRun.reason ? `: ${lastRun.reason.message}` : ""}`
        : "none",
    ],
    ["conversation", conversation],
    ["overlap", overlap],
    ["missed", missed],
    ["credits", maxCredits ?? "no limit"],
    ["timeout", `${timeout} minutes`],
    ...(automation.from ? [["keep", `${keep} hours`] as [string, string]] : []),
    ...(automation.byAgent ? [["made by", "the agent"] as [string, string]] : []),
    ["message", message],
  ];
  return lines.map(([label, value]) => `${label.padEnd(12)}  ${printable(value)}`).join("\n");
}

function targetText({ agent, from }: Automation): string {
  if (from) return `from ${from.agent}${from.snapshot === undefined ? "" : ` (${printable(from.snapshot)})`}`;
  return agent ?? "deleted";
}

function triggerText(trigger: Automation["trigger"]): string {
  if (trigger.type === "hook") return hookText(trigger);
  const { cron, timeZone, at } = trigger;
  return at === undefined ? printable(`${cron} ${timeZone}`) : localTime(at);
}

function nextText({ paused, hook, nextRunAt }: Automation): string {
  if (paused) return "It is paused.";
  return hook ? "It runs for each delivery." : `Next run: ${localTime(nextRunAt, "never")}`;
}

function firstLine(text: string): string {
  return text.trim().split("\n", 1)[0]!.slice(0, 80);
}
