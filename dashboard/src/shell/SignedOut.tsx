import { useSearch } from "@tanstack/react-router";
import { buttonClasses } from "../ui/Button.tsx";
import { Notice } from "../ui/Notice.tsx";
import { useTitle } from "../ui/title.ts";

/** Why a sign-in failed, by the code of the service. */
const reasons: Readonly<Record<string, string>> = {
  credentials_invalid: "This user may not use the service.",
  account_disabled: "This account is disabled. Ask the operator.",
  identity_provider_unavailable: "The identity provider is not responding. Try again soon.",
};
const otherReason = "The sign-in was refused, took too long, or was started in another browser. Start again.";

/** The end of a sign-in, or of an attempt at one. */
export function SignedOut() {
  const { code } = useSearch({ from: "/signed-out" });
  const title = code === undefined ? "You are signed out" : "You are not signed in";
  useTitle(title);
  return (
    <main className="mx-auto grid max-w-sm gap-4 px-4 pt-[20vh]">
      <img src="/assets/berth.svg" alt="" className="size-10" />
      <h1 className="text-xl font-semibold">{title}</h1>
      {code !== undefined && <Notice tone="bad">{reasons[code] ?? otherReason}</Notice>}
      <a href="/dashboard/sign-in" className={buttonClasses("primary")}>
        Sign in
      </a>
    </main>
  );
}
