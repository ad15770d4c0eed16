import type { KoaContextWithOIDC, Provider } from "oidc-provider";
import { hashLinkToken } from "../accounts/links.ts";
import type { UserStore } from "../accounts/user-store.ts";
import type { ErrorBody } from "../contract/agents.ts";
import { BerthError } from "../contract/errors.ts";
import { dashboardSignIn } from "../contract/sign-in.ts";
import { Password, UserName, userNameKey } from "../contract/users.ts";
import { safeParseValue } from "../contract/validation.ts";
import { admit, takeAdmission } from "./admission-cookie.ts";
import type { SignInAttempt } from "./attempt.ts";
import type { SignInAttempts } from "./attempt-store.ts";
import { decideConsent, showConsent } from "./consent.ts";
import { deviceOf, rememberDevice } from "./device-cookie.ts";
import { pageHeaders } from "./html.ts";
import { answer, type Context, type Middleware, of, readForm, redirect, type SignInAction } from "./page-requests.ts";
import { errorPage, signInPage, welcomePage } from "./pages.ts";
import { hashPassword, isPassword } from "./passwords.ts";
import { register, registrationPath } from "./registration.ts";

export const signInPath = "/interaction/";
export const welcomePath = "/welcome";
export const devicePath = "/device";
const nameOrPassword = "Wrong name or password.";

export interface SignInParts {
  provider: Provider;
  users: UserStore;
  attempts: SignInAttempts;
  record: (action: SignInAction) => Promise<void>;
  /** The path at which the provider is mounted. */
  mount: string;
  /** The service's public URL, without a trailing slash. */
  publicUrl: string;
  /** The first signs; all are trusted. */
  cookieKeys: readonly string[];
}

/** Serves the pages for signing in and setting a password. The provider handles everything else. */
export function signInPages(parts: SignInParts): Middleware {
  return async (ctx, next) => {
    ctx.set(pageHeaders);
    try {
      await pageOf(ctx, parts, next);
    } catch (error) {
      if (!(error instanceof BerthError)) throw error;
      answer(ctx, error.status, errorPage("This cannot be done now", error.message));
    }
    if (ctx.status !== 404 || ctx.body !== undefined) return;
    const message = "There is no such path.";
    ctx.body = { statusCode: 404, message, error: "Not Found", code: "path_not_found" } satisfies ErrorBody;
    ctx.status = 404;
  };
}

async function pageOf(ctx: Context, parts: SignInParts, next: () => Promise<void>): Promise<void> {
  const { path, method } = ctx;
  const isSignIn = path.startsWith(signInPath);
  const isWelcome = path === welcomePath;
  if (isSignIn && (method === "GET" || method === "POST")) return interact(ctx, parts);
  if (method === "GET" && isWelcome) return showWelcome(ctx, parts);
  if (method === "POST" && path === registrationPath) return register(ctx, parts.cookieKeys);
  if (method === "POST" && isWelcome) return setPassword(ctx, parts);
  if (method === "POST" && isDevicePath(path)) return limitCodes(ctx, parts, next);
  return next();
}

/** Matches paths as the provider does: ignoring case and a trailing slash. */
function isDevicePath(path: string): boolean {
  return path.toLowerCase().replace(/\/+$/, "") === devicePath;
}

/** Device codes can be guessed, like passwords. */
async function limitCodes(ctx: Context, parts: SignInParts, next: () => Promise<void>): Promise<void> {
  const attempt = { name: null, address: ctx.ip, device: null };
  if (await isBarred(ctx, parts, attempt)) return;
  await next();
  const { oidc } = ctx as unknown as KoaContextWithOIDC;
  if (oidc.entities.DeviceCode) await parts.attempts.succeeded(attempt);
}

/** Whether there were too many attempts; if so, responds with a page that says so. */
async function isBarred(ctx: Context, { attempts }: SignInParts, attempt: SignInAttempt): Promise<boolean> {
  const wait = await attempts.begin(attempt);
  if (wait === null) return false;
  ctx.set("retry-after", String(wait));
  const minutes = Math.ceil(wait / 60);
  const text = `There were too many attempts. Try again in ${minutes} minute${minutes === 1 ? "" : "s"}.`;
  answer(ctx, 429, errorPage("Too many attempts", text));
  return true;
}

/** Serves the current step of a sign-in: the password, or the consent to a program. */
async function interact(ctx: Context, parts: SignInParts): Promise<void> {
  const begun = await begunHere(ctx, parts);
  if (!begun) return;
  const isForm = ctx.method === "POST";
  if (begun.prompt.name !== "consent") return isForm ? signIn(ctx, parts) : showSignIn(ctx, parts);
  return isForm ? decideConsent(ctx, parts, begun) : showConsent(ctx, parts, begun);
}

async function showSignIn(ctx: Context, parts: SignInParts): Promise<void> {
  const admitted = takeAdmission(ctx, parts.mount);
  const user = admitted === null ? null : await parts.users.byId(admitted);
  if (admitted === null || !user || user.disabledAt)
    return answer(ctx, 200, signInPage({ action: parts.mount + ctx.path }));
  redirect(ctx, await parts.provider.interactionResult(ctx.req, ctx.res, { login: { accountId: admitted } }));
}

async function signIn(ctx: Context, parts: SignInParts): Promise<void> {
  const form = await readForm(ctx);
  if (!form) return;
  const name = UserName.safeParse(form.get("name")).data ?? null;
  // Invalid names count as one name.
  const counted = name === null ? "" : userNameKey(name);
  const attempt = { name: counted, address: ctx.ip, device: deviceOf(ctx, counted) };
  if (await isBarred(ctx, parts, attempt)) return;
  const user = name === null ? null : await parts.users.byName(name);
  const password = (form.get("password") ?? "").normalize("NFKC").slice(0, 200);
  const again = async (wrong: string) => {
    if (user) await parts.record({ ...of(ctx, user.id), operation: "sign in with a password", status: 401 });
    answer(ctx, 401, signInPage({ action: parts.mount + ctx.path, name: form.get("name") ?? "", wrong }));
  };
  if (!(await isPassword(password, user?.passwordHash ?? null)) || !user) return again(nameOrPassword);
  await parts.attempts.succeeded(attempt);
  if (user.disabledAt) return again("This user is disabled. The operator can enable it again.");
  rememberDevice(ctx, counted, parts.mount);
  const next = await parts.provider.interactionResult(ctx.req, ctx.res, { login: { accountId: user.id } });
  await parts.record({ ...of(ctx, user.id), operation: "sign in with a password", status: 303 });
  redirect(ctx, next);
}

/** The sign-in begun in this browser; null, after responding with a page, if there is none or it has expired. */
async function begunHere(ctx: Context, { provider }: SignInParts) {
  const interaction = await provider.interactionDetails(ctx.req, ctx.res).catch((error: Error) => {
    if (error.name === "SessionNotFound") return null;
    throw error;
  });
  if (interaction && ctx.path === signInPath + interaction.uid) return interaction;
  const text = "Go back to where you came from and begin again. The browser must allow cookies.";
  answer(ctx, 400, errorPage("This sign-in has ended", text));
  return null;
}

async function showWelcome(ctx: Context, { users, mount }: SignInParts): Promise<void> {
  const token = new URLSearchParams(ctx.querystring).get("token") ?? "";
  const link = await users.findLink(hashLinkToken(token));
  if (!link) return linkHasEnded(ctx);
  answer(ctx, 200, welcomePage({ action: mount + welcomePath, token, name: link.name }));
}

async function setPassword(ctx: Context, { users, record, mount, publicUrl }: SignInParts): Promise<void> {
  const form = await readForm(ctx);
  if (!form) return;
  const token = form.get("token") ?? "";
  const link = await users.findLink(hashLinkToken(token));
  if (!link) return linkHasEnded(ctx);
  const name = safeParseValue(UserName, link.name ?? form.get("name"));
  const password = safeParseValue(Password, form.get("password"));
  const wrong =
    [name, password].flatMap((each) => (each.success ? [] : each.issues))[0]?.message ??
    (form.get("password") === form.get("again") ? undefined : "The passwords do not match.");
  if (wrong !== undefined || !name.success || !password.success) {
    const chosen = form.get("name") ?? "";
    return answer(ctx, 400, welcomePage({ action: mount + welcomePath, token, name: link.name, wrong, chosen }));
  }
  const used = await users.useLink(hashLinkToken(token), await hashPassword(password.data), name.data);
  if (!used) return linkHasEnded(ctx);
  rememberDevice(ctx, userNameKey(name.data), mount);
  const user = await users.byName(name.data);
  if (user) {
    await record({ ...of(ctx, user.id), operation: "set a password", status: 200 });
    admit(ctx, user.id, mount);
  }
  redirect(ctx, `${publicUrl}${dashboardSignIn}`);
}

function linkHasEnded(ctx: Context): void {
  const text = "It was used before, or is too old. The operator makes a new one: berth admin users reset NAME";
  answer(ctx, 410, errorPage("This link has ended", text));
}
