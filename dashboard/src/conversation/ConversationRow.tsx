import type { Conversation } from "@berth/client";
import { useQueryClient } from "@tanstack/react-query";
import { Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import { berth } from "../api/client.ts";
import { agentQuery, conversationsQuery, turnsKey } from "../api/queries.ts";
import { Badge } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { Confirm } from "../ui/Confirm.tsx";
import { classes } from "../ui/classes.ts";
import { Input } from "../ui/Field.tsx";
import { Form } from "../ui/Form.tsx";
import { messageOf } from "../ui/message.ts";
import { Notice } from "../ui/Notice.tsx";
import { Time } from "../ui/Time.tsx";
import { useAction } from "../ui/use-action.ts";
import { useMay } from "../workspace/use-may.ts";

interface RowProps {
  agent: string;
  conversation: Conversation;
  isShown: boolean;
  onOpen: () => void;
  onDeleted: () => void;
}

/** A conversation in the list: opens it, and changes or deletes it. */
export function ConversationRow({ agent, conversation, isShown, onOpen, onDeleted }: RowProps) {
  const { id, current, createdAt, lastTurnAt } = conversation;
  const title = conversation.title ?? `Conversation ${id}`;
  const queries = useQueryClient();
  const mayUse = useMay("use");
  const [isRenaming, setRenaming] = useState(false);
  const { conversations } = berth.agent(agent);
  const refresh = () => queries.invalidateQueries({ queryKey: conversationsQuery(agent).queryKey });
  const use = useAction(async () => {
    await conversations.change(String(id), { current: true });
    onOpen();
    await Promise.all([refresh(), queries.invalidateQueries({ queryKey: agentQuery(agent).queryKey })]);
  });
  const remove = async () => {
    await conversations.remove(String(id));
    onDeleted();
    await Promise.all([refresh(), queries.invalidateQueries({ queryKey: turnsKey(agent) })]);
  };
  if (isRenaming) {
    return (
      <li>
        <Rename agent={agent} id={id} title={conversation.title ?? ""} onDone={() => setRenaming(false)} />
      </li>
    );
  }
  return (
    <li className={classes("grid gap-1 rounded-lg", isShown && "bg-accent-soft")}>
      <div className="flex items-center gap-1 pr-1">
        <button
          type="button"
          aria-current={isShown ? "page" : undefined}
          onClick={onOpen}
          className="grid min-h-11 min-w-0 flex-1 rounded-lg px-3 py-1.5 text-left hover:bg-sunken"
        >
          <span className="truncate text-sm font-medium">{title}</span>
          <span className="flex items-center gap-2 text-xs text-muted">
            <Time at={lastTurnAt ?? createdAt} />
            {current && <Badge>current</Badge>}
          </span>
        </button>
        {mayUse && !current && (
          <Button kind="quiet" isBusy={use.isBusy} onClick={() => use.run()} aria-label={`Make current: ${title}`}>
            Use
          </Button>
        )}
        {mayUse && (
          <Button kind="quiet" aria-label={`Rename: ${title}`} onClick={() => setRenaming(true)}>
            <Pencil className="size-4" aria-hidden />
          </Button>
        )}
        {mayUse && !current && (
          <Confirm
            trigger={(open) => (
              <Button kind="quiet" aria-label={`Delete: ${title}`} onClick={open}>
                <Trash2 className="size-4" aria-hidden />
              </Button>
            )}
            title={`Delete “${title}”?`}
            action="Delete"
            onConfirm={remove}
          >
            Its messages and replies are deleted. Files and charges stay.
          </Confirm>
        )}
      </div>
      {use.error !== null && <Notice tone="bad">{messageOf(use.error)}</Notice>}
    </li>
  );
}

function Rename({ agent, id, title, onDone }: { agent: string; id: number; title: string; onDone: () => void }) {
  const queries = useQueryClient();
  const [text, setText] = useState(title);
  const rename = useAction(async () => {
    await berth.agent(agent).conversations.change(String(id), { title: text });
    await queries.invalidateQueries({ queryKey: conversationsQuery(agent).queryKey });
    onDone();
  });
  return (
    <Form of={rename} onSubmit={() => rename.run()}>
      <div className="flex items-center gap-1">
        <Input
          aria-label="Title"
          autoFocus
          value={text}
          maxLength={200}
          onChange={(event) => setText(event.target.value)}
        />
        <Button type="submit" kind="primary" isBusy={rename.isBusy} disabled={text.trim() === ""}>
          Save
        </Button>
        <Button kind="quiet" onClick={onDone}>
          Cancel
        </Button>
      </div>
      {rename.error !== null && <Notice tone="bad">{messageOf(rename.error)}</Notice>}
    </Form>
  );
}
