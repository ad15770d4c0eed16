import { authorText, type Turn } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { ChevronLeft } from "lucide-react";
import type { ReactNode } from "react";
import { agentQuery, turnQuery } from "../api/queries.ts";
import { type Draft, emptyDraft } from "../conversation/draft.ts";
import { PinnedPlan } from "../conversation/Plan.tsx";
import { TurnView } from "../conversation/TurnView.tsx";
import { isUnderWay } from "../conversation/turn-list.ts";
import { CopyButton } from "../ui/CopyButton.tsx";
import { credits } from "../ui/credits.ts";
import { Loaded } from "../ui/Loaded.tsx";
import { Empty } from "../ui/Notice.tsx";
import { useStoredState } from "../ui/stored-state.ts";
import { duration, Time } from "../ui/Time.tsx";
import { chosenWorkspace } from "../workspace/choice.ts";
import { useAgentName } from "./agent-name.ts";
import { Tab } from "./Tab.tsx";
import { TurnBadge } from "./TurnBadge.tsx";

const number = new Intl.NumberFormat("en");

/** A single turn: its messages, its tools, and its usage. */
export function TurnPage() {
  const name = useAgentName();
  const { turnId } = useParams({ from: "/shell/agents/$name/turns/$turnId" });
  const query = useQuery(turnQuery(name, turnId));
  return (
    <Tab>
      <div className="grid gap-4">
        <div className="flex items-center justify-between gap-2">
          <Link
            to="/agents/$name/turns"
            params={{ name }}
            className="tap -ml-1 flex w-fit items-center gap-1 rounded text-sm text-muted hover:text-ink"
          >
            <ChevronLeft className="size-4" aria-hidden /> All turns
          </Link>
          <CopyButton text={linkTo(name, turnId)} label="Copy link" />
        </div>
        <Loaded
          key={turnId}
          query={query}
          missing={<Empty title="There is no such turn">Choose one of the others.</Empty>}
        >
          {(turn) => <Whole agent={name} turn={turn} />}
        </Loaded>
      </div>
    </Tab>
  );
}

/** Also opens for another member, who may be in another workspace. */
function linkTo(agent: string, turnId: string): string {
  return `${location.origin}/-/agents/${agent}/turns/${turnId}?workspace=${chosenWorkspace() ?? "personal"}`;
}

function Whole({ agent: name, turn }: { agent: string; turn: Turn }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { data: agent } = useQuery(agentQuery(name));
  const [, setDraft] = useStoredState(`message ${name} ${turn.conversation}`, emptyDraft);
  const write = (draft: Draft) => {
    setDraft(draft);
    void navigate({ to: "/agents/$name", params: { name }, search: { conversation: turn.conversation } });
  };
  return (
    <>
      <Facts turn={turn} />
      <TurnView
        agent={name}
        turn={turn}
        isAsleep={agent?.status === "suspended"}
        onEnded={(id) => void queries.invalidateQueries({ queryKey: turnQuery(name, id).queryKey })}
        onEdit={write}
        onSendAgain={write}
      />
      {isUnderWay(turn) && <PinnedPlan agent={name} turn={turn} />}
    </>
  );
}

/** How much of its model's context the conversation takes; null: not known. */
function contextText({ contextTokens, contextLimit }: Turn["usage"]): string | null {
  if (contextTokens === null) return null;
  if (contextLimit === null) return `${number.format(contextTokens)} tokens`;
  const share = Math.round((100 * contextTokens) / contextLimit);
  return `${number.format(contextTokens)} of ${number.format(contextLimit)} tokens, ${share} %`;
}

function Facts({ turn }: { turn: Turn }) {
  const { id, status, undone, model, effort, conversation, createdAt, finishedAt, usage, error, askedBy, createdBy } =
    turn;
  const facts: [string, ReactNode][] = [
    ["Status", <TurnBadge key="status" status={status} undone={undone} />],
    ["Model", model ?? "the runtime's default"],
    ["Effort", effort],
    ["Conversation", conversation],
    ["Began", <Time key="began" at={createdAt} />],
    ["Took", finishedAt && duration(Date.parse(finishedAt) - Date.parse(createdAt))],
    ["Credits", usage.credits !== null && credits(usage.credits)],
    ["Tokens in", `${number.format(usage.inputTokens)}, ${number.format(usage.cacheReadTokens)} of them cached`],
    ["Tokens out", `${number.format(usage.outputTokens)}, ${number.format(usage.reasoningTokens)} of them reasoning`],
    ["Context", contextText(usage)],
    [
      "Asked by",
      askedBy && (
        <Link
          key="asked"
          to="/agents/$name/turns/$turnId"
          params={{ name: askedBy.agent, turnId: askedBy.turnId }}
          className="underline"
        >
          {askedBy.agent}
        </Link>
      ),
    ],
    ["Created by", askedBy === null && createdBy && authorText(createdBy)],
    ["Error", error && <code className="font-mono text-[13px]">{error.code}</code>],
    [
      "Id",
      <code key="id" className="font-mono text-[13px] wrap-anywhere">
        {id}
      </code>,
    ],
  ];
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-3 rounded-xl border bg-surface p-4 text-sm lg:grid-cols-3">
      {facts.map(
        ([label, value]) =>
          value && (
            <div key={label} className="grid content-start gap-0.5">
              <dt className="text-muted">{label}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}
