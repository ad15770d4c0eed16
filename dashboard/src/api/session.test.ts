import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { BrowserSession } from "./session.ts";

const opened: string[] = [];
let answer: (response: Response) => void;

beforeEach(() => {
  opened.length = 0;
  vi.stubGlobal("location", { pathname: "/-/keys", search: "", assign: (url: string) => opened.push(url) });
  vi.stubGlobal("fetch", () => {
    const { promise, resolve } = Promise.withResolvers<Response>();
    answer = resolve;
    return promise;
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
});

test("a request that is refused while the user signs out does not open the sign-in", async () => {
  const session = new BrowserSession();
  const leaving = session.signOut(false);
  session.signIn();
  answer(Response.json({ signOutUrl: null }));
  await leaving;
  session.signIn();
  expect(opened).toEqual(["/-/signed-out"]);
});

test("the sign-in opens again after a sign-out that failed", async () => {
  const session = new BrowserSession();
  const leaving = session.signOut(false);
  answer(new Response(null, { status: 503 }));
  await expect(leaving).rejects.toThrow("You are still signed in.");
  session.signIn();
  expect(opened).toEqual(["/dashboard/sign-in?to=%2F-%2Fkeys"]);
});
