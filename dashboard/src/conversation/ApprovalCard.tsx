import type { Approval } from "@berth/client";
import { Check, Hand, X } from "lucide-react";
import { useState } from "react";
import { berth } from "../api/client.ts";
import { Button } from "../ui/Button.tsx";
import { Failure } from "../ui/Failure.tsx";
import { Key } from "../ui/Key.tsx";
import { useAction } from "../ui/use-action.ts";
import { useMay } from "../workspace/use-may.ts";
import { Block } from "./ToolCall.tsx";
import type { ApprovalPart } from "./turn-state.ts";
import { useAnswerKeys } from "./use-answer-keys.ts";

export const approvalVerbs: Readonly<Record<Approval["kind"], string>> = {
  read: "read",
  edit: "edit",
  execute: "execute",
  fetch: "fetch from",
  mcp: "call",
  other: "use",
};

const outcomes: Readonly<Record<Exclude<ApprovalPart["status"], "open">, string>> = {
  allow: "Allowed",
  "allow-always": "Always allowed",
  deny: "Denied",
  closed: "Not answered",
};

/** A use of a tool, with everything that a person needs to know before they allow it. */
export function ApprovalCard({ agent, turnId, part }: { agent: string; turnId: string; part: ApprovalPart }) {
  const { request, status } = part;
  const { kind, title, subject, tool, diff, input } = request;
  if (status !== "open") {
    const Icon = status === "deny" || status === "closed" ? X : Check;
    return (
      <p className="flex items-start gap-2 text-sm text-muted">
        <Icon className="mt-0.5 size-4 shrink-0" aria-hidden />
        <span className="min-w-0 wrap-anywhere">
          {outcomes[status]}: {approvalVerbs[kind]} <code className="text-[13px]">{visible(subject ?? title)}</code>
        </span>
      </p>
    );
  }
  return (
    <section aria-label={`Approval: ${title}`} className="grid gap-3 rounded-xl border border-warn bg-surface p-4">
      <p className="flex items-center gap-2 text-sm font-medium">
        <Hand className="size-4 shrink-0 text-warn" aria-hidden />
        {agent} wants to {approvalVerbs[kind]}
      </p>
      <pre className="max-h-80 overflow-auto rounded-lg bg-sunken p-3 text-[13px] whitespace-pre-wrap wrap-anywhere">
        {visible(subject ?? title)}
      </pre>
      <ApprovalDiff diff={diff} />
      {!diff && kind !== "execute" && <Block label={tool ?? "Input"} value={input} />}
      <ApprovalButtons agent={agent} turnId={turnId} id={request.id} hasSubject={subject !== null} hasKeys />
    </section>
  );
}

/** The changes of files that an approval is about. */
export function ApprovalDiff({ diff }: { diff: Approval["diff"] }) {
  return (diff ?? []).map(({ path, oldText, newText }, at) => (
    <Block
      // biome-ignore lint/suspicious/noArrayIndexKey: a file may be changed twice, and the changes never move
      key={at}
      label={visible(oldText === null ? `${path} (new file)` : path)}
      value={visible(changeText(oldText, newText))}
    />
  ));
}

/** The text with invisible characters spelled out: an agent could hide a part of a command with them. */
export function visible(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    character === "\n" || character === "\t" ? character : `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}

function changeText(before: string | null, after: string): string {
  const lines = (sign: string, text: string) => text.split("\n").map((line) => `${sign} ${line}`);
  return [...(before === null ? [] : lines("-", before)), ...lines("+", after)].join("\n");
}

interface ButtonsProps {
  agent: string;
  turnId: string;
  id: string;
  hasSubject: boolean;
  /** Whether the keys `a` and `d` answer it. */
  hasKeys?: boolean;
}

/** Answers an approval. Shown to those who may use the agent. */
export function ApprovalButtons({ agent, turnId, id, hasSubject, hasKeys = false }: ButtonsProps) {
  const mayUse = useMay("use");
  const [isAnswered, setIsAnswered] = useState(false);
  const answer = useAction(async (decision: "allow" | "allow-always" | "deny") => {
    await berth.agent(agent).approvals.answer(turnId, id, { decision });
    setIsAnswered(true);
  });
  const isBusy = answer.isBusy || isAnswered;
  const areKeysHere = useAnswerKeys(id, hasKeys && mayUse && !isBusy ? answer.run : null);
  if (!mayUse) return <p className="text-sm text-muted">Somebody who may use the agent decides.</p>;
  return (
    <div className="mt-2 grid gap-2">
      <div className="flex flex-wrap gap-2">
        <Button kind="primary" disabled={isBusy} onClick={() => answer.run("allow")}>
          Allow {areKeysHere && <Key>a</Key>}
        </Button>
        {hasSubject && (
          <Button disabled={isBusy} onClick={() => answer.run("allow-always")}>
            Always allow this
          </Button>
        )}
        <Button disabled={isBusy} onClick={() => answer.run("deny")}>
          Deny {areKeysHere && <Key>d</Key>}
        </Button>
      </div>
      <Failure of={answer.error} />
    </div>
  );
}
