import { ApiError, Berth } from "@berth/client";
import { AccountNews } from "./news.ts";
import { Reachability } from "./reachability.ts";
import { BrowserSession } from "./session.ts";

// The page's one session, client and event stream.

export const session = new BrowserSession();
export const reachability = new Reachability();

/** The API, as the signed-in user. */
export const berth = new Berth({ url: location.origin, token, fetch: send });

export const news = new AccountNews(berth);

async function token(): Promise<string> {
  const accessToken = await session.accessToken().catch((error: unknown) => {
    reachability.report(false);
    throw error;
  });
  if (accessToken !== null) return accessToken;
  session.signIn();
  // The page is about to be left.
  return new Promise(() => {});
}

async function send(request: Request): Promise<Response> {
  try {
    const response = await fetch(request);
    reachability.report(true);
    if (response.status === 401) session.discard();
    return response;
  } catch (error) {
    if (!request.signal.aborted) reachability.report(false);
    throw error;
  }
}

/** Whether the service refused with this code. */
export function isRefusal(error: unknown, code: string): boolean {
  return error instanceof ApiError && error.code === code;
}
