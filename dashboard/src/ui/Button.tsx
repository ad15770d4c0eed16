import type { ComponentProps } from "react";
import { classes } from "./classes.ts";

type Kind = "primary" | "plain" | "quiet" | "danger";

const kinds: Readonly<Record<Kind, string>> = {
  primary: "bg-accent-fill text-white hover:brightness-110",
  plain: "bg-surface border border-line hover:bg-sunken",
  quiet: "hover:bg-sunken text-muted hover:text-ink",
  danger: "bg-bad-fill text-white hover:brightness-110",
};

interface ButtonProps extends ComponentProps<"button"> {
  kind?: Kind;
  /** The action is still in progress. */
  isBusy?: boolean;
}

/** The appearance of a link or button of this kind. */
export function buttonClasses(kind: Kind = "plain", more?: string): string {
  return classes(
    "inline-flex min-h-9 items-center justify-center gap-2 rounded-lg px-3 py-1.5 text-sm font-medium whitespace-nowrap",
    "transition-[background-color,filter] aria-disabled:opacity-50",
    kinds[kind],
    more,
  );
}

/** Keeps its focus while it is busy or disabled: a keyboard stays where it was. */
export function Button({
  kind = "plain",
  isBusy = false,
  className,
  disabled = false,
  onClick,
  children,
  ...rest
}: ButtonProps) {
  const isOff = disabled || isBusy;
  return (
    <button
      type="button"
      className={buttonClasses(kind, className)}
      aria-disabled={isOff || undefined}
      aria-busy={isBusy}
      onClick={(event) => {
        if (isOff) event.preventDefault();
        else onClick?.(event);
      }}
      {...rest}
    >
      {isBusy && <span className="size-3.5 animate-spin rounded-full border-2 border-current border-t-transparent" />}
      {children}
    </button>
  );
}
