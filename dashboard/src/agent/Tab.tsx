import type { ReactNode } from "react";

/** The content of an agent's tab. */
export function Tab({ children }: { children: ReactNode }) {
  return <div className="mx-auto grid w-full max-w-5xl gap-8 px-4 py-6 md:px-8">{children}</div>;
}
