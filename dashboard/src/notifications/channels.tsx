import type { NotificationChannel, Profile } from "@berth/client";
import { Notice } from "../ui/Notice.tsx";
import { Time } from "../ui/Time.tsx";

export const channelNames: Readonly<Record<NotificationChannel["channel"], string>> = {
  email: "E-mail",
  ntfy: "ntfy",
  push: "Browsers",
};

/** Why a channel does not reach the person, or refused the last notification; nothing if it works. */
export function ChannelNotice({ profile, channel }: { profile: Profile; channel: NotificationChannel["channel"] }) {
  const { missing, failure } = profile.channels.find((each) => each.channel === channel)!;
  if (missing !== null) return <Notice>{missing}</Notice>;
  if (failure === null) return null;
  return (
    <Notice tone="warn" title="The last notification did not arrive">
      {failure.message} <Time at={failure.at} />
    </Notice>
  );
}
