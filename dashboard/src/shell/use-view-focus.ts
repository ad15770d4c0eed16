import { useRouter } from "@tanstack/react-router";
import { useEffect } from "react";

/**
 * Moves the focus to the heading of each view that is gone to, so that a screen reader says where one is and the keyboard
 * continues there. An element of the view that has the focus already, such as a form's first field or the chosen tab, keeps it.
 */
export function useViewFocus(): void {
  const router = useRouter();
  useEffect(
    () =>
      router.subscribe("onRendered", ({ fromLocation, pathChanged }) => {
        if (fromLocation === undefined || !pathChanged) return;
        const view = document.getElementById("content");
        const focused = document.activeElement;
        if (!view || (view.contains(focused) && view !== focused) || focused?.closest("[role=dialog]")) return;
        const heading = view.querySelector("h1") ?? view;
        heading.tabIndex = -1;
        heading.focus({ preventScroll: true });
      }),
    [router],
  );
}
