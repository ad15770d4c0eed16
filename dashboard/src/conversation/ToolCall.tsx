import {
  CircleAlert,
  CircleCheck,
  CircleStop,
  FilePen,
  FileText,
  Globe,
  LoaderCircle,
  type LucideIcon,
  Plug,
  SquareTerminal,
  Wrench,
} from "lucide-react";
import { duration, Elapsed } from "../ui/Time.tsx";
import { AnsiText } from "./AnsiText.tsx";
import { Diff } from "./Diff.tsx";
import { diffOf } from "./diff.ts";
import { Folded } from "./Folded.tsx";
import { isRunning, kindOf, summaryOf, type ToolKind, timeOf } from "./tool-groups.ts";
import { exitCodeOf, textOf } from "./tool-values.ts";
import type { ToolPart } from "./turn-state.ts";

/** More would make the page slow; all of it is in the turn's events. */
const shownCharacters = 20_000;
const previewLines = 5;
const previewCharacters = 2_000;

/** A tool's input and output, folded. */
export function ToolCall({ tool }: { tool: ToolPart }) {
  const { title, status, input, output, startedAt, endedAt } = tool;
  const Kind = kindIcons[kindOf(tool)];
  const diff = diffOf(input, output);
  const exitCode = exitCodeOf(output);
  const end = isRunning(tool) && diff === null ? lastLines(textOf(output)) : "";
  return (
    <Folded
      icon={
        <>
          <StatusIcon status={status} />
          <Kind className="size-4 shrink-0 text-muted" aria-hidden />
        </>
      }
      title={title}
      aside={
        <>
          {exitCode !== null && exitCode !== 0 && <span className="mr-2 text-bad">exit code {exitCode}</span>}
          {startedAt !== null && (isRunning(tool) ? <Elapsed since={startedAt} /> : timeBetween(startedAt, endedAt))}
        </>
      }
      preview={
        end !== "" && (
          <pre className="overflow-hidden px-3 pb-2 font-mono text-[13px] text-ellipsis text-muted">
            <AnsiText text={end} />
          </pre>
        )
      }
    >
      {diff ? <Diff lines={diff} /> : <Block label="Input" value={input} />}
      {output !== undefined && <Block label="Output" value={output} />}
    </Folded>
  );
}

/** Calls in one line, such as `Ran 12 commands, edited 3 files`. */
export function ToolCalls({ tools }: { tools: readonly ToolPart[] }) {
  const time = timeOf(tools);
  const failed = tools.some(({ status }) => status === "failed");
  const isStopped = tools.some(({ status }) => status === "stopped");
  return (
    <Folded
      icon={<StatusIcon status={failed ? "failed" : isStopped ? "stopped" : "completed"} />}
      title={<span className="font-sans text-sm">{summaryOf(tools)}</span>}
      aside={time !== null && duration(time)}
    >
      {tools.map((tool) => (
        <ToolCall key={tool.id} tool={tool} />
      ))}
    </Folded>
  );
}

const kindIcons: Record<ToolKind, LucideIcon> = {
  command: SquareTerminal,
  edit: FilePen,
  read: FileText,
  web: Globe,
  mcp: Plug,
  other: Wrench,
};

function timeBetween(start: number, end: number | null): string | null {
  return end === null ? null : duration(end - start);
}

function StatusIcon({ status }: { status: string }) {
  if (isRunning({ status }))
    return <LoaderCircle className="size-4 shrink-0 animate-spin text-accent" aria-label="running" />;
  if (status === "failed") return <CircleAlert className="size-4 shrink-0 text-bad" aria-label="failed" />;
  if (status === "stopped") return <CircleStop className="size-4 shrink-0 text-muted" aria-label="stopped" />;
  return <CircleCheck className="size-4 shrink-0 text-good" aria-label={status} />;
}

/** The end of what a running call has printed. */
function lastLines(text: string): string {
  return text.slice(-previewCharacters).trimEnd().split("\n").slice(-previewLines).join("\n");
}

export function Block({ label, value }: { label: string; value: unknown }) {
  const text = textOf(value);
  if (text === "") return null;
  return (
    <div className="grid gap-1">
      <p className="text-xs font-medium text-muted">{label}</p>
      <pre
        className="max-h-80 overflow-auto rounded-md bg-sunken p-3 font-mono text-[13px] whitespace-pre-wrap wrap-anywhere"
        tabIndex={0}
      >
        <AnsiText text={text.slice(0, shownCharacters)} />
        {text.length > shownCharacters && `\n… ${text.length - shownCharacters} characters more`}
      </pre>
    </div>
  );
}
