import { createHash, randomBytes } from "node:crypto";

/** Koa's context for cookies. */
interface Context {
  cookies: {
    get(name: string, options: { signed: boolean }): string | undefined;
    set(name: string, value: string, options: object): unknown;
  };
}

const cookieName = "berth_device";
const keptMs = 180 * 86_400_000;

/** The id of this browser if `name` has signed in with it or set a password in it; otherwise null. */
export function deviceOf(ctx: Context, name: string): string | null {
  const [user, id] = (ctx.cookies.get(cookieName, { signed: true }) ?? "").split(".");
  return user === hashOf(name) && id ? id : null;
}

/** Remembers that `name` uses this browser. The provider's cookie keys sign it. */
export function rememberDevice(ctx: Context, name: string, mount: string): void {
  const id = deviceOf(ctx, name) ?? randomBytes(16).toString("base64url");
  const options = {
    signed: true,
    httpOnly: true,
    sameSite: "lax",
    path: mount,
    maxAge: keptMs,
    overwrite: true,
  } as const;
  ctx.cookies.set(cookieName, `${hashOf(name)}.${id}`, options);
}

function hashOf(name: string): string {
  return createHash("sha256").update(name).digest("base64url");
}
