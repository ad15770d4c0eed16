import { useState, useSyncExternalStore } from "react";

export type Layout = "unified" | "split";

const stored = "berth diff layout";
/** There is room for two columns of code. */
const wide = matchMedia("(min-width: 64rem)");

function useIsWide(): boolean {
  return useSyncExternalStore(
    (changed) => {
      wide.addEventListener("change", changed);
      return () => wide.removeEventListener("change", changed);
    },
    () => wide.matches,
  );
}

/** How diffs are shown in this browser. `isWide`: whether there is room for both sides. */
export function useDiffLayout() {
  const isWide = useIsWide();
  const [chosen, setChosen] = useState<Layout>(() => (localStorage.getItem(stored) === "split" ? "split" : "unified"));
  const choose = (layout: Layout) => {
    localStorage.setItem(stored, layout);
    setChosen(layout);
  };
  return { layout: isWide ? chosen : "unified", isWide, choose } as const;
}
