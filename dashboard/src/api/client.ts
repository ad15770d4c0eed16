import { ApiError, Berth } from "@berth/client";
import { told } from "./reachability.ts";
import { accessToken, goToSignIn, tokenRefused } from "./session.ts";

/** The service, as the one who is signed in. */
export const berth = new Berth({
  url: location.origin,
  token: async () => {
    const token = await accessToken().catch((error: unknown) => {
      told(false);
      throw error;
    });
    if (token !== null) return token;
    goToSignIn();
    // The page is about to be left.
    return new Promise(() => {});
  },
  fetch: send,
});

async function send(request: Request): Promise<Response> {
  try {
    const response = await fetch(request);
    told(true);
    if (response.status === 401) tokenRefused();
    return response;
  } catch (error) {
    if (!request.signal.aborted) told(false);
    throw error;
  }
}

/** Whether the service refused with this code. */
export function isRefusal(error: unknown, code: string): boolean {
  return error instanceof ApiError && error.code === code;
}
