import { useSearch } from "@tanstack/react-router";
import { buttonClasses } from "../ui/Button.tsx";
import { Notice } from "../ui/Notice.tsx";

/** The end of a sign-in, or of an attempt at one. */
export function SignedOut() {
  const { message } = useSearch({ from: "/signed-out" });
  return (
    <main className="mx-auto grid max-w-sm gap-4 px-4 pt-[20vh]">
      <img src="/assets/berth.svg" alt="" className="size-10" />
      <h1 className="text-xl font-semibold">
        {message === undefined ? "You are signed out" : "You are not signed in"}
      </h1>
      {message !== undefined && <Notice tone="bad">{message}</Notice>}
      <a href="/dashboard/sign-in" className={buttonClasses("primary")}>
        Sign in
      </a>
    </main>
  );
}
