/** Koa's context for cookies. */
interface Context {
  cookies: {
    get(name: string, options: { signed: boolean }): string | undefined;
    set(name: string, value: string | null, options: object): unknown;
  };
}

const cookieName = "berth_admitted";
/** The time from setting a password to opening the dashboard. */
const admittedMs = 60_000;

/** Allows this browser one sign-in without a password, as the user whose password was just set in it. */
export function admit(ctx: Context, userId: string, mount: string): void {
  const options = { signed: true, httpOnly: true, sameSite: "lax", path: mount, maxAge: admittedMs, overwrite: true };
  ctx.cookies.set(cookieName, `${userId}.${Date.now() + admittedMs}`, options);
}

/** Consumes the admission. Returns its user; null without one. */
export function takeAdmission(ctx: Context, mount: string): string | null {
  const [userId, until] = (ctx.cookies.get(cookieName, { signed: true }) ?? "").split(".");
  if (!userId) return null;
  ctx.cookies.set(cookieName, null, { signed: true, path: mount, overwrite: true });
  return Number(until) > Date.now() ? userId : null;
}
