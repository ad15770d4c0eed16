import type { ErrorComponentProps } from "@tanstack/react-router";
import { useRouter } from "@tanstack/react-router";
import { useEffect } from "react";
import { reachability } from "../api/client.ts";
import { Button } from "../ui/Button.tsx";
import { messageOf } from "../ui/message.ts";
import { Notice } from "../ui/Notice.tsx";
import { useTitle } from "../ui/title.ts";

/** Replaces a failed view. It retries automatically when the service responds again. */
export function Failed({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  useTitle("Couldn't load this page");
  const again = () => {
    reset();
    void router.invalidate();
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: `again` does the same whichever it is
  useEffect(() => reachability.onReturn(again), []);
  return (
    <div className="p-6">
      <Notice tone="bad" title="Couldn't load this page" action={<Button onClick={again}>Try again</Button>}>
        {messageOf(error)}
      </Notice>
    </div>
  );
}
