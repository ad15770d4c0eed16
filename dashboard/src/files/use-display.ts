import type { FileEntry } from "@berth/client";
import { useState } from "react";
import { type FileOrder, remembered } from "./remembered.ts";

/** How folders are shown. */
export interface Display {
  order: FileOrder;
  showsHidden: boolean;
  setOrder: (order: FileOrder) => void;
  setShowsHidden: (shows: boolean) => void;
}

/** How this browser shows folders, which it remembers. */
export function useDisplay(): Display {
  const [order, setOrder] = useState(() => remembered.order);
  const [showsHidden, setShowsHidden] = useState(() => remembered.showsHidden);
  return {
    order,
    showsHidden,
    setOrder: (next) => {
      remembered.order = next;
      setOrder(next);
    },
    setShowsHidden: (next) => {
      remembered.showsHidden = next;
      setShowsHidden(next);
    },
  };
}

const names = new Intl.Collator(undefined, { numeric: true });

/** The visible entries of a folder, folders first. */
export function displayed(
  entries: readonly FileEntry[],
  { order, showsHidden }: Pick<Display, "order" | "showsHidden">,
): FileEntry[] {
  return entries
    .filter((entry) => showsHidden || !isHidden(entry))
    .toSorted((one, other) => compare(one, other, order));
}

function isHidden({ name }: Pick<FileEntry, "name">): boolean {
  return name.startsWith(".");
}

function compare(one: FileEntry, other: FileEntry, order: FileOrder): number {
  const byType = Number(other.type === "folder") - Number(one.type === "folder");
  if (byType !== 0) return byType;
  // The size of a folder is not that of its content.
  const bySize = order === "size" && one.type !== "folder" ? other.size - one.size : 0;
  const byTime = order === "changed" ? other.modifiedAt.localeCompare(one.modifiedAt) : 0;
  return bySize || byTime || names.compare(one.name, other.name);
}
