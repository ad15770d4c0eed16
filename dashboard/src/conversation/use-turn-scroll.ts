import type { Turn } from "@berth/client";
import { useVirtualizer, type VirtualItem, type Virtualizer } from "@tanstack/react-virtual";
import { useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from "react";
import type { Draft } from "./draft.ts";

interface Scrolled {
  turns: readonly Turn[];
  /** The message on its way to the service, which is scrolled to. */
  sending: Draft | null;
  /** Loads older turns; null while there are none, or they are on their way. */
  onOlder: (() => void) | null;
}

/** From here on, the end is in view. In pixels. */
const nearEnd = 120;

/** The scrolling of a conversation: it begins and stays at the end, and near its start it loads older turns. */
export function useTurnScroll({ turns, sending, onOlder }: Scrolled) {
  const scroller = useRef<HTMLElement>(null);
  const virtualizer = useVirtualizer({
    count: turns.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 180,
    getItemKey: (at) => turns[at]?.id ?? at,
    anchorTo: "end",
    followOnAppend: true,
    scrollEndThreshold: nearEnd,
    overscan: 4,
    paddingEnd: 24,
  });
  const [keepsPlace] = useState(placeKeeper);
  virtualizer.shouldAdjustScrollPositionOnItemSizeChange = keepsPlace;
  const isShown = turns.length > 0 || sending !== null;
  useEffect(() => {
    if (isShown) return keepOpened(scroller.current!);
  }, [isShown]);
  const [first] = virtualizer.getVirtualItems();
  useLayoutEffect(() => virtualizer.scrollToEnd(), [virtualizer]);
  const isAtStart = first !== undefined && first.index < 3;
  const older = useEffectEvent(() => onOlder?.());
  const canGrow = isAtStart && onOlder !== null;
  useEffect(() => {
    if (canGrow) older();
  }, [canGrow]);
  useEffect(() => {
    if (sending !== null) virtualizer.scrollToEnd();
  }, [sending, virtualizer]);
  const isAtEnd = turns.length === 0 || virtualizer.isAtEnd(nearEnd);
  return { scroller, virtualizer, isAtEnd };
}

/** Keeps what a person opens or closes where it is, also at the end, which otherwise stays in view. Returns how to stop. */
function keepOpened(scroller: HTMLElement): () => void {
  let frame = 0;
  const release = () => cancelAnimationFrame(frame);
  const hold = ({ target }: Event) => {
    release();
    const opened = target instanceof Element ? target.closest("summary") : null;
    if (opened === null) return;
    const { top } = opened.getBoundingClientRect();
    // Its height is measured, and the end followed, in one of the next frames.
    const keep = (left: number) => {
      frame = requestAnimationFrame(() => {
        scroller.scrollTop += opened.getBoundingClientRect().top - top;
        if (left > 0) keep(left - 1);
      });
    };
    keep(heldFrames);
  };
  const scrolls = ["wheel", "touchmove", "keydown"] as const;
  scroller.addEventListener("click", hold);
  for (const event of scrolls) scroller.addEventListener(event, release, { passive: true });
  return () => {
    release();
    scroller.removeEventListener("click", hold);
    for (const event of scrolls) scroller.removeEventListener(event, release);
  };
}

/** For how many frames an opened part keeps its place: a third of a second, and longer on a busy device. */
const heldFrames = 20;

/**
 * Tells whether what is in view stays there when a turn's height changes: for turns above it, also while it is scrolled
 * up, when their Markdown and events come.
 */
function placeKeeper() {
  const known = new Set<unknown>();
  return ({ key, start, end }: VirtualItem, _: number, { scrollOffset }: Virtualizer<HTMLElement, Element>) => {
    const isEstimate = !known.has(key);
    known.add(key);
    return (isEstimate ? start : end) <= (scrollOffset ?? 0);
  };
}
