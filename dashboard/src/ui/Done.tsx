import { Check } from "lucide-react";
import type { ReactNode } from "react";
import type { ActionState } from "./use-action.ts";

/** Says for a moment that an action has succeeded. A screen reader reads it. */
export function Done({ of, children }: { of: Pick<ActionState, "isDone">; children: ReactNode }) {
  return (
    <span aria-live="polite" className="text-sm text-good">
      {of.isDone && (
        <span className="inline-flex items-center gap-1">
          <Check className="size-4" aria-hidden />
          {children}
        </span>
      )}
    </span>
  );
}
