import { text } from "node:stream/consumers";
import type { Provider } from "oidc-provider";
import { errorPage } from "./pages.ts";

// Shared by the pages of the identity provider: requests, responses, and logging.

export type Middleware = Parameters<Provider["use"]>[0];
export type Context = Parameters<Middleware>[0];

const maximumBodyBytes = 16 * 1024;

/** An action of a user, or of somebody who does not know their password, for the account's audit log. */
export interface SignInAction {
  userId: string;
  operation:
    | "sign in with a password"
    | "sign in a device"
    | "sign in to the dashboard"
    | "sign in a program"
    | "decide on a program"
    | "set a password";
  /** The HTTP status of the response. */
  status: number;
  address: string;
  requestId: string;
}

/** The user, address and request id of an action. */
export function of(ctx: Context, userId: string): Pick<SignInAction, "userId" | "address" | "requestId"> {
  return { userId, address: ctx.ip, requestId: ctx.response.get("x-request-id") };
}

/** The fields of a form; null, after responding, for anything else. */
export async function readForm(ctx: Context): Promise<URLSearchParams | null> {
  const length = Number(ctx.get("content-length") || Number.NaN);
  if (ctx.is("application/x-www-form-urlencoded") && length <= maximumBodyBytes) {
    return new URLSearchParams(await text(ctx.req));
  }
  answer(ctx, 400, errorPage("This is no form", "The request does not come from this page."));
  return null;
}

export function answer(ctx: Context, status: number, body: string): void {
  ctx.status = status;
  ctx.type = "html";
  ctx.body = body;
}

export function redirect(ctx: Context, url: string): void {
  ctx.status = 303;
  ctx.redirect(url);
}
