import { Link, type LinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { buttonClasses } from "./Button.tsx";
import { Empty } from "./Notice.tsx";
import { useTitle } from "./title.ts";

/** A view: its title, what can be done in it, and its content. */
export function View({ title, actions, children }: { title: string; actions?: ReactNode; children: ReactNode }) {
  useTitle(title);
  return (
    <div className="mx-auto grid w-full max-w-5xl gap-6 px-4 py-6 md:px-8">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <h1 className="text-xl font-semibold">{title}</h1>
        {actions && <div className="flex flex-wrap gap-2">{actions}</div>}
      </div>
      {children}
    </div>
  );
}

/** A part of a view. */
export function Section({ title, actions, children }: { title: string; actions?: ReactNode; children: ReactNode }) {
  return (
    <section className="grid min-w-0 gap-3" aria-label={title}>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h2 className="font-semibold">{title}</h2>
        {actions}
      </div>
      {children}
    </section>
  );
}

interface EmptyViewProps {
  title: string;
  children: ReactNode;
  /** Where its link leads, and the link's label. */
  to: NonNullable<LinkProps["to"]>;
  label: string;
}

/** A view that only says why it has no content, and leads on. */
export function EmptyView({ title, children, to, label }: EmptyViewProps) {
  useTitle(title);
  return (
    <div className="mx-auto grid w-full max-w-5xl gap-4 px-4 py-6 md:px-8">
      <Empty
        title={title}
        isView
        action={
          <Link to={to} className={buttonClasses("primary")}>
            {label}
          </Link>
        }
      >
        {children}
      </Empty>
    </div>
  );
}
