import { z } from "zod";
import type { Diff } from "../contract/approval-fields.ts";
import type { TurnEvent } from "../contract/chat.ts";
import type { ProposedUse } from "./approvals.ts";

const Change = z.object({
  path: z.string(),
  /** A moved file has the path that it gets. */
  kind: z.object({ type: z.string(), move_path: z.string().nullish() }),
  diff: z.string(),
});

/** The items of a Codex thread that use tools. Others, such as texts, have a type that is not here. */
const ToolItem = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("commandExecution"),
    id: z.string(),
    command: z.string(),
    status: z.string(),
    aggregatedOutput: z.string().nullish(),
    exitCode: z.number().nullish(),
  }),
  z.object({ type: z.literal("fileChange"), id: z.string(), changes: z.array(Change), status: z.string() }),
  z.object({
    type: z.literal("mcpToolCall"),
    id: z.string(),
    server: z.string(),
    tool: z.string(),
    status: z.string(),
    arguments: z.unknown().optional(),
    result: z.unknown().optional(),
    error: z.unknown().optional(),
  }),
]);
type ToolItem = z.infer<typeof ToolItem>;

/** The notifications `item/started` and `item/completed`. */
export const ItemNotification = z.object({
  threadId: z.string(),
  turnId: z.string(),
  item: z.looseObject({ type: z.string(), id: z.string(), text: z.string().optional() }),
});

/** The use of a tool in an item; undefined for an item of another kind. */
export function toolIn(item: unknown): ToolItem | undefined {
  return ToolItem.safeParse(item).data;
}

/** The event for a tool's item that has started or is complete. */
export function toolEvent(item: ToolItem, isComplete: boolean): TurnEvent {
  const status = isComplete ? (item.status === "completed" ? "completed" : "failed") : "in_progress";
  const output = isComplete ? outputOf(item) : null;
  return {
    type: isComplete ? "response.tool_call.completed" : "response.tool_call.started",
    id: item.id,
    ...namesOf(item),
    status,
    input: inputOf(item),
    ...(output === null ? {} : { output }),
  };
}

function namesOf(item: ToolItem): { name: string; title: string } {
  switch (item.type) {
    case "commandExecution":
      return { name: "exec_command", title: scriptOf(item.command) };
    case "fileChange":
      return { name: "apply_patch", title: item.changes.map(({ path }) => path).join(", ") };
    case "mcpToolCall":
      return { name: `mcp__${item.server}__${item.tool}`, title: `${item.server}/${item.tool}` };
  }
}

function inputOf(item: ToolItem): unknown {
  switch (item.type) {
    case "commandExecution":
      return { command: scriptOf(item.command) };
    case "fileChange":
      return { changes: item.changes };
    case "mcpToolCall":
      return item.arguments;
  }
}

function outputOf(item: ToolItem): unknown {
  switch (item.type) {
    case "commandExecution":
      return item.aggregatedOutput ?? null;
    case "fileChange":
      // As ACP reports changes, which editors show.
      return item.changes.map((change) => ({ type: "diff", ...diffOf(change) }));
    case "mcpToolCall":
      return item.error ?? item.result ?? null;
  }
}

/** Where a word of a shell's command line consists of these alone, it is in quotes of one kind or the other. */
const quoted = /'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|([^'"\\\s]+)/gy;

/** The script in a command line `/bin/bash -c SCRIPT`, as Codex reports its commands; other lines as they are. */
export function scriptOf(line: string): string {
  const [start] = /^\/bin\/bash -l?c /.exec(line) ?? [];
  if (start === undefined) return line;
  let script = "";
  let end = start.length;
  quoted.lastIndex = end;
  for (let found = quoted.exec(line); found; found = quoted.exec(line)) {
    script += found[1] ?? found[2]?.replaceAll(/\\([$`"\\])/g, "$1") ?? found[3];
    end = quoted.lastIndex;
  }
  return end === line.length ? script : line;
}

const CommandRequest = z.object({ itemId: z.string(), command: z.string().nullish() });

/** The use that `item/commandExecution/requestApproval` asks about: a command, or input to one that runs. */
export function commandUse(params: unknown): ProposedUse {
  const { itemId, command } = CommandRequest.parse(params);
  const script = scriptOf(command ?? "");
  return {
    kind: "execute",
    subject: script,
    title: script || "a command",
    tool: "exec_command",
    toolCallId: itemId,
    input: { command: script },
    diff: null,
  };
}

const ToolRequest = z.object({
  serverName: z.string(),
  _meta: z.object({
    codex_approval_kind: z.literal("mcp_tool_call"),
    tool_name: z.string(),
    tool_params: z.unknown().optional(),
  }),
});

/** The use that `mcpServer/elicitation/request` asks about; null: it is a question of the server's own. */
export function mcpUse(params: unknown): ProposedUse | null {
  const request = ToolRequest.safeParse(params).data;
  if (!request) return null;
  const { tool_name, tool_params } = request._meta;
  const subject = `${request.serverName}/${tool_name}`;
  const tool = `mcp__${request.serverName}__${tool_name}`;
  return { kind: "mcp", subject, title: subject, tool, toolCallId: null, input: tool_params ?? null, diff: null };
}

/** The changes of a patch. Each needs a permission. */
export function fileUses(item: ToolItem | undefined): ProposedUse[] {
  if (item?.type !== "fileChange") return [];
  const moved = item.changes.flatMap(({ kind, ...change }) =>
    kind.move_path ? [{ ...change, path: kind.move_path, kind: { type: "move to" } }] : [],
  );
  return [...item.changes, ...moved].map((change) => ({
    kind: "edit",
    subject: change.path,
    title: `${change.kind.type} ${change.path}`,
    tool: "apply_patch",
    toolCallId: item.id,
    input: { path: change.path, diff: change.diff },
    diff: [diffOf(change)],
  }));
}

/** A new or deleted file comes with its text, a changed one with a unified diff. */
function diffOf({ path, kind, diff }: z.infer<typeof Change>): Diff {
  if (kind.type === "add") return { path, oldText: null, newText: diff };
  if (kind.type === "delete") return { path, oldText: diff, newText: "" };
  const lines = diff.split("\n").filter((line) => /^[ +-]/.test(line));
  const side = (sign: string) =>
    lines
      .filter((line) => line.startsWith(sign) || line.startsWith(" "))
      .map((line) => line.slice(1))
      .join("\n");
  return { path, oldText: side("-"), newText: side("+") };
}
