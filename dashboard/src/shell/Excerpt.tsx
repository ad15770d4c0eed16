import type { SearchMatch } from "@berth/client";
import type { ReactNode } from "react";

/** A match: its excerpt, and where it is from. */
export function Excerpt({ match }: { match: SearchMatch }) {
  const { agent, conversation, kind, excerpt, matches } = match;
  return (
    <span className="grid min-w-0 gap-0.5">
      <span className="line-clamp-2 break-words">{marked(excerpt, matches)}</span>
      <span className="truncate text-xs text-muted">
        {kind} · {agent} · {conversation.title ?? `Conversation ${conversation.id}`}
      </span>
    </span>
  );
}

function marked(excerpt: string, matches: SearchMatch["matches"]): ReactNode[] {
  const parts: ReactNode[] = [];
  let at = 0;
  for (const { start, end } of matches) {
    parts.push(excerpt.slice(at, start), <mark key={start}>{excerpt.slice(start, end)}</mark>);
    at = end;
  }
  return [...parts, excerpt.slice(at)];
}
