import { Link } from "@tanstack/react-router";
import { ArrowUp, ChevronUp, CornerDownRight, Pencil, Square, X } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";
import { isRefusal } from "../api/client.ts";
import { Button, buttonClasses } from "../ui/Button.tsx";
import { messageOf } from "../ui/message.ts";
import { Notice } from "../ui/Notice.tsx";
import { Attachments } from "./Attachments.tsx";
import { type Draft, emptyDraft, isEmpty, lineOf } from "./draft.ts";
import { DropZone, FileButtons } from "./FileInputs.tsx";
import { MessageField } from "./MessageField.tsx";
import { useAttaching } from "./use-attaching.ts";
import type { useSender } from "./use-sender.ts";

interface ComposerProps {
  agent: string;
  /** The texts of the conversation's messages, the newest last. */
  sent: readonly string[];
  /** Shown below the message. */
  bar: ReactNode;
  draft: Draft;
  onDraft: (draft: Draft) => void;
  sender: ReturnType<typeof useSender>;
  /** Null while nothing runs. */
  onInterrupt: (() => void) | null;
}

/** Where messages are written, below those that wait. */
export function Composer({ agent, sent, bar, draft, onDraft, sender, onInterrupt }: ComposerProps) {
  // Uploads end later, in a draft that may have changed since.
  const current = useRef(draft);
  useEffect(() => {
    current.current = draft;
  }, [draft]);
  const change = (changes: Partial<Draft>) => {
    current.current = { ...current.current, ...changes };
    onDraft(current.current);
  };
  const { uploading, problem, attach } = useAttaching(agent, draft.files.length, (file) =>
    change({ files: [...current.current.files, file] }),
  );
  const cannotSend = isEmpty(draft) || uploading.length > 0;
  const send = (steers: boolean) => {
    if (cannotSend) return;
    sender.add({ ...draft, text: draft.text.trim(), steers });
    change(emptyDraft);
  };
  const steer = () => send(sender.canSteer && draft.files.length === 0);
  const edit = (edited: Draft, remove: () => void) => {
    change(edited);
    remove();
  };
  return (
    <div className="px-3 pb-[max(0.75rem,env(safe-area-inset-bottom))] md:px-4">
      <div className="mx-auto grid w-full max-w-3xl gap-2">
        {sender.refusal !== null && <Refused error={sender.refusal} onAgain={sender.again} />}
        {sender.problem !== null && (
          <Notice tone="bad" title="The queue was not changed">
            {messageOf(sender.problem)}
          </Notice>
        )}
        {sender.held !== null && <Held sender={sender} />}
        {sender.queue.length + sender.unsent.length > 0 && <Queue sender={sender} onEdit={edit} />}
        {problem !== null && (
          <Notice tone="bad" title="A file was not attached">
            {problem}
          </Notice>
        )}
        <DropZone onFiles={attach}>
          {draft.files.length + uploading.length > 0 && (
            <div className="grid w-full gap-2 p-1">
              <Attachments
                agent={agent}
                attachments={draft.files}
                onRemove={(id) => change({ files: current.current.files.filter((file) => file.id !== id) })}
              />
              {uploading.length > 0 && (
                <p role="status" className="truncate text-sm text-muted">
                  Uploading {uploading.join(", ")}…
                </p>
              )}
            </div>
          )}
          <FileButtons onFiles={attach} />
          <MessageField
            agent={agent}
            placeholder={sender.isBusy ? "Begins when the agent has answered" : "Message"}
            text={draft.text}
            sent={sent}
            onText={(text) => change({ text })}
            onFiles={attach}
            onSend={() => send(false)}
            onSteer={steer}
          />
          {sender.canSteer && draft.files.length === 0 && (
            <Button
              aria-label="Steer"
              title="Steer: the agent considers it before its next step (Ctrl-Enter)"
              disabled={cannotSend}
              onClick={steer}
            >
              <CornerDownRight className="size-4" aria-hidden />
            </Button>
          )}
          {onInterrupt && (
            <Button aria-label="Interrupt" title="Interrupt (Esc)" onClick={onInterrupt}>
              <Square className="size-4 fill-current" aria-hidden />
            </Button>
          )}
          <Button
            kind="primary"
            aria-label={sender.isBusy ? "Add to the queue" : "Send"}
            disabled={cannotSend}
            title={sender.isBusy ? "Queue: begins when the agent has answered (Enter)" : undefined}
            onClick={() => send(false)}
          >
            <ArrowUp className="size-4" aria-hidden />
          </Button>
        </DropZone>
        {bar}
      </div>
    </div>
  );
}

interface QueueProps extends Pick<ComposerProps, "sender"> {
  onEdit: (draft: Draft, remove: () => void) => void;
}

/** Messages that wait until the agent has answered, then those that the service has not taken yet. */
function Queue({ sender, onEdit }: QueueProps) {
  return (
    <ol aria-label="Queued messages" className="grid max-h-[30vh] gap-1 overflow-y-auto">
      {sender.queue.map((turn) => (
        <Waiting
          key={turn.id}
          message={lineOf({ text: turn.message, files: turn.attachments })}
          onMoveUp={turn.position > 1 ? () => sender.moveUp(turn) : null}
          onEdit={() => onEdit({ text: turn.message, files: turn.attachments }, () => sender.remove(turn))}
          onRemove={() => sender.remove(turn)}
        />
      ))}
      {sender.unsent.map((draft, at) => (
        <Waiting
          // biome-ignore lint/suspicious/noArrayIndexKey: the same may wait twice
          key={`${at} ${draft.text}`}
          message={lineOf(draft)}
          onMoveUp={null}
          onEdit={() => onEdit(draft, () => sender.removeUnsent(at))}
          onRemove={() => sender.removeUnsent(at)}
        />
      ))}
    </ol>
  );
}

interface WaitingProps {
  message: string;
  /** Null for the first. */
  onMoveUp: (() => void) | null;
  onEdit: () => void;
  onRemove: () => void;
}

function Waiting({ message, onMoveUp, onEdit, onRemove }: WaitingProps) {
  return (
    <li className="flex items-center gap-1 rounded-lg border border-dashed bg-surface py-0.5 pr-1 pl-3 text-sm">
      <span className="min-w-0 flex-1 truncate text-muted">{message}</span>
      {onMoveUp && (
        <Button kind="quiet" aria-label={`Move up: ${message}`} onClick={onMoveUp}>
          <ChevronUp className="size-4" aria-hidden />
        </Button>
      )}
      <Button kind="quiet" aria-label={`Edit: ${message}`} onClick={onEdit}>
        <Pencil className="size-4" aria-hidden />
      </Button>
      <Button kind="quiet" aria-label={`Remove: ${message}`} onClick={onRemove}>
        <X className="size-4" aria-hidden />
      </Button>
    </li>
  );
}

function Held({ sender: { queue, held, resume, discard } }: Pick<ComposerProps, "sender">) {
  const count = queue.length === 1 ? "1 message is held" : `${queue.length} messages are held`;
  return (
    <Notice
      title={count}
      action={
        <span className="flex gap-2">
          <Button onClick={resume}>Continue</Button>
          <Button kind="quiet" onClick={discard}>
            Discard
          </Button>
        </span>
      }
    >
      {held === "failed" ? "The turn before failed." : "The turn before was interrupted."}
    </Notice>
  );
}

function Refused({ error, onAgain }: { error: unknown; onAgain: () => void }) {
  return (
    <Notice
      tone="bad"
      title="The message was not sent"
      action={
        <span className="flex gap-2">
          {isRefusal(error, "insufficient_credits") && (
            <Link to="/credits" className={buttonClasses()}>
              Credits
            </Link>
          )}
          <Button onClick={onAgain}>Send again</Button>
        </span>
      }
    >
      {messageOf(error)}
    </Notice>
  );
}
