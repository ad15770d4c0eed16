import { ApiError, Berth } from "@berth/client";
import { abandonWorkspace, chosenWorkspace } from "../workspace/choice.ts";
import { firstAnswers } from "./first-answers.ts";
import { AccountNews } from "./news.ts";
import { Reachability } from "./reachability.ts";
import { BrowserSession } from "./session.ts";

// The page's one session, client and event stream.

export const session = new BrowserSession();
export const reachability = new Reachability();

/** The id of this page's workspace; null for the personal one. */
const workspace = chosenWorkspace();

/** The API, as the signed-in user in this workspace. */
export const berth = new Berth({ url: location.origin, token, workspace, fetch: send });

export const news = new AccountNews(berth, inWorkspace("berth events"), firstAnswers);

/** A name of what the browser keeps or shares, of this workspace alone: agents of two can have the same name. */
export function inWorkspace(name: string): string {
  return workspace === null ? name : `${name} in ${workspace}`;
}

/** The headers of a request of this page that the client does not send. */
export async function requestHeaders(): Promise<Record<string, string>> {
  const authorization = `Bearer ${await token()}`;
  return workspace === null ? { authorization } : { authorization, "berth-workspace": encodeURIComponent(workspace) };
}

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
  const known = firstAnswers.take(request);
  if (known !== null) return known;
  try {
    const response = await fetch(request);
    reachability.report(true);
    if (response.status === 401) session.discard();
    if (response.status === 404 && workspace !== null) {
      // A proxy's 404 is not JSON.
      const body: unknown = await response
        .clone()
        .json()
        .catch(() => null);
      if ((body as { code?: string } | null)?.code === "workspace_not_found") abandonWorkspace(workspace);
    }
    return response;
  } catch (error) {
    if (!request.signal.aborted) reachability.report(false);
    throw error;
  }
}

/** Whether the service has no such thing, or none that the person may see. */
export function isMissing(error: unknown): boolean {
  return error instanceof ApiError && error.statusCode === 404;
}

/** Whether the service refused with this code. */
export function isRefusal(error: unknown, code: string): boolean {
  return error instanceof ApiError && error.code === code;
}
