import type { Notification } from "./channel.ts";
import type { EventFacts, ShownEvent } from "./events.ts";

/** The most characters of a title, a line and a body. */
const maximumTitle = 150;
const maximumLine = 250;
const maximumLines = 10;
/** The most items that a notification names: push messages are small. */
const maximumItems = 20;

/** The notification about these events, at least one. `reply`: of the only one. */
export function compose(id: string, events: readonly ShownEvent[], reply: string | null): Notification {
  const [first] = events as [ShownEvent];
  const isOfOne = events.every(({ agentId, accountId }) => agentId === first.agentId && accountId === first.accountId);
  const about = { workspaceId: first.accountId, items: itemsOf(events) };
  const isUrgent = events.some(({ event }) => !event.type.endsWith(".completed"));
  if (events.length === 1) {
    const { title, detail } = textOf(first.event);
    const body = [detail, first.workspace && `Workspace: ${first.workspace.name}`].filter(Boolean).map(String);
    return {
      id,
      title: line(title, maximumTitle),
      body: body.map((each) => line(each, maximumLine)).join("\n") || "Open it in the dashboard.",
      url: urlOf(first, true),
      tag: first.event.turnId ?? first.agentId ?? first.accountId,
      ...about,
      isUrgent,
      reply: reply === null ? null : withoutControls(reply),
    };
  }
  const subject = isOfOne && first.event.agent !== undefined ? first.event.agent : "Berth";
  const lines = events.slice(0, maximumLines).map((shown) => line(lineOf(shown), maximumLine));
  const more = events.length - lines.length;
  return {
    id,
    title: line(`${subject}: ${events.length} notifications`, maximumTitle),
    body: [...lines, ...(more > 0 ? [`And ${more} more.`] : [])].join("\n"),
    url: urlOf(first, false, isOfOne),
    tag: isOfOne ? (first.agentId ?? first.accountId) : "summary",
    ...about,
    isUrgent,
    reply: null,
  };
}

function itemsOf(events: readonly ShownEvent[]): string[] {
  const items = events.flatMap(({ event: { itemId } }) => itemId ?? []);
  const isOfOneWorkspace = events.every(({ accountId }) => accountId === events[0]!.accountId);
  return isOfOneWorkspace && items.length === events.length && items.length <= maximumItems ? items : [];
}

/** The notification of a test. */
export function testNotification(id: string): Notification {
  return {
    id,
    title: "Test of Berth",
    body: "Notifications arrive here.",
    url: "/-/",
    tag: "test",
    workspaceId: "",
    items: [],
    isUrgent: false,
    reply: null,
  };
}

/** One line without characters that change how it is shown. */
function line(text: string, maximum: number): string {
  const plain = text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ")
    .replaceAll(/ {2,}/g, " ")
    .trim();
  return plain.length <= maximum ? plain : `${plain.slice(0, maximum - 1).toWellFormed()}…`;
}

/** Text of several lines. */
function withoutControls(text: string): string {
  return text.replaceAll("\r\n", "\n").replaceAll(/[^\P{Cc}\n\t]/gu, "");
}

function lineOf({ event, workspace }: ShownEvent): string {
  const { title, detail } = textOf(event);
  return `${title}${workspace ? ` (${workspace.name})` : ""}${detail === "" ? "" : `: ${detail}`}`;
}

function textOf(event: EventFacts): { title: string; detail: string } {
  const { type, agent = "An agent", automation = "An automation", reason = "", balance = "0" } = event;
  switch (type) {
    case "turn.waiting":
      return { title: `${agent} waits for an approval`, detail: "" };
    case "turn.held":
      return { title: `${agent} holds its messages`, detail: `The turn before them: ${reason}.` };
    case "turn.completed":
      return { title: `${agent} completed a turn`, detail: "" };
    case "turn.failed":
      return { title: `${agent}: a turn failed`, detail: reason };
    case "run.completed":
      return { title: `${automation} completed`, detail: `A run with ${agent}.` };
    case "run.failed":
      return { title: `${automation} failed`, detail: reason };
    case "automation.paused":
      return { title: `${automation} was paused`, detail: reason };
    case "credits.low":
      return { title: "Credits are low", detail: `${balance} credits are left.` };
    case "credits.exhausted":
      return { title: "Credits are used up", detail: "Agents stop until credits are added." };
    case "webhook.disabled":
      return { title: "A webhook was disabled", detail: reason };
  }
}

/** A path of the dashboard: of the event, or of all of its kind. */
function urlOf({ event, workspace }: ShownEvent, isSingle: boolean, isOfOne = true): string {
  return `/-${isOfOne ? pathOf(event, isSingle) : "/"}?workspace=${workspace?.id ?? "personal"}`;
}

function pathOf({ type, agent, turnId, automation, webhookId }: EventFacts, isSingle: boolean): string {
  if (automation !== undefined) return `/automations/${encodeURIComponent(automation)}`;
  if (type.startsWith("credits.")) return "/credits";
  if (type === "webhook.disabled") return isSingle ? `/webhooks/${webhookId}` : "/webhooks";
  if (agent === undefined) return "/";
  const path = `/agents/${encodeURIComponent(agent)}`;
  return isSingle && turnId && type !== "turn.held" ? `${path}/turns/${turnId}` : path;
}
