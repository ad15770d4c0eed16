import type { Conversation } from "@berth/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChevronsUpDown, Plus } from "lucide-react";
import { useState } from "react";
import { conversationsQuery } from "../api/queries.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { messageOf } from "../ui/message.ts";
import { Notice } from "../ui/Notice.tsx";
import { useAction } from "../ui/use-action.ts";
import { useMay } from "../workspace/use-may.ts";
import { ConversationRow } from "./ConversationRow.tsx";
import { useCreate, useOpen } from "./use-conversations.ts";

interface BarProps {
  agent: string;
  /** The number of the conversation that is shown. */
  shown: number;
}

/** The title of the conversation that is shown. Opens the list of all, and creates one. */
export function ConversationBar({ agent, shown }: BarProps) {
  const query = useQuery(conversationsQuery(agent));
  const [isOpen, setOpen] = useState(false);
  const open = useOpen();
  const mayUse = useMay("use");
  const create = useAction(useCreate());
  const { title = null, forkedFrom = null } = query.data?.find(({ id }) => id === shown) ?? {};
  return (
    <div className="border-b bg-surface px-3 py-1 md:px-4">
      <div className="mx-auto flex w-full max-w-3xl items-center gap-1">
        <button
          type="button"
          aria-label={`Conversation: ${titleOf({ id: shown, title })}`}
          aria-haspopup="dialog"
          onClick={() => setOpen(true)}
          className="flex min-h-9 min-w-0 items-center gap-1.5 rounded-lg px-2 py-1 text-sm font-medium hover:bg-sunken"
        >
          <span className="truncate">{titleOf({ id: shown, title })}</span>
          <ChevronsUpDown className="size-4 shrink-0 text-muted" aria-hidden />
        </button>
        {mayUse && (
          <Button
            kind="quiet"
            className="ml-auto"
            aria-label="New conversation"
            title="New conversation"
            isBusy={create.isBusy}
            onClick={() => create.run(agent, null)}
          >
            <Plus className="size-4" aria-hidden />
            <span className="max-sm:hidden">New</span>
          </Button>
        )}
      </div>
      {forkedFrom && <Origin agent={agent} from={forkedFrom} conversations={query.data ?? []} />}
      {create.error !== null && <Notice tone="bad">{messageOf(create.error)}</Notice>}
      <Dialog isOpen={isOpen} onClose={() => setOpen(false)} title={`Conversations with ${agent}`}>
        <Loaded query={query}>
          {(conversations) => (
            <ul aria-label="Conversations" className="grid gap-1">
              {conversations.map((conversation) => (
                <ConversationRow
                  key={conversation.id}
                  agent={agent}
                  conversation={conversation}
                  isShown={conversation.id === shown}
                  onOpen={() => {
                    setOpen(false);
                    open(agent, conversation.id);
                  }}
                  onDeleted={() => conversation.id === shown && open(agent, null)}
                />
              ))}
            </ul>
          )}
        </Loaded>
      </Dialog>
    </div>
  );
}

interface OriginProps {
  agent: string;
  from: NonNullable<Conversation["forkedFrom"]>;
  conversations: readonly Conversation[];
}

/** The turn that a conversation continues from. */
function Origin({ agent, from: { conversation, turnId }, conversations }: OriginProps) {
  const title = conversations.find(({ id }) => id === conversation)?.title ?? null;
  return (
    <p className="mx-auto w-full max-w-3xl truncate px-2 pb-1 text-xs text-muted">
      Continues from a turn of{" "}
      <Link to="/agents/$name/turns/$turnId" params={{ name: agent, turnId }} className="underline hover:no-underline">
        {titleOf({ id: conversation, title })}
      </Link>
    </p>
  );
}

function titleOf({ id, title }: { id: number; title: string | null }): string {
  return title ?? `Conversation ${id}`;
}
