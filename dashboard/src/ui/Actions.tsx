import type { ReactNode } from "react";
import { Failure } from "./Failure.tsx";

/** The buttons of a view, and why one of them failed. */
export function Actions({ errors, children }: { errors: readonly unknown[]; children: ReactNode }) {
  return (
    <div className="grid gap-2">
      <div className="flex flex-wrap gap-2">{children}</div>
      <Failure of={errors.find((error) => error !== null) ?? null} />
    </div>
  );
}
