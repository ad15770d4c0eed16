import type { Profile, PushSubscription } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { berth } from "../api/client.ts";
import { profileQuery, pushQuery } from "../api/queries.ts";
import { Actions } from "../ui/Actions.tsx";
import { Button } from "../ui/Button.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { Notice } from "../ui/Notice.tsx";
import { Table } from "../ui/Table.tsx";
import { Time } from "../ui/Time.tsx";
import { useAction } from "../ui/use-action.ts";
import { Section } from "../ui/View.tsx";
import { obstacle, ofThisBrowser, subscribe, unsubscribe } from "./browser.ts";
import { ChannelNotice } from "./channels.tsx";

/** The browsers that show notifications, and whether this one does. */
export function Browsers({ profile }: { profile: Profile }) {
  const query = useQuery(pushQuery);
  return (
    <Section title="Browsers">
      <Loaded query={query}>
        {({ data, publicKey }) => (
          <>
            <ThisBrowser own={ofThisBrowser(data)} publicKey={publicKey} />
            {data.length > 0 && <ChannelNotice profile={profile} channel="push" />}
            {data.length > 0 && <List subscriptions={data} />}
          </>
        )}
      </Loaded>
    </Section>
  );
}

function ThisBrowser({ own, publicKey }: { own: PushSubscription | null; publicKey: string }) {
  const renew = useRenewal();
  const begin = useAction(async () => {
    await subscribe(publicKey);
    await renew();
  });
  const end = useAction(async () => {
    await unsubscribe();
    await renew();
  });
  const reason = obstacle();
  if (own) {
    return (
      <Actions errors={[end.error]}>
        <Button isBusy={end.isBusy} onClick={() => end.run()}>
          Stop in this browser
        </Button>
      </Actions>
    );
  }
  if (reason !== null) return <Notice>{reason}</Notice>;
  return (
    <Actions errors={[begin.error]}>
      <Button isBusy={begin.isBusy} onClick={() => begin.run()}>
        Notify in this browser
      </Button>
    </Actions>
  );
}

function List({ subscriptions }: { subscriptions: readonly PushSubscription[] }) {
  const renew = useRenewal();
  const remove = useAction(async (each: PushSubscription) => {
    if (ofThisBrowser([each])) await unsubscribe();
    else await berth.pushSubscriptions.delete(each.id);
    await renew();
  });
  return (
    <>
      <Table label="Browsers" onlyWide={["Added"]} head={["Browser", "Added", "Last notification", ""]}>
        {subscriptions.map((each) => (
          <tr key={each.id}>
            <td>
              {each.name ?? each.service}
              {ofThisBrowser([each]) && <span className="text-muted"> (this one)</span>}
            </td>
            <td className="whitespace-nowrap text-muted">
              <Time at={each.createdAt} />
            </td>
            <td className="text-muted">{each.error ?? (each.sentAt && <Time at={each.sentAt} />)}</td>
            <td className="text-right">
              <Button aria-label={`Remove ${each.name ?? each.service}`} onClick={() => remove.run(each)}>
                Remove
              </Button>
            </td>
          </tr>
        ))}
      </Table>
      <Actions errors={[remove.error]}>{null}</Actions>
    </>
  );
}

function useRenewal() {
  const queries = useQueryClient();
  return async () => {
    await Promise.all([pushQuery, profileQuery].map(({ queryKey }) => queries.invalidateQueries({ queryKey })));
  };
}
