import { ChevronRight, CircleAlert, CircleCheck, LoaderCircle } from "lucide-react";
import type { ReactNode } from "react";
import { duration } from "../ui/Time.tsx";
import { Diff } from "./Diff.tsx";
import { diffOf } from "./diff.ts";
import type { ToolPart } from "./turn-state.ts";

/** More would make the page slow; all of it is in the turn's events. */
const shownCharacters = 20_000;

/** A tool's input and output, folded. */
export function ToolCall({ tool }: { tool: ToolPart }) {
  const { title, status, input, output, startedAt, endedAt } = tool;
  const isRunning = status === "in_progress" || status === "pending";
  const Icon = isRunning ? LoaderCircle : status === "failed" ? CircleAlert : CircleCheck;
  const diff = diffOf(input, output);
  return (
    <Folded
      icon={
        <Icon
          className={`size-4 shrink-0 ${isRunning ? "animate-spin text-accent" : status === "failed" ? "text-bad" : "text-good"}`}
          aria-label={isRunning ? "running" : status}
        />
      }
      title={title}
      aside={startedAt !== null && endedAt !== null && duration(endedAt - startedAt)}
    >
      {diff ? <Diff lines={diff} /> : <Block label="Input" value={input} />}
      {output !== undefined && <Block label="Output" value={output} />}
    </Folded>
  );
}

interface FoldedProps {
  icon: ReactNode;
  title: string;
  aside: ReactNode;
  children: ReactNode;
}

/** A call in one line, which opens. */
export function Folded({ icon, title, aside, children }: FoldedProps) {
  return (
    <details className="group/tool rounded-lg border bg-surface text-sm open:shadow-xs">
      <summary className="flex cursor-pointer list-none items-center gap-2 rounded-lg px-3 py-2">
        <ChevronRight
          className="size-4 shrink-0 text-muted transition-transform group-open/tool:rotate-90"
          aria-hidden
        />
        {icon}
        <span className="min-w-0 flex-1 truncate font-mono text-[13px]">{title}</span>
        {aside && <span className="text-muted">{aside}</span>}
      </summary>
      <div className="grid gap-3 border-t px-3 py-3">{children}</div>
    </details>
  );
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
        {text.slice(0, shownCharacters)}
        {text.length > shownCharacters && `\n… ${text.length - shownCharacters} characters more`}
      </pre>
    </div>
  );
}

/** The text of what a tool gave: as it is, or what is inside the usual wrapping, or JSON. */
function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every((each) => typeof each === "object" && each !== null)) {
    const texts = value.map(
      (each) =>
        (each as { text?: unknown; content?: { text?: unknown } }).text ??
        (each as { content?: { text?: unknown } }).content?.text,
    );
    if (texts.every((text) => typeof text === "string")) return texts.join("\n");
  }
  const { command } = value as { command?: unknown };
  if (typeof command === "string" && Object.keys(value).length <= 3) return command;
  return JSON.stringify(value, null, 2);
}
