import { useEffect, useEffectEvent } from "react";
import { onReachableAgain } from "./reachability.ts";

// A stopgap: until the service streams an account's events, what may have changed is asked again every few seconds,
// while somebody looks. Whoever uses this hears of a change and reads what has changed; the events will take its place
// here and nowhere else.

const everyMs = 3_000;

/** Calls back whenever something of the account may have changed. */
export function useAccountChanges(changed: () => void): void {
  const tell = useEffectEvent(() => document.visibilityState === "visible" && changed());
  useEffect(() => {
    const timer = setInterval(() => tell(), everyMs);
    const look = () => tell();
    document.addEventListener("visibilitychange", look);
    const forget = onReachableAgain(look);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
      forget();
    };
  }, []);
}
