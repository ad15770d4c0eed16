import { useEffect, useId } from "react";

const forms = new Set<string>();

/** Leaving the page asks first while the form has unsaved changes. */
export function useUnsaved(isChanged: boolean): void {
  const id = useId();
  useEffect(() => {
    if (!isChanged) return;
    forms.add(id);
    return () => {
      forms.delete(id);
    };
  }, [id, isChanged]);
}

/** Whether a form of the page has unsaved changes. */
export function isUnsaved(): boolean {
  return forms.size > 0;
}
