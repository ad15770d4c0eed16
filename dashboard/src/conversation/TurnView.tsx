import type { Author, Turn } from "@berth/client";
import { Link } from "@tanstack/react-router";
import { ChevronRight, Pencil } from "lucide-react";
import { memo, type ReactNode, startTransition, useEffect, useEffectEvent, useState } from "react";
import { Button, buttonClasses } from "../ui/Button.tsx";
import { CopyButton } from "../ui/CopyButton.tsx";
import { classes } from "../ui/classes.ts";
import { credits } from "../ui/credits.ts";
import { Notice } from "../ui/Notice.tsx";
import { duration, Elapsed, Time } from "../ui/Time.tsx";
import { useAuthor } from "../workspace/use-author.ts";
import { useMay } from "../workspace/use-may.ts";
import { ApprovalCard } from "./ApprovalCard.tsx";
import { Attachments } from "./Attachments.tsx";
import { type Draft, lineOf } from "./draft.ts";
import { FileChanges } from "./FileChanges.tsx";
import { ForkTurn } from "./ForkTurn.tsx";
import { FunctionCall } from "./FunctionCall.tsx";
import { LongText } from "./LongText.tsx";
import { useLiveTurn } from "./live-turns.ts";
import { jsonOf, Output } from "./Output.tsx";
import { Plan } from "./Plan.tsx";
import { phaseWords } from "./phase-words.ts";
import { RestoreTurn } from "./RestoreTurn.tsx";
import { ToolCall, ToolCalls } from "./ToolCall.tsx";
import { TurnButton } from "./TurnButton.tsx";
import { grouped, type ToolGroup } from "./tool-groups.ts";
import { isUnderWay } from "./turn-list.ts";
import { type FunctionPart, failedPhase, isOver, type Part, type Phase } from "./turn-state.ts";

interface TurnProps {
  agent: string;
  turn: Turn;
  /** The agent's machine sleeps. */
  isAsleep: boolean;
  /** It comes into the page while the page is scrolled, and may soon leave it. */
  isPassing?: boolean;
  onEnded: (id: string) => void;
  onEdit: (draft: Draft) => void;
  onSendAgain: (draft: Draft) => void;
}

/** A turn that is scrolled by quickly leaves the page sooner. */
const passingMs = 300;

/** A message and what came of it. */
export const TurnView = memo(
  function TurnView({ agent, turn, isAsleep, isPassing = false, onEnded, onEdit, onSendAgain }: TurnProps) {
    const mayUse = useMay("use");
    const draft: Draft = { text: turn.message, files: turn.attachments };
    const author = useAuthor()(turn.createdBy);
    const stays = useStays(isPassing);
    const { state, isBroken, error, readAgain } = useLiveTurn(agent, turn, stays);
    const hasJustEnded = isOver(state.phase) && isUnderWay(turn);
    const tellEnd = useEffectEvent(() => onEnded(turn.id));
    useEffect(() => {
      if (hasJustEnded) tellEnd();
    }, [hasJustEnded]);
    const isRunning = isUnderWay(turn) && !isOver(state.phase);
    // Events that stopped in the middle are less than the list's content.
    const isPartial = state.parts.length === 0 || (error !== null && !isRunning);
    const stored = partsOf(turn);
    const parts = isPartial && stored.length > 0 ? stored : state.parts;
    const reply = answerOf(parts);
    const waitsFor = parts.find((part) => part.kind === "function" && part.isWaiting) as FunctionPart | undefined;
    const isAsking = parts.some((part) => part.kind === "approval" && part.status === "open");
    const phase = isOver(state.phase) ? state.phase : phaseOf(turn, state.phase);
    return (
      <article
        aria-label={`Turn: ${lineOf(draft).slice(0, 80)}`}
        className={classes("group/turn grid gap-3 pt-6", turn.undone && "undone")}
      >
        {turn.undone && <p className="border-t border-dashed pt-3 text-sm text-muted">Undone by a rollback</p>}
        {author && <p className="-mb-2 truncate text-right text-xs text-muted">{author}</p>}
        {draft.files.length > 0 && (
          <div className="-mb-1 flex justify-end">
            <Attachments agent={agent} attachments={draft.files} onRemove={null} />
          </div>
        )}
        <Message text={draft.text} onEdit={mayUse ? () => onEdit(draft) : null} />
        {grouped(parts).map(({ at, part }) =>
          // It is pinned below while the turn runs.
          isRunning && part.kind === "plan" ? null : (
            <PartView
              key={at}
              agent={agent}
              turnId={turn.id}
              part={part}
              isPlain={!stays}
              isStreaming={isRunning && at === parts.length - 1}
            />
          ),
        )}
        {isRunning && (
          <div className="flex items-center gap-2 text-sm text-muted">
            <span className="size-2 animate-pulse rounded-full bg-accent" aria-hidden />
            <p role="status">
              {runningText({ isBroken, isAsking, waitsFor }) ?? phaseWords(phase, isAsleep, parts.length > 0)}
            </p>
            {turn.status === "running" && <Elapsed since={Date.parse(turn.createdAt)} />}
          </div>
        )}
        {error && (
          <Notice tone="warn" action={<Button onClick={readAgain}>Try again</Button>}>
            {error}
          </Notice>
        )}
        {turn.changes && <FileChanges agent={agent} turnId={turn.id} changes={turn.changes} />}
        <Outcome phase={phase} onSend={mayUse ? onSendAgain : null} draft={draft} />
        {!isRunning && (
          <Facts agent={agent} turn={turn} cost={turn.usage.credits ?? state.usage?.credits ?? null} reply={reply}>
            {mayUse && turn.finishedAt && !turn.undone && (
              <span>
                <ForkTurn agent={agent} turn={turn} />
                <RestoreTurn agent={agent} turn={turn} />
              </span>
            )}
          </Facts>
        )}
      </article>
    );
  },
  (before, after) => before.turn === after.turn && before.isAsleep === after.isAsleep,
);

interface Waits {
  isBroken: boolean;
  isAsking: boolean;
  waitsFor: FunctionPart | undefined;
}

/** Why a running turn does not continue; null: it does. */
function runningText({ isBroken, isAsking, waitsFor }: Waits): string | null {
  if (isBroken) return "The connection broke. Reconnecting…";
  if (isAsking) return "waiting for your answer…";
  return waitsFor ? `waiting for the result of ${waitsFor.name}…` : null;
}

/** Whether it is to be shown in full: at once, or when it has not passed by. */
function useStays(isPassing: boolean): boolean {
  const [stays, setStays] = useState(!isPassing);
  useEffect(() => {
    if (stays) return;
    const timer = setTimeout(() => startTransition(() => setStays(true)), passingMs);
    return () => clearTimeout(timer);
  }, [stays]);
  return stays;
}

/** The list's content, until the events have arrived. */
function partsOf({ reply, output }: Turn): readonly Part[] {
  const said: Part[] = reply === "" ? [] : [{ kind: "text", text: reply }];
  return output ? [...said, { kind: "output", value: output }] : said;
}

/** The text to copy: the output if there is one. */
function answerOf(parts: readonly Part[]): string {
  const output = parts.find((part) => part.kind === "output");
  if (output) return jsonOf(output.value);
  return parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n\n");
}

/** The list's status, until the events have arrived. */
function phaseOf({ status, error }: Turn, live: Phase): Phase {
  if (status === "failed") return failedPhase(error);
  return status === "running" || status === "waiting" || status === "queued" ? live : { name: status };
}

/** `onEdit`: null for a person who may only read. */
function Message({ text, onEdit }: { text: string; onEdit: (() => void) | null }) {
  return (
    <div className="flex items-start justify-end gap-1">
      {onEdit && <TurnButton label="Edit and send again" icon={Pencil} onClick={onEdit} />}
      {text !== "" && (
        <p className="max-w-[85%] rounded-2xl bg-accent-soft px-4 py-2.5 whitespace-pre-wrap wrap-anywhere">{text}</p>
      )}
    </div>
  );
}

interface PartProps {
  agent: string;
  turnId: string;
  part: Part | ToolGroup;
  isPlain: boolean;
  isStreaming: boolean;
}

function PartView({ agent, turnId, part, isPlain, isStreaming }: PartProps) {
  if (part.kind === "approval") return <ApprovalCard agent={agent} turnId={turnId} part={part} />;
  if (part.kind === "plan") return <Plan steps={part.steps} />;
  if (part.kind === "function") return <FunctionCall agent={agent} call={part} />;
  if (part.kind === "tool") return <ToolCall tool={part} />;
  if (part.kind === "tools") return <ToolCalls tools={part.tools} />;
  if (part.kind === "message") return <SteeredMessage text={part.text} createdBy={part.createdBy} />;
  if (part.kind === "warning") return <Notice tone="warn">{part.text}</Notice>;
  if (part.kind === "output") return <Output value={part.value} />;
  if (part.kind === "reasoning") return <Reasoning text={part.text} isStreaming={isStreaming} />;
  return <LongText text={part.text} isPlain={isPlain} isStreaming={isStreaming} />;
}

/** A message that reached the running turn. */
function SteeredMessage({ text, createdBy }: { text: string; createdBy: Author | null }) {
  const author = useAuthor()(createdBy);
  return (
    <div className="grid gap-3">
      {author && <p className="-mb-2 truncate text-right text-xs text-muted">{author}</p>}
      <Message text={text} onEdit={null} />
    </div>
  );
}

function Reasoning({ text, isStreaming }: { text: string; isStreaming: boolean }) {
  return (
    <details className="group/reasoning text-sm text-muted">
      <summary className="flex cursor-pointer list-none items-center gap-1.5">
        <ChevronRight className="size-4 transition-transform group-open/reasoning:rotate-90" aria-hidden />
        {isStreaming ? "Reasoning…" : "Reasoning"}
      </summary>
      <p className="mt-2 ml-2 border-l-2 pl-4 whitespace-pre-wrap wrap-anywhere">{text}</p>
    </details>
  );
}

interface OutcomeProps {
  phase: Phase;
  draft: Draft;
  /** Null for a person who may only read. */
  onSend: ((draft: Draft) => void) | null;
}

/** The message that continues a turn after one of its own limits stopped it. */
const continuation: Draft = { text: "Continue.", files: [] };
const ownLimits: readonly (string | null)[] = ["turn_limit", "caused_limit", "minutes_limit", "tool_calls_limit"];

function Outcome({ phase, draft, onSend }: OutcomeProps) {
  if (phase.name === "cancelled") return <p className="text-sm text-muted">Interrupted.</p>;
  if (phase.name !== "failed") return null;
  const isStopped = ownLimits.includes(phase.limit);
  return (
    <Notice
      tone="bad"
      title={isStopped ? "A limit stopped this turn" : "This turn failed"}
      action={
        onSend && <NextStep phase={phase} onContinue={() => onSend(continuation)} onAgain={() => onSend(draft)} />
      }
    >
      {phase.message}
    </Notice>
  );
}

interface NextStepProps {
  phase: Extract<Phase, { name: "failed" }>;
  onContinue: () => void;
  onAgain: () => void;
}

function NextStep({ phase: { code, limit }, onContinue, onAgain }: NextStepProps) {
  if (ownLimits.includes(limit)) return <Button onClick={onContinue}>Continue</Button>;
  if (code !== "insufficient_credits") return <Button onClick={onAgain}>Send again</Button>;
  return (
    <Link to="/credits" className={buttonClasses()}>
      Credits
    </Link>
  );
}

interface FactsProps {
  agent: string;
  turn: Turn;
  cost: string | null;
  reply: string;
  children: ReactNode;
}

/** When, how long, for how much. */
function Facts({ agent, turn: { id, createdAt, finishedAt }, cost, reply, children }: FactsProps) {
  return (
    <p className="flex min-h-9 flex-wrap items-center gap-x-3 text-xs text-muted">
      <Link
        to="/agents/$name/turns/$turnId"
        params={{ name: agent, turnId: id }}
        className="tap rounded hover:text-ink hover:underline"
      >
        <Time at={createdAt} />
      </Link>
      {finishedAt && <span>{duration(Date.parse(finishedAt) - Date.parse(createdAt))}</span>}
      {cost !== null && <span>{credits(cost)} credits</span>}
      {reply !== "" && <CopyButton text={reply} label="Copy the answer" isSmall />}
      {children}
    </p>
  );
}
