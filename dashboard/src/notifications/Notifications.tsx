import type { NotificationTest } from "@berth/client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { berth } from "../api/client.ts";
import { profileQuery } from "../api/queries.ts";
import { Actions } from "../ui/Actions.tsx";
import { Button } from "../ui/Button.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { Notice } from "../ui/Notice.tsx";
import { useAction } from "../ui/use-action.ts";
import { View } from "../ui/View.tsx";
import { Browsers } from "./Browsers.tsx";
import { channelNames } from "./channels.tsx";
import { Mail } from "./Mail.tsx";
import { Ntfy } from "./Ntfy.tsx";
import { QuietTimes } from "./QuietTimes.tsx";
import { Wanted } from "./Wanted.tsx";

/** How the person is notified: of what, when, and over which channels. */
export function Notifications() {
  const profile = useQuery(profileQuery);
  return (
    <View title="Notifications">
      <Loaded query={profile}>
        {(shown) => (
          <div className="grid max-w-2xl gap-8">
            <Wanted profile={shown} />
            <QuietTimes profile={shown} />
            <Browsers profile={shown} />
            <Mail profile={shown} />
            <Ntfy profile={shown} />
            <Test />
          </div>
        )}
      </Loaded>
    </View>
  );
}

function Test() {
  const [result, setResult] = useState<NotificationTest | null>(null);
  const test = useAction(async () => setResult(await berth.profile.test()));
  return (
    <div className="grid gap-3">
      <Actions errors={[test.error]}>
        <Button isBusy={test.isBusy} onClick={() => test.run()}>
          Send a test
        </Button>
      </Actions>
      {result && (
        <Notice title="Test">
          <ul>
            {result.channels.map(({ channel, sent, error }) => (
              <li key={channel}>
                {channelNames[channel]}: {sent ? "sent" : error}
              </li>
            ))}
          </ul>
        </Notice>
      )}
    </div>
  );
}
