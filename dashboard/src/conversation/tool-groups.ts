import type { Part, ToolPart } from "./turn-state.ts";

const toolKinds = ["command", "edit", "read", "web", "mcp", "other"] as const;
/** The kinds of tools, by the names that the runtimes give them. */
export type ToolKind = (typeof toolKinds)[number];

const names: Record<Exclude<ToolKind, "mcp" | "other">, RegExp> = {
  command: /^(bash|bashoutput|shell|exec|exec_command|execute|run_shell_command|terminal)$/i,
  edit: /^(edit|multiedit|write|write_file|replace|apply_patch|patch|notebookedit)$/i,
  read: /^(read|read_file|read_many_files|grep|glob|ls|list|list_directory|find|search_file_content|grep_search)$/i,
  web: /^(webfetch|web_fetch|websearch|web_search|google_web_search)$/i,
};

export function kindOf({ name }: Pick<ToolPart, "name">): ToolKind {
  if (/^mcp_/.test(name)) return "mcp";
  const known = Object.entries(names).find(([, pattern]) => pattern.test(name));
  return (known?.[0] as ToolKind | undefined) ?? "other";
}

export function isRunning({ status }: Pick<ToolPart, "status">): boolean {
  return status === "in_progress" || status === "pending";
}

/** Calls that have ended, one after the other, which are shown in one line. */
export interface ToolGroup {
  kind: "tools";
  tools: readonly ToolPart[];
}

/** A piece of a reply as it is shown. `at`: a number of its own, which stays the same while parts are added. */
export interface Shown {
  at: number;
  part: Part | ToolGroup;
}

/** Added to the place of a group's first call, which may still run and be shown with its own place. */
const groupOffset = 0.5;

/** Fewer calls are shown one by one. */
const leastOfGroup = 3;

/** Puts neighbouring tool calls together. Those that run follow their group, each in a line of its own. */
export function grouped(parts: readonly Part[]): Shown[] {
  const shown: Shown[] = [];
  for (let at = 0; at < parts.length; ) {
    const run = runAt(parts, at);
    const ended = run.filter((tool) => !isRunning(tool));
    if (ended.length < leastOfGroup) {
      const single = parts.slice(at, at + Math.max(run.length, 1));
      shown.push(...single.map((part, index) => ({ at: at + index, part })));
    } else {
      shown.push({ at: at + groupOffset, part: { kind: "tools", tools: ended } });
      for (const [index, tool] of run.entries()) if (isRunning(tool)) shown.push({ at: at + index, part: tool });
    }
    at += Math.max(run.length, 1);
  }
  return shown;
}

function runAt(parts: readonly Part[], from: number): ToolPart[] {
  const run: ToolPart[] = [];
  for (let part = parts[from]; part?.kind === "tool"; part = parts[from + run.length]) run.push(part);
  return run;
}

/** `Ran 12 commands, edited 3 files, 1 failed`. */
export function summaryOf(tools: readonly ToolPart[]): string {
  const texts = toolKinds.flatMap((kind) => {
    const calls = tools.filter((tool) => kindOf(tool) === kind);
    return calls.length === 0 ? [] : [words[kind](calls)];
  });
  const failed = tools.filter(({ status }) => status === "failed").length;
  if (failed > 0) texts.push(`${failed} failed`);
  const text = texts.join(", ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const words: Record<ToolKind, (calls: readonly ToolPart[]) => string> = {
  command: (calls) => `ran ${count(calls.length, "command")}`,
  edit: (calls) => `edited ${count(new Set(calls.map(fileOf)).size, "file")}`,
  read: (calls) => `looked at files ${calls.length === 1 ? "once" : `${calls.length} times`}`,
  web: (calls) => `fetched ${count(calls.length, "page")}`,
  mcp: (calls) => `called ${count(calls.length, "tool")} of MCP servers`,
  other: (calls) => `used ${count(calls.length, "other tool")}`,
};

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** The file that a call changes; calls whose file is not known count as one each. */
function fileOf({ id, input }: ToolPart): string {
  const { file_path: file, path } = (input ?? {}) as { file_path?: unknown; path?: unknown };
  return [file, path].find((each) => typeof each === "string") ?? id;
}

/** From the first call's start to the last one's end, in milliseconds; null: a time is not known. */
export function timeOf(tools: readonly ToolPart[]): number | null {
  const starts = tools.map(({ startedAt }) => startedAt);
  const ends = tools.map(({ endedAt }) => endedAt);
  if (starts.includes(null) || ends.includes(null)) return null;
  return Math.max(...(ends as number[])) - Math.min(...(starts as number[]));
}
