import type { CallToolResult, McpServer } from "@modelcontextprotocol/server";
import type { OwnSchedules } from "../../automations/own-schedules.ts";
import type { OwnSchedule } from "../../automations/own-store.ts";
import { CancelScheduleArguments, OwnScheduleList, ScheduleArguments, Scheduled } from "../../contract/mcp.ts";
import { alwaysOffered } from "../../contract/mcp-servers.ts";
import type { Schedules } from "../../contract/schedules.ts";
import { argumentsOf } from "./arguments.ts";
import { toResult } from "./tool.ts";

const scheduleArguments = argumentsOf(ScheduleArguments);
const cancelArguments = argumentsOf(CancelScheduleArguments);

interface Offer {
  agentId: string;
  limits: Schedules;
  schedules: OwnSchedules;
  /** The result of a call that failed. */
  toFailure: (thrown: unknown) => CallToolResult;
}

/** Tools with which an agent schedules messages to itself. */
export function addScheduleTools(server: McpServer, { agentId, limits, schedules, toFailure }: Offer): void {
  server.registerTool(
    "schedule",
    {
      title: "Schedule a message to yourself",
      description: `Sends you a message later, once or repeatedly, also while you sleep: for reminders and recurring work. It continues this conversation, and the user sees your answer. You can have ${limits.max} schedules, with at least ${limits.everyMinutes} minutes between two times.`,
      inputSchema: scheduleArguments,
      outputSchema: Scheduled,
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
      _meta: alwaysOffered,
    },
    async (asked) => {
      try {
        const { name, next } = await schedules.schedule(agentId, asked);
        return toResult({ result: { name, nextRunAt: next!.at.toISOString() } });
      } catch (error) {
        return toFailure(error);
      }
    },
  );
  server.registerTool(
    "list_schedules",
    {
      title: "List your schedules",
      description: "Lists the messages that you have scheduled, and the current time.",
      outputSchema: OwnScheduleList,
      annotations: { readOnlyHint: true, openWorldHint: false },
      _meta: alwaysOffered,
    },
    async () => {
      const own = await schedules.list(agentId);
      return toResult({ result: { now: new Date().toISOString(), schedules: own.map(toView) } });
    },
  );
  server.registerTool(
    "cancel_schedule",
    {
      title: "Cancel a schedule",
      description: "Deletes a schedule of yours by its name from list_schedules.",
      inputSchema: cancelArguments,
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
      _meta: alwaysOffered,
    },
    async ({ name }) => {
      try {
        await schedules.cancel(agentId, name);
        return { content: [{ type: "text", text: `Cancelled ${name}.` }] };
      } catch (error) {
        return toFailure(error);
      }
    },
  );
}

function toView({ name, message, cron, timeZone, at, nextRunAt, paused }: OwnSchedule) {
  return { name, message, cron, timeZone, at, paused, nextRunAt: nextRunAt?.toISOString() ?? null };
}
