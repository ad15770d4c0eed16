import { useQueryClient } from "@tanstack/react-query";
import { Link, useLoaderData } from "@tanstack/react-router";
import { useState } from "react";
import { berth } from "../api/client.ts";
import { mailToken } from "../api/link-token.ts";
import { profileQuery } from "../api/queries.ts";
import { Button, buttonClasses } from "../ui/Button.tsx";
import { Failure } from "../ui/Failure.tsx";
import { Notice } from "../ui/Notice.tsx";
import { useAction } from "../ui/use-action.ts";
import { View } from "../ui/View.tsx";

/** Where the link of a mail leads. It does nothing before the person says so: programs open links, too. */
export function VerifyEmail() {
  const queries = useQueryClient();
  const token = useLoaderData({ from: "/shell/verify-email" });
  const [address, setAddress] = useState<string | null>(null);
  const verify = useAction(async (secret: string) => {
    const profile = await berth.profile.verifyEmail({ token: secret });
    mailToken.discard();
    queries.setQueryData(profileQuery.queryKey, profile);
    setAddress(profile.email);
  });
  return (
    <View title="Confirm your e-mail address">
      <div className="grid max-w-2xl justify-items-start gap-4">
        {address !== null ? (
          <Notice>Notifications go to {address}.</Notice>
        ) : token === null ? (
          <Notice>This address has no token. Open the link of the mail again.</Notice>
        ) : (
          <>
            <Failure of={verify.error} />
            <Button kind="primary" isBusy={verify.isBusy} onClick={() => verify.run(token)}>
              Confirm it
            </Button>
          </>
        )}
        <Link to="/notifications" className={buttonClasses()}>
          Notifications
        </Link>
      </div>
    </View>
  );
}
