import type { ReactNode } from "react";

/** Fields, and what is done with them. The page stays. */
export function Form({ onSubmit, children }: { onSubmit: () => void; children: ReactNode }) {
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        // React lets it rise from a dialog to the form that opened it.
        event.stopPropagation();
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}
