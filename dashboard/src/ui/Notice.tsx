import type { ReactNode } from "react";
import { classes } from "./classes.ts";

interface NoticeProps {
  tone?: "neutral" | "warn" | "bad";
  title?: string;
  children?: ReactNode;
  action?: ReactNode;
}

const tones = {
  neutral: "border-line bg-surface",
  warn: "border-warn/40 bg-warn-soft",
  bad: "border-bad/40 bg-bad-soft",
};

/** A notice that the reader should see before continuing. */
export function Notice({ tone = "neutral", title, children, action }: NoticeProps) {
  return (
    <div
      role={tone === "bad" ? "alert" : "status"}
      className={classes(
        "flex flex-wrap items-center gap-x-4 gap-y-2 rounded-xl border px-4 py-3 text-sm",
        tones[tone],
      )}
    >
      <div className="min-w-0 flex-1">
        {title && <p className="font-medium">{title}</p>}
        {children && <div className="wrap-anywhere text-muted">{children}</div>}
      </div>
      {action}
    </div>
  );
}

interface EmptyProps {
  title: string;
  children?: ReactNode;
  action?: ReactNode;
  /** It is all that the view has: the title is its heading. */
  isView?: boolean;
}

/** A view without content, and what would change that. */
export function Empty({ title, children, action, isView = false }: EmptyProps) {
  const Title = isView ? "h1" : "p";
  return (
    <div className="grid justify-items-center gap-2 rounded-xl border border-dashed px-6 py-12 text-center">
      <Title className={classes("wrap-anywhere", isView ? "text-xl font-semibold" : "font-medium")}>{title}</Title>
      {children && <div className="max-w-prose text-sm text-muted">{children}</div>}
      {action && <div className="mt-3">{action}</div>}
    </div>
  );
}

/** Stands where content is about to be. */
export function Loading({ label = "Loading" }: { label?: string }) {
  return (
    <div role="status" aria-label={label} className="grid gap-3 py-2">
      {[70, 100, 85].map((width) => (
        <div key={width} className="h-4 animate-pulse rounded bg-sunken" style={{ width: `${width}%` }} />
      ))}
    </div>
  );
}
