import { type KeyboardEvent, type PointerEvent, useRef } from "react";
import { shares } from "./side.ts";

/** How far an arrow key moves it, in percent. */
const step = 2;

interface SeparatorProps {
  /** The width of the view before it, in percent of both. */
  share: number;
  onShare: (share: number) => void;
}

/** Divides two views. The pointer and the arrow keys move it; Home, End and a double click set a width. */
export function Separator({ share, onShare }: SeparatorProps) {
  const line = useRef<HTMLDivElement>(null);
  const move = (next: number) => onShare(Math.min(shares.most, Math.max(shares.least, Math.round(next * 10) / 10)));
  const drag = ({ buttons, clientX }: PointerEvent) => {
    if (buttons !== 1) return;
    const { left, width } = line.current!.parentElement!.getBoundingClientRect();
    move(((clientX - left) / width) * 100);
  };
  const press = (event: KeyboardEvent) => {
    const targets: Readonly<Record<string, number>> = {
      ArrowLeft: share - step,
      ArrowRight: share + step,
      Home: shares.least,
      End: shares.most,
    };
    const target = targets[event.key];
    if (target === undefined) return;
    event.preventDefault();
    move(target);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a separator that moves is no line between paragraphs
    <div
      ref={line}
      role="separator"
      tabIndex={0}
      aria-label="Width of the conversation"
      aria-orientation="vertical"
      aria-valuenow={Math.round(share)}
      aria-valuemin={shares.least}
      aria-valuemax={shares.most}
      onPointerDown={({ currentTarget, pointerId }) => currentTarget.setPointerCapture(pointerId)}
      onPointerMove={drag}
      onDoubleClick={() => move(shares.usual)}
      onKeyDown={press}
      className="group relative w-px shrink-0 cursor-col-resize touch-none bg-line"
    >
      <span className="absolute inset-y-0 -inset-x-1.5 z-10 group-hover:bg-accent/30 group-focus-visible:bg-accent/50" />
    </div>
  );
}
