import type { ChangeWebhook, CreateWebhook, Webhook, WebhookDelivery, WebhookWithSecret } from "@berth/client";
import { WebhookEventType } from "../../contract/webhook-events.ts";
import type { ToolCommand } from "../command.ts";
import { connect } from "../connect.ts";
import { CliError } from "../errors.ts";
import { limitOption, repeatable } from "../options.ts";
import { printable } from "../terminal.ts";
import { localTime } from "../time.ts";
import { note } from "../verbosity.ts";

interface SettingOptions {
  event?: string[];
  agent?: string;
  content?: boolean;
}

interface UpdateOptions extends SettingOptions {
  url?: string;
  disable?: true;
  enable?: true;
}

const about = { id: "the webhook's id (see berth webhooks list)" };
const types = WebhookEventType.options;

export function register(program: ToolCommand): void {
  const webhooks = program.add("webhooks", "call an address when something happens in the workspace");
  webhooks
    .add("list", "list the workspace's webhooks, newest last")
    .addOption(limitOption(50))
    .lists({
      list: ({ limit }: { limit: number }) => connect().webhooks.list().take(limit),
      empty: "There are no webhooks.",
      newestFirst: true,
      columns: {
        ID: "id",
        URL: ({ url }: Webhook) => printable(url),
        EVENTS: ({ events }) => events?.join(" ") ?? "all",
        AGENT: ({ agent }) => agent ?? "all",
        STATE: ({ disabled, disabledReason }) =>
          disabled ? `disabled ${disabledReason?.code ?? ""}`.trim() : "enabled",
        "LAST DELIVERY": ({ lastDelivery: last }) => (last ? `${last.status} ${localTime(last.createdAt)}` : ""),
      },
    });
  addSettings(
    webhooks.add("create <url>", "create a webhook and print its secret once", { url: "an https address" }),
  ).prints(
    (url: string, options: SettingOptions) =>
      connect().webhooks.create({ url, ...settingsOf(options) } as CreateWebhook),
    showSecret,
  );
  webhooks.add("get <id>", "show a webhook", about).prints((id: string) => connect().webhooks.get(id), webhookText);
  addSettings(webhooks.add("update <id>", "change, disable or enable a webhook", about))
    .option("--no-content", "leave out the text of replies")
    .option("--url <url>", "another address")
    .option("--disable", "send nothing; deliveries that wait end")
    .option("--enable", "send events from now on")
    .prints(update, webhookText);
  webhooks
    .add("delete <id>", "delete a webhook with its deliveries", about)
    .confirms((id: string) => `Delete the webhook ${printable(id)} with its deliveries?`, "Nothing was deleted.")
    .prints(
      (id: string) => connect().webhooks.delete(id),
      (_, id) => note(`Deleted ${printable(id)}.`),
    );
  webhooks
    .add("rotate <id>", "replace a webhook's secret and print the new one once", about)
    .confirms((id: string) => `Replace the secret of ${printable(id)}?`, "Nothing was changed.")
    .prints((id: string) => connect().webhooks.rotate(id), showSecret);
  webhooks.add("test <id>", "send a test event to a webhook", about).prints(
    (id: string) => connect().webhooks.test(id),
    (_, id) => note(`Queued. To see the result: berth webhooks deliveries ${printable(id)}`),
  );
  addDeliveries(webhooks);
}

function addDeliveries(webhooks: ToolCommand): void {
  webhooks
    .add("deliveries <id>", "list a webhook's deliveries, newest last", about)
    .addOption(limitOption(20))
    .lists({
      list: (id: string, { limit }: { limit: number }) => connect().webhooks.deliveries(id).take(limit),
      empty: () => "There are no deliveries.",
      newestFirst: true,
      older: "There are older deliveries: --limit shows more.",
      columns: {
        TIME: ({ createdAt }: WebhookDelivery) => localTime(createdAt),
        ID: "id",
        EVENT: "type",
        AGENT: ({ agent }) => agent ?? "",
        STATUS: "status",
        TRIES: ({ attempts }) => String(attempts),
        NEXT: ({ nextAttemptAt }) => localTime(nextAttemptAt, ""),
        RESULT: ({ error, responseStatus }) => printable(error ?? String(responseStatus ?? "")),
      },
    });
  webhooks
    .add("redeliver <id> <delivery>", "send a delivery again", { ...about, delivery: "the delivery's id" })
    .prints(
      (id: string, delivery: string) => connect().webhooks.redeliver(id, delivery),
      (_, id) => note(`Queued. To see the result: berth webhooks deliveries ${printable(id)}`),
    );
}

function addSettings(command: ToolCommand): ToolCommand {
  return command
    .addOption(repeatable("-e, --event <type>", "only this type of event; can be repeated; default or `all`: all"))
    .option("-a, --agent <name>", "only events of this agent; `all`: of all")
    .option("--content", "add the text of replies to events of turns and runs");
}

function update(id: string, options: UpdateOptions): Promise<Webhook> {
  const { url, disable, enable } = options;
  if (disable && enable) throw new CliError("--disable and --enable exclude each other.", 2);
  const change = {
    ...settingsOf(options),
    ...(url !== undefined && { url }),
    ...((disable || enable) && { disabled: disable === true }),
  };
  if (Object.keys(change).length === 0) {
    throw new CliError("Nothing to change. Pass at least one of --url, --event, --agent, --content, --disable, …", 2);
  }
  return connect().webhooks.update(id, change);
}

function settingsOf({ event, agent, content }: SettingOptions): ChangeWebhook {
  const events = event?.includes("all") ? null : event;
  for (const type of events ?? []) {
    if (WebhookEventType.safeParse(type).success) continue;
    throw new CliError(`There is no event ${printable(type)}. Allowed: all, ${types.join(", ")}.`, 2);
  }
  return {
    ...(events !== undefined && { events: events as ChangeWebhook["events"] & {} }),
    ...(agent !== undefined && { agent: agent === "all" ? null : agent }),
    ...(content !== undefined && { include: content ? ["content"] : [] }),
  };
}

function showSecret({ id, secret }: WebhookWithSecret): void {
  console.log(secret);
  console.error(`Store the secret of ${id} now: it is not shown again.`);
}

function webhookText(webhook: Webhook): string {
  const { url, events, agent, include, disabled, disabledReason, dropped, lastDelivery, oldSecretUntil } = webhook;
  const lines: [string, string][] = [
    ["url", url],
    ["events", events?.join(" ") ?? "all"],
    ["agent", agent ?? "all"],
    ["content", include.includes("content") ? "included" : "left out"],
    ["state", disabled ? `disabled${disabledReason ? `: ${disabledReason.message}` : ""}` : "enabled"],
    ["last delivery", lastDelivery ? `${lastDelivery.type} ${lastDelivery.status}` : "none"],
    ...(dropped > 0 ? [["dropped", `${dropped} deliveries, because too many waited`] as [string, string]] : []),
    ...(oldSecretUntil ? [["old secret", `signs until ${localTime(oldSecretUntil)}`] as [string, string]] : []),
  ];
  return lines.map(([label, value]) => `${label.padEnd(13)}  ${printable(value)}`).join("\n");
}
