import type { Turn, Usage } from "@berth/client";
import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { ArrowDown } from "lucide-react";
import { useEffect, useEffectEvent, useLayoutEffect, useMemo, useRef, useState } from "react";
import { useAgentName } from "../agent/agent-name.ts";
import { berth } from "../api/client.ts";
import { removeFirstPage } from "../api/first-answers.ts";
import { agentQuery, runtimesQuery } from "../api/queries.ts";
import { readIfSeen, useReadOnceShown } from "../inbox/use-read-once-shown.ts";
import { Loaded } from "../ui/Loaded.tsx";
import { useStoredState } from "../ui/stored-state.ts";
import { useMay } from "../workspace/use-may.ts";
import { Attachments } from "./Attachments.tsx";
import { Composer } from "./Composer.tsx";
import { ComposerBar } from "./ComposerBar.tsx";
import { ConversationBar } from "./ConversationBar.tsx";
import { type Draft, emptyDraft, isEmpty } from "./draft.ts";
import { NoTurns } from "./NoTurns.tsx";
import { PinnedPlan } from "./Plan.tsx";
import { ReplacedDraft } from "./ReplacedDraft.tsx";
import { ScrollButton, ToError } from "./ScrollButtons.tsx";
import { Spoken } from "./Spoken.tsx";
import { TurnView } from "./TurnView.tsx";
import { isUnderWay, useTurns } from "./turn-list.ts";
import { useSender } from "./use-sender.ts";
import { useTurnScroll } from "./use-turn-scroll.ts";

export function Conversation() {
  const name = useAgentName();
  const { data: agent } = useQuery(agentQuery(name));
  const { conversation = agent?.conversation ?? 1 } = useSearch({ from: "/shell/agents/$name/" });
  return <ConversationWith key={`${name} ${conversation}`} name={name} conversation={conversation} />;
}

function ConversationWith({ name, conversation }: { name: string; conversation: number }) {
  const { data: agent } = useQuery(agentQuery(name));
  const { query, turns, begun, ended } = useTurns(name, conversation);
  useLayoutEffect(() => {
    if (!query.isPending) removeFirstPage();
  }, [query.isPending]);
  const [draft, setDraft] = useStoredState(`message ${name} ${conversation}`, emptyDraft);
  const [replaced, setReplaced] = useState<Draft | null>(null);
  // Turns that do not change keep the function of an earlier draft.
  const written = useRef(draft);
  useEffect(() => {
    written.current = draft;
  }, [draft]);
  const edit = (edited: Draft) => {
    setReplaced(isEmpty(written.current) ? null : written.current);
    setDraft(edited);
  };
  const mayUse = useMay("use");
  const running = turns.findLast(isUnderWay);
  const takesMessages = useTakesMessages(agent?.runtime);
  const sender = useSender(name, {
    conversation,
    isRunning: running !== undefined,
    canSteer: takesMessages && running?.status === "running",
    onBegun: begun,
  });
  const sent = useMemo(() => turns.map(({ message }) => message).filter((text) => text !== ""), [turns]);
  const interrupt = () => {
    if (!running || !mayUse) return;
    // It may have ended in the same moment; then there is nothing to do.
    void berth
      .agent(name)
      .cancel(running.id)
      .catch(() => {});
  };
  useEscape(interrupt);
  useReadOnceShown(name, conversation);
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <ConversationBar agent={name} shown={conversation} />
      <Spoken agent={name} running={running} />
      <Loaded query={query}>
        {() =>
          agent && turns.length === 0 && sender.sending === null ? (
            <NoTurns agent={agent} conversation={conversation} onSuggest={(text) => setDraft({ ...draft, text })} />
          ) : (
            <Turns
              agent={name}
              isAsleep={agent?.status === "suspended"}
              turns={turns}
              sender={sender}
              onOlder={query.hasNextPage && !query.isFetchingNextPage ? () => void query.fetchNextPage() : null}
              onEnded={(id) => {
                readIfSeen(name, id);
                void ended(id).catch(() => {});
              }}
              onEdit={edit}
            />
          )
        }
      </Loaded>
      {running && <PinnedPlan agent={name} turn={running} />}
      {replaced !== null && (
        <ReplacedDraft draft={replaced} onRestore={() => setDraft(replaced)} onEnd={() => setReplaced(null)} />
      )}
      {mayUse ? (
        <Composer
          agent={name}
          sent={sent}
          bar={agent && <ComposerBar agent={agent} usage={usageOf(turns)} />}
          draft={draft}
          onDraft={setDraft}
          sender={sender}
          onInterrupt={running ? interrupt : null}
        />
      ) : (
        <p className="border-t px-4 py-3 text-center text-sm text-muted">
          You are a viewer of this workspace. You can read, but not send messages.
        </p>
      )}
    </div>
  );
}

/** The usage of the newest turn that called a model. */
function usageOf(turns: readonly Turn[]): Usage | null {
  return turns.findLast(({ usage }) => usage.contextTokens !== null)?.usage ?? null;
}

/** Whether a runtime takes messages while it works. */
function useTakesMessages(runtime: string | undefined): boolean {
  const { data: runtimes = [] } = useQuery(runtimesQuery);
  return runtimes.find(({ name }) => name === runtime)?.abilities.steer?.supported ?? false;
}

function useEscape(act: () => void): void {
  const press = useEffectEvent((event: KeyboardEvent) => {
    if (event.key !== "Escape" || event.defaultPrevented || document.querySelector("[role=dialog]")) return;
    // It means something else in an editor or a terminal.
    if (!(event.target instanceof Element && event.target.closest("[data-side]"))) act();
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent) => press(event);
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, []);
}

interface TurnsProps {
  agent: string;
  isAsleep: boolean;
  turns: readonly Turn[];
  sender: ReturnType<typeof useSender>;
  /** Null while there are none, or they are on their way. */
  onOlder: (() => void) | null;
  onEnded: (id: string) => void;
  onEdit: (draft: Draft) => void;
}

/** The turns. Only those in view are in the page. */
function Turns({ agent, isAsleep, turns, sender, onOlder, onEnded, onEdit }: TurnsProps) {
  const { sending } = sender;
  const { scroller, virtualizer, isAtEnd } = useTurnScroll({ turns, sending, onOlder });
  return (
    <div className="relative min-h-0 flex-1">
      <section
        ref={scroller}
        aria-label="Conversation"
        tabIndex={0}
        className="h-full overflow-y-auto overflow-x-hidden px-4 [overflow-anchor:none] focus-visible:-outline-offset-2"
      >
        <div className="relative mx-auto w-full max-w-3xl" style={{ height: virtualizer.getTotalSize() }}>
          {virtualizer.getVirtualItems().map(({ key, index, start }) => (
            <div
              key={key}
              ref={virtualizer.measureElement}
              data-index={index}
              className="absolute inset-x-0 top-0"
              style={{ transform: `translateY(${start}px)` }}
            >
              <TurnView
                agent={agent}
                turn={turns[index]!}
                isAsleep={isAsleep}
                isPassing={virtualizer.isScrolling}
                onEnded={onEnded}
                onEdit={onEdit}
                onSendAgain={sender.add}
              />
            </div>
          ))}
        </div>
        {sending !== null && <Sending agent={agent} draft={sending} />}
      </section>
      <div className="absolute right-4 bottom-3 flex gap-2">
        <ToError turns={turns} agent={agent} virtualizer={virtualizer} />
        {!isAtEnd && <ScrollButton label="Jump to latest" icon={ArrowDown} onClick={() => virtualizer.scrollToEnd()} />}
      </div>
    </div>
  );
}

/** On its way to the service. */
function Sending({ agent, draft: { text, files } }: { agent: string; draft: Draft }) {
  return (
    <div className="mx-auto w-full max-w-3xl pb-6">
      {files.length > 0 && (
        <div className="mb-2 flex justify-end">
          <Attachments agent={agent} attachments={files} onRemove={null} />
        </div>
      )}
      {text !== "" && (
        <p className="ml-auto w-fit max-w-[85%] rounded-2xl bg-accent-soft px-4 py-2.5 whitespace-pre-wrap wrap-anywhere">
          {text}
        </p>
      )}
      <p className="mt-3 text-sm text-muted">sending…</p>
    </div>
  );
}
