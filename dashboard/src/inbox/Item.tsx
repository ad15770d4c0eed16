import type { InboxItem } from "@berth/client";
import { CircleAlert, CircleCheck, Coins, Hand, type LucideIcon, ShieldX, X } from "lucide-react";
import { AgentLink } from "../agents/AgentLink.tsx";
import { plainOf } from "../conversation/plain.ts";
import { Button } from "../ui/Button.tsx";
import { classes } from "../ui/classes.ts";
import { Time } from "../ui/Time.tsx";
import { ItemActions } from "./ItemActions.tsx";
import { ItemLink } from "./ItemLink.tsx";
import { titleOf } from "./words.ts";

const looks: Record<InboxItem["kind"], { Icon: LucideIcon; tone: string }> = {
  asks: { Icon: Hand, tone: "text-warn" },
  failed: { Icon: CircleAlert, tone: "text-bad" },
  done: { Icon: CircleCheck, tone: "text-good" },
  costs: { Icon: Coins, tone: "text-warn" },
  blocked: { Icon: ShieldX, tone: "text-warn" },
};

interface ItemProps {
  item: InboxItem;
  onDismiss: () => void;
  /** Whether the row names the agent. */
  hasAgent?: boolean;
}

/** An item of the inbox as a row of a list. */
export function Item({ item, onDismiss, hasAgent = false }: ItemProps) {
  const { kind, agent, message, reply, reason, at, read } = item;
  const { Icon, tone } = looks[kind];
  const title = titleOf(item);
  // A refusal's reason is a code.
  const text = kind === "blocked" ? "" : (reason ?? plainOf(reply ?? ""));
  return (
    <li className="flex items-start gap-3 rounded-xl border bg-surface py-3 pr-2 pl-4 text-sm">
      <Icon className={classes("mt-px size-5 shrink-0", tone)} aria-hidden />
      <div className="grid min-w-0 flex-1 gap-0.5">
        <p className="wrap-anywhere">
          {hasAgent && agent !== null && (
            <>
              <AgentLink name={agent} />:{" "}
            </>
          )}
          <ItemLink item={item} className={classes("hover:underline", !read && "font-semibold")}>
            {title}
            {!read && <span className="sr-only"> (unread)</span>}
          </ItemLink>
        </p>
        {message !== null && <p className="truncate text-muted">{message}</p>}
        {text !== "" && <p className="line-clamp-2 wrap-anywhere text-muted">{text}</p>}
        <ItemActions item={item} />
      </div>
      <span className="shrink-0 text-muted">
        <Time at={at} />
      </span>
      <Button kind="quiet" aria-label={`Dismiss: ${title}`} title="Dismiss" className="-my-2" onClick={onDismiss}>
        <X className="size-4" aria-hidden />
      </Button>
    </li>
  );
}
