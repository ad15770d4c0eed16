import type { InboxItem } from "@berth/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useRef } from "react";
import { Button } from "../ui/Button.tsx";
import { Confirm } from "../ui/Confirm.tsx";
import { Failure } from "../ui/Failure.tsx";
import { Select } from "../ui/Field.tsx";
import { nameIn, useFilters } from "../ui/filters.ts";
import { Loaded } from "../ui/Loaded.tsx";
import { Empty } from "../ui/Notice.tsx";
import { Older } from "../ui/Older.tsx";
import { Section, View } from "../ui/View.tsx";
import { Item } from "./Item.tsx";
import { inboxQuery } from "./queries.ts";
import { type Selection, useChanges } from "./use-changes.ts";
import { useInboxKeys } from "./use-inbox-keys.ts";
import { kindWords } from "./words.ts";

type FilterName = "kind" | "unread";

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
