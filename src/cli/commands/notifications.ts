import type { ChangeProfile, NotificationTest, Profile } from "@berth/client";
import { Option } from "commander";
import { notifyChoices } from "../../contract/notifications.ts";
import type { ToolCommand } from "../command.ts";
import { connect } from "../connect.ts";
import { CliError } from "../errors.ts";
import { limitOption } from "../options.ts";
import { readSecret } from "../prompt.ts";
import { printable } from "../terminal.ts";
import { localTime } from "../time.ts";
import { note } from "../verbosity.ts";

type Notify = Profile["notify"];

interface SetOptions {
  email?: string;
  mail?: boolean;
  timeZone?: string;
  quietHours?: string;
  notify?: Notify;
  ntfy?: string;
  ntfyToken?: true;
}

export function register(program: ToolCommand): void {
  const notifications = program.add("notifications", "choose what you are notified of, and how");
  notifications.add("show", "show how you are notified").prints(() => connect().profile.get(), profileText);
  notifications
    .add("set", "change how you are notified")
    .addOption(new Option("-n, --notify <what>", "of agents without a choice of their own").choices(notifyChoices))
    .option("--email <address>", "the address for mail, which gets a link; `sign-in`: that of the sign-in")
    .option("--mail", "send notifications by mail")
    .option("--no-mail", "send no notifications by mail")
    .option("--time-zone <zone>", "such as Europe/Berlin; `sign-in`: that of the sign-in")
    .option("--quiet-hours <hours>", "the hours without notifications, such as 22:00-07:00; `none`: none")
    .option("--ntfy <url>", "a topic of an ntfy server, such as https://ntfy.sh/my-secret-topic; `none`: none")
    .option("--ntfy-token", "read the access token of the topic from the terminal or stdin")
    .prints(change, profileText);
  notifications
    .add("verify <link>", "confirm an e-mail address", { link: "the link from the mail, or its token" })
    .prints(
      (link: string) => connect().profile.verifyEmail({ token: link.slice(link.lastIndexOf("#") + 1) }),
      profileText,
    );
  notifications
    .add("test", "send a test notification over all channels")
    .prints(() => connect().profile.test(), testText);
  notifications
    .add("agents", "list your choices for single agents of the workspace")
    .addOption(limitOption(50))
    .lists({
      list: ({ limit }: { limit: number }) => connect().profile.agents().take(limit),
      empty: "There are no choices for single agents.",
      columns: { AGENT: "agent", NOTIFY: "notify" },
    });
  notifications
    .add("agent <agent> <what>", "choose what you hear of an agent", { what: `${notifyChoices.join(", ")}, default` })
    .prints(changeAgent, (_, agent, what) => `${printable(agent)}: ${printable(what)}.`);
  addBrowsers(notifications);
}

function addBrowsers(notifications: ToolCommand): void {
  notifications.add("browsers", "list the browsers that show your notifications, newest first").lists({
    list: () => connect().pushSubscriptions.list(),
    empty: "No browser shows your notifications. Turn them on in the dashboard.",
    columns: {
      ID: "id",
      BROWSER: ({ name, service }) => name ?? service,
      ADDED: ({ createdAt }) => localTime(createdAt),
      "LAST NOTIFICATION": ({ sentAt, error }) => error ?? localTime(sentAt, "none"),
    },
  });
  notifications
    .add("remove-browser <id>", "stop notifications in a browser", { id: "the id that the list shows" })
    .prints(
      (id: string) => connect().pushSubscriptions.delete(id),
      (_, id) => note(`Removed ${printable(id)}.`),
    );
}

async function change({ email, mail, timeZone, quietHours, notify, ntfy, ntfyToken }: SetOptions): Promise<Profile> {
  if (ntfyToken && (ntfy === undefined || ntfy === "none")) throw new CliError("--ntfy-token requires --ntfy.", 2);
  const token = ntfyToken ? (await readSecret("Access token of the topic: ")).trim() : undefined;
  const asked: ChangeProfile = {
    ...(email !== undefined && { email: email === "sign-in" ? null : email }),
    ...(mail !== undefined && { emailNotifications: mail }),
    ...(timeZone !== undefined && { timeZone: timeZone === "sign-in" ? null : timeZone }),
    ...(quietHours !== undefined && { quietHours: quietHoursOf(quietHours) }),
    ...(notify !== undefined && { notify }),
    ...(ntfy !== undefined && { ntfy: ntfy === "none" ? null : { url: ntfy, ...(token !== undefined && { token }) } }),
  };
  if (Object.keys(asked).length > 0) return connect().profile.change(asked);
  throw new CliError("Nothing to change. Pass at least one of --notify, --email, --quiet-hours, --ntfy, …", 2);
}

function quietHoursOf(text: string): (ChangeProfile["quietHours"] & {}) | null {
  if (text === "none") return null;
  const [from, to, ...rest] = text.split("-");
  if (from === undefined || to === undefined || rest.length > 0) {
    throw new CliError("--quiet-hours: such as 22:00-07:00, or none.", 2);
  }
  return { from, to };
}

function changeAgent(agent: string, what: string): Promise<unknown> {
  if (what === "default") return connect().profile.removeAgent(agent);
  const notify = notifyChoices.find((choice) => choice === what);
  if (notify) return connect().profile.setAgent(agent, { notify });
  throw new CliError(`There is no choice ${printable(what)}; allowed: ${notifyChoices.join(", ")}, default.`, 2);
}

function profileText(profile: Profile): string {
  const { email, emailVerified, pendingEmail, quietHours, notify, effectiveTimeZone, ntfy, channels } = profile;
  const lines: [string, string][] = [
    ["notify", notify],
    ["quiet hours", quietHours ? `${quietHours.from}-${quietHours.to} ${effectiveTimeZone}` : "none"],
    ["e-mail", email === null ? "none" : `${email}${emailVerified ? "" : " (not verified)"}`],
    ...(pendingEmail === null
      ? []
      : [["new e-mail", `${pendingEmail}: open the link in the mail`] as [string, string]]),
    ["ntfy", ntfy === null ? "none" : `${ntfy.url}${ntfy.hasToken ? " with a token" : ""}`],
    ...channels.map(({ channel, missing, failure }): [string, string] => [
      `by ${channel}`,
      `${missing ?? "ready"}${failure ? ` Refused ${localTime(failure.at)}: ${failure.message}` : ""}`,
    ]),
  ];
  return lines.map(([label, value]) => `${label.padEnd(11)}  ${printable(value)}`).join("\n");
}

function testText({ channels }: NotificationTest): string {
  return channels.map(({ channel, error }) => `${channel.padEnd(11)}  ${printable(error ?? "sent")}`).join("\n");
}
