import { useQuery } from "@tanstack/react-query";
import { Link, useLoaderData } from "@tanstack/react-router";
import { berth, isRefusal } from "../api/client.ts";
import { invitationToken } from "../api/link-token.ts";
import { meQuery } from "../api/queries.ts";
import { Button, buttonClasses } from "../ui/Button.tsx";
import { Failure } from "../ui/Failure.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { Notice } from "../ui/Notice.tsx";
import { useTitle } from "../ui/title.ts";
import { useAction } from "../ui/use-action.ts";
import { openWorkspace } from "../workspace/choice.ts";

/** Where an invitation's link leads. Nothing is accepted before the person says so. */
export function Join() {
  const token = useLoaderData({ from: "/join" });
  const me = useQuery(meQuery);
  useTitle("Join a workspace");
  return (
    <main className="mx-auto grid max-w-sm gap-4 px-4 pt-[20vh]">
      <img src="/assets/berth.svg" alt="" className="size-10" />
      <h1 className="text-xl font-semibold">Join a workspace</h1>
      <Loaded query={me}>
        {({ person }) =>
          token === null ? <NoInvitation /> : <Invited key={token} token={token} name={person?.name ?? ""} />
        }
      </Loaded>
    </main>
  );
}

function NoInvitation() {
  return (
    <>
      <Notice>This address has no invitation. Open the link that you were sent again.</Notice>
      <Link to="/" className={buttonClasses()}>
        Home
      </Link>
    </>
  );
}

function Invited({ token, name }: { token: string; name: string }) {
  const join = useAction(async () => {
    const { id } = await berth.workspaces.accept(token);
    invitationToken.discard();
    openWorkspace(id);
  });
  const isEnded = isRefusal(join.error, "invitation_ended");
  return (
    <>
      <p className="text-sm wrap-anywhere text-muted">
        You were invited to work with the agents of others. You join as <span className="text-ink">{name}</span>. The
        members see your name and e-mail address.
      </p>
      <Failure of={join.error} />
      {!isEnded && (
        <Button kind="primary" isBusy={join.isBusy} onClick={() => join.run()}>
          Join
        </Button>
      )}
      <Link to="/" onClick={() => invitationToken.discard()} className={buttonClasses()}>
        {isEnded ? "Home" : "Not now"}
      </Link>
    </>
  );
}
