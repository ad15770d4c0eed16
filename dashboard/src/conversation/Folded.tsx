import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";

interface FoldedProps {
  icon: ReactNode;
  title: ReactNode;
  aside: ReactNode;
  /** Shown while the call is closed. */
  preview?: ReactNode;
  children: ReactNode;
}

/** A call in one line, which opens. */
export function Folded({ icon, title, aside, preview, children }: FoldedProps) {
  return (
    <div className="rounded-lg border bg-surface text-sm has-open:shadow-xs">
      <details className="peer">
        <summary className="flex cursor-pointer list-none items-center gap-2 rounded-lg px-3 py-2">
          <ChevronRight
            className="size-4 shrink-0 text-muted transition-transform [details[open]>summary>&]:rotate-90"
            aria-hidden
          />
          {icon}
          <span className="min-w-0 flex-1 truncate font-mono text-[13px]">{title}</span>
          {aside && <span className="text-muted">{aside}</span>}
        </summary>
        <div className="grid gap-3 border-t px-3 py-3">{children}</div>
      </details>
      {preview && <div className="peer-open:hidden">{preview}</div>}
    </div>
  );
}
