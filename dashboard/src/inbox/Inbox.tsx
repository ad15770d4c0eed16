import type { InboxItem } from "@berth/client";
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { CircleAlert, CircleCheck, Coins, Hand, type LucideIcon, ShieldX, X } from "lucide-react";
import { useRef } from "react";
import { berth } from "../api/client.ts";
import { plainOf } from "../conversation/plain.ts";
import { Button } from "../ui/Button.tsx";
import { Confirm } from "../ui/Confirm.tsx";
import { classes } from "../ui/classes.ts";
import { Failure } from "../ui/Failure.tsx";
import { Select } from "../ui/Field.tsx";
import { nameIn, useFilters } from "../ui/filters.ts";
import { Loaded } from "../ui/Loaded.tsx";
import { Empty } from "../ui/Notice.tsx";
import { Older } from "../ui/Older.tsx";
import { Time } from "../ui/Time.tsx";
import { useAction } from "../ui/use-action.ts";
import { Section, View } from "../ui/View.tsx";
import { ItemLink } from "./ItemLink.tsx";
import { inboxQuery } from "./queries.ts";
import { useInboxKeys } from "./use-inbox-keys.ts";
import { kindWords, titleOf } from "./words.ts";

type FilterName = "kind" | "unread";
type Selection = Parameters<typeof berth.inbox.read>[0];

/** The items that wait for the person, by agent. */
export function Inbox() {
  const [{ kind, unread }] = useFilters<FilterName>();
  const known = nameIn(kindWords, kind);
  const query = useInfiniteQuery(
    inboxQuery({ ...(known && { kind: known }), ...(unread === "true" && { unread: "true" }) }),
  );
  const { read, dismiss } = useChanges();
  const list = useRef<HTMLDivElement>(null);
  useInboxKeys(list, (id) => dismiss.run({ ids: [id] }));
  const items = query.data?.pages.flatMap(({ data }) => data) ?? [];
  const upTo = items[0]?.position;
  return (
    <View
      title="Inbox"
      actions={
        upTo !== undefined && (
          <>
            <Button isBusy={read.isBusy} disabled={items.every((item) => item.read)} onClick={() => read.run({ upTo })}>
              Mark all as read
            </Button>
            <Confirm
              trigger={(open) => <Button onClick={open}>Dismiss all</Button>}
              title="Dismiss all items?"
              action="Dismiss all"
              onConfirm={() => dismiss.now({ upTo })}
            >
              They leave your inbox on all your devices, whatever the filter. Approvals, turns and agents stay.
            </Confirm>
          </>
        )
      }
    >
      <Filters />
      <Failure of={read.error ?? dismiss.error} />
      <Loaded query={query}>
        {() =>
          items.length === 0 ? (
            <Empty title={known || unread ? "No matching items" : "You're all caught up"}>
              Approvals, failures, answers that you have not seen, costs and blocked hosts show up here.
            </Empty>
          ) : (
            <div ref={list} className="grid gap-6">
              {groupsOf(items).map(([agent, ofAgent]) => (
                <Group
                  key={agent}
                  agent={agent}
                  items={ofAgent}
                  onRead={(chosen) => read.run(chosen)}
                  onDismiss={(chosen) => dismiss.run(chosen)}
                />
              ))}
            </div>
          )
        }
      </Loaded>
      <Older query={query} />
    </View>
  );
}

/** By agent, in the order of the newest item of each; without one: the workspace's. */
function groupsOf(items: readonly InboxItem[]): [string, InboxItem[]][] {
  return [...Map.groupBy(items, ({ agent }) => agent ?? "")];
}

function useChanges() {
  const queries = useQueryClient();
  const changed = () => queries.invalidateQueries({ queryKey: ["inbox"] });
  const now = async (chosen: Selection) => {
    await berth.inbox.dismiss(chosen);
    await changed();
  };
  const read = useAction(async (chosen: Selection) => {
    await berth.inbox.read(chosen);
    await changed();
  });
  return { read, dismiss: { ...useAction(now), now } };
}

function Filters() {
  const [{ kind, unread }, change] = useFilters<FilterName>();
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
      <Select
        aria-label="Kind"
        className="!w-auto"
        value={nameIn(kindWords, kind) ?? ""}
        onChange={({ target }) => change({ kind: target.value })}
      >
        <option value="">All kinds</option>
        {Object.entries(kindWords).map(([name, word]) => (
          <option key={name} value={name}>
            {word}
          </option>
        ))}
      </Select>
      <label className="tap flex items-center gap-2 text-sm">
        <input
          type="checkbox"
          checked={unread === "true"}
          onChange={({ target }) => change({ unread: target.checked ? "true" : "" })}
        />
        Unread only
      </label>
      <p className="ml-auto hidden text-xs text-muted md:block">
        <kbd>j</kbd> <kbd>k</kbd> next and previous, <kbd>Enter</kbd> opens, <kbd>e</kbd> dismisses
      </p>
    </div>
  );
}

interface GroupProps {
  /** Empty: the workspace. */
  agent: string;
  items: readonly InboxItem[];
  onRead: (chosen: Selection) => void;
  onDismiss: (chosen: Selection) => void;
}

function Group({ agent, items, onRead, onDismiss }: GroupProps) {
  const name = agent === "" ? "Workspace" : agent;
  const all = { ids: items.map(({ id }) => id) };
  return (
    <Section
      title={name}
      actions={
        <span className="flex gap-1">
          {items.some(({ read }) => !read) && (
            <Button kind="quiet" aria-label={`Mark as read: ${name}`} onClick={() => onRead(all)}>
              Mark as read
            </Button>
          )}
          <Button kind="quiet" aria-label={`Dismiss: ${name}`} onClick={() => onDismiss(all)}>
            Dismiss
          </Button>
        </span>
      }
    >
      <ul className="grid gap-2">
        {items.map((item) => (
          <Item key={item.id} item={item} onDismiss={() => onDismiss({ ids: [item.id] })} />
        ))}
      </ul>
    </Section>
  );
}

const looks: Record<InboxItem["kind"], { Icon: LucideIcon; tone: string }> = {
  asks: { Icon: Hand, tone: "text-warn" },
  failed: { Icon: CircleAlert, tone: "text-bad" },
  done: { Icon: CircleCheck, tone: "text-good" },
  costs: { Icon: Coins, tone: "text-warn" },
  blocked: { Icon: ShieldX, tone: "text-warn" },
};

function Item({ item, onDismiss }: { item: InboxItem; onDismiss: () => void }) {
  const { kind, message, reply, reason, at, read } = item;
  const { Icon, tone } = looks[kind];
  const title = titleOf(item);
  return (
    <li className="flex items-start gap-3 rounded-xl border bg-surface py-3 pr-2 pl-4 text-sm">
      <Icon className={classes("mt-px size-5 shrink-0", tone)} aria-hidden />
      <div className="grid min-w-0 flex-1 gap-0.5">
        <ItemLink
          item={item}
          className={classes("w-fit max-w-full wrap-anywhere hover:underline", !read && "font-semibold")}
        >
          {title}
          {!read && <span className="sr-only"> (unread)</span>}
        </ItemLink>
        {message !== null && <p className="truncate text-muted">{message}</p>}
        <p className="line-clamp-2 wrap-anywhere text-muted">{reason ?? plainOf(reply ?? "")}</p>
      </div>
      <span className="shrink-0 py-1 text-muted">
        <Time at={at} />
      </span>
      <Button kind="quiet" aria-label={`Dismiss: ${title}`} title="Dismiss" className="-my-1" onClick={onDismiss}>
        <X className="size-4" aria-hidden />
      </Button>
    </li>
  );
}
