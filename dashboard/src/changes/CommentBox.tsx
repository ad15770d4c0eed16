import { useEffect, useRef } from "react";
import { Button } from "../ui/Button.tsx";
import { TextArea } from "../ui/Field.tsx";
import { type Comment, type Comments, keyOf, maximumCommentLength } from "./comments.ts";

/** A comment on a line, or the form to write it. */
export function CommentBox({ comment, comments }: { comment: Comment; comments: Comments }) {
  const isOpen = comments.open === keyOf(comment);
  return isOpen ? <Form comment={comment} comments={comments} /> : <Written comment={comment} comments={comments} />;
}

function Written({ comment, comments }: { comment: Comment; comments: Comments }) {
  return (
    <div className="flex max-w-2xl flex-wrap items-start gap-2 text-sm">
      <p className="min-w-0 flex-1 basis-40 whitespace-pre-wrap wrap-anywhere">{comment.text}</p>
      <Button kind="quiet" onClick={() => comments.write(comment)}>
        Edit
      </Button>
      <Button kind="quiet" onClick={() => comments.remove(comment)}>
        Remove
      </Button>
    </div>
  );
}

function Form({ comment, comments }: { comment: Comment; comments: Comments }) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const { side, line, text } = comment;
  const label = `Comment on ${side === "old" ? "removed line" : "line"} ${line}`;
  const close = () => {
    // The box goes: the focus returns to the line.
    const number = field.current?.closest("tr")?.previousElementSibling?.querySelector<HTMLElement>("[data-line]");
    comments.close();
    number?.focus();
  };
  return (
    <div className="grid max-w-2xl gap-2">
      <TextArea
        ref={field}
        aria-label={label}
        placeholder="Comment"
        rows={3}
        maxLength={maximumCommentLength}
        value={text}
        onChange={({ target }) => comments.change(comment, target.value)}
        onKeyDown={(event) => {
          const isSend = event.key === "Enter" && (event.ctrlKey || event.metaKey);
          if (event.key !== "Escape" && !isSend) return;
          event.preventDefault();
          close();
        }}
      />
      <div className="flex flex-wrap justify-end gap-2">
        <Button kind="quiet" onClick={() => comments.remove(comment)}>
          Discard
        </Button>
        <Button kind="primary" disabled={text.trim() === ""} onClick={close}>
          Add comment
        </Button>
      </div>
    </div>
  );
}
