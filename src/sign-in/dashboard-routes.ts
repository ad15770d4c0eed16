import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import fastifyStatic from "@fastify/static";
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import type { AppContext } from "../context.ts";
import { BerthError } from "../contract/errors.ts";
import { routes } from "../contract/routes.ts";
import { dashboardPrefix } from "../contract/sign-in.ts";
import { valuesOf } from "../core/http/cookies.ts";
import { handle } from "../core/http/handle.ts";
import { isOriginOf } from "../core/http/origins.ts";
import { limitAddress } from "../core/http/rate-limits.ts";
import { type DashboardSessions, dashboardSessionMs } from "./dashboard-sessions.ts";
import { type FirstAnswers, firstAnswers } from "./first-answers.ts";
import { firstPage, firstStyleSource } from "./first-page.ts";

/** The paths that its cookie is sent to: that of its tokens, and those of the dashboard's pages. */
const sessionPaths = ["/dashboard/session", `${dashboardPrefix}/`];
const sessionCookie = "berth_dashboard";
/** Only with https. The prefix stops pages of sibling domains from setting it (RFC 6265bis). */
const sealCookie = "__Host-berth_dashboard_seal";
const pendingSeconds = 600;

/**
 * The dashboard runs only its own script files, and no injected ones (Trusted Types). It connects to this service only,
 * frames only pages that agents serve and its own diagrams, and cannot be framed. `previews`: the origins of those pages.
 */
const policyWith = (previews: string, styles = "") =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self'${styles}`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    `frame-src 'self' ${previews}`,
    "manifest-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    // The address of its service worker, which is constant.
    "trusted-types berth-worker",
  ].join("; ");

/**
 * A diagram is drawn from what an agent wrote, in a page that only the dashboard frames. It has no origin, so no cookies
 * and no access to the dashboard, and no network but for its own scripts. `server`: their origin.
 */
const diagramPolicy = (server: string) =>
  [
    "sandbox allow-scripts",
    "default-src 'none'",
    `script-src 'self' ${server}`,
    "style-src 'unsafe-inline'",
    "img-src data:",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'self'",
  ].join("; ");

/** The built dashboard. */
const folder = fileURLToPath(new URL("../../dashboard/dist", import.meta.url));

/** The dashboard: its files, and the sign-in of browsers. */
export function dashboardRoutes(context: AppContext): FastifyPluginAsync {
  const { dashboardSessions: sessions, address, previewHosts } = context;
  const document = async (request: FastifyRequest, reply: FastifyReply, first: FirstAnswers | null = null) => {
    const policy = policyWith(previewHosts.source, first === null ? "" : ` ${firstStyleSource}`);
    const index = await readFile(join(folder, "index.html"), "utf8").catch(() => null);
    if (index === null)
      throw new BerthError("path_not_found", "The dashboard has not been built. `make dashboard` builds it.");
    reply.header("content-security-policy", policy).header("referrer-policy", "no-referrer");
    reply.header("cache-control", first === null ? "no-cache" : "no-store").type("text/html; charset=utf-8");
    const page = first === null ? index : firstPage(index, first);
    reply.header("vary", "accept-encoding");
    if (!/\bgzip\b/.test(String(request.headers["accept-encoding"]))) return reply.send(page);
    return reply.header("content-encoding", "gzip").send(await promisify(gzip)(page));
  };
  const cookies = new Cookies(() => address.public);
  return async (app) => {
    app.addHook("onRequest", async (request, reply) => {
      const elsewhere = publicPage(address.public, request);
      return elsewhere === null ? undefined : reply.redirect(elsewhere, 307);
    });
    await app.register(fastifyStatic, { root: folder, serve: false, preCompressed: true });
    handle(app, routes.openDashboard, async (request, reply) => {
      const { state } = request.query as { state?: unknown };
      if (state === undefined) return document(request, reply);
      await limitAddress(context, request, reply);
      return signedIn(request, reply, sessions, cookies);
    });
    handle(app, routes.openDashboardPage, async (request, reply) => {
      const session = isForeign(request) ? "" : cookies.sessionOf(request);
      return document(request, reply, session === "" ? null : await firstAnswers(context, app, request, session));
    });
    handle(app, routes.getDashboardWorker, async (_request, reply) => reply.sendFile("push.js", folder, { maxAge: 0 }));
    handle(app, routes.getDashboardDiagram, async (_request, reply) => {
      reply.header("content-security-policy", diagramPolicy(new URL(address.public).origin));
      reply.removeHeader("origin-agent-cluster");
      return reply.header("referrer-policy", "no-referrer").sendFile("diagram.html", folder, { maxAge: 0 });
    });
    handle(app, routes.getDashboardFile, async ({ params }, reply) =>
      // A diagram's page has no origin, and may read them nevertheless: they are the same for everyone. Their names contain a
      // hash of their content.
      reply
        .header("access-control-allow-origin", "*")
        .sendFile(params.file, join(folder, "assets"), { immutable: true, maxAge: "365d" }),
    );
    handle(app, routes.signInToDashboard, async (request, reply) => {
      await limitAddress(context, request, reply);
      const { url, pending } = await sessions.begin(pageOf(request.query.to));
      reply.header("set-cookie", cookies.pending(pending)).header("cache-control", "no-store");
      return reply.redirect(url, 303);
    });
    handle(app, routes.getDashboardToken, async (request, reply) => {
      requireSameOrigin(request);
      reply.header("cache-control", "no-store");
      try {
        const { accessToken, accessExpiresAt } = await sessions.token(cookies.sessionOf(request));
        return { accessToken, expiresAt: new Date(accessExpiresAt).toISOString() };
      } catch (error) {
        if (error instanceof BerthError && error.status === 401) await limitAddress(context, request, reply);
        throw error;
      }
    });
    handle(app, routes.signOutOfDashboard, async (request, reply) => {
      requireSameOrigin(request);
      const signOutUrl = await sessions.end(cookies.sessionOf(request), request.query.everywhere);
      reply.header("set-cookie", cookies.session(null));
      return { signOutUrl };
    });
  };
}

/**
 * The address at `localhost` of a page that was opened at 127.0.0.1 or [::1]: browsers keep cookies and passkeys for one
 * name. Null for any other request.
 */
function publicPage(publicUrl: string, { method, headers, url }: FastifyRequest): string | null {
  const { hostname, port } = new URL(publicUrl);
  const isLocal = hostname === "localhost" && [`127.0.0.1:${port}`, `[::1]:${port}`].includes(headers.host ?? "");
  return isLocal && method === "GET" && headers["sec-fetch-mode"] === "navigate" ? publicUrl + url : null;
}

/** The browser comes back from the identity provider. */
async function signedIn(
  request: FastifyRequest,
  reply: FastifyReply,
  sessions: DashboardSessions,
  cookies: Cookies,
): Promise<FastifyReply> {
  reply.header("cache-control", "no-store").header("set-cookie", cookies.pending(null));
  try {
    const returned = new URL(request.url, "http://berth");
    const { session, to } = await sessions.finish(returned, cookies.pendingOf(request));
    return reply.header("set-cookie", cookies.session(session)).redirect(to, 303);
  } catch (error) {
    if (!(error instanceof BerthError)) throw error;
    request.log.info({ err: error }, "a sign-in to the dashboard failed");
    // The dashboard has its own text for each code. A text in the link could be forged.
    const query = new URLSearchParams({ code: error.code });
    return reply.redirect(`${dashboardPrefix}/signed-out?${query}`, 303);
  }
}

/** Returns a path of the dashboard for any input. */
function pageOf(to = ""): string {
  if (!URL.canParse(to, "http://berth")) return `${dashboardPrefix}/`;
  const { pathname, search, origin } = new URL(to, "http://berth");
  return origin === "http://berth" && pathname.startsWith(`${dashboardPrefix}/`)
    ? pathname + search
    : `${dashboardPrefix}/`;
}

/** Allows only requests from the dashboard itself. Browsers also send the cookie from pages of sibling domains. */
function requireSameOrigin({ headers }: FastifyRequest): void {
  const { "sec-fetch-site": site, origin, host } = headers;
  const isForeign = site !== undefined ? site !== "same-origin" : origin !== undefined && !isOriginOf(origin, host);
  if (isForeign) throw new BerthError("forbidden", "Only the dashboard's own pages may ask for this.");
}

/** Whether a page of another origin opens this one, such as an agent's preview. */
function isForeign({ headers: { "sec-fetch-site": site } }: FastifyRequest): boolean {
  return site === "cross-site" || site === "same-site";
}

/**
 * The dashboard's cookies, as headers. A page of a sibling domain, such as an agent's preview, can set cookies for the
 * common domain. With https, a session cookie from another host is ignored because it has no matching seal, and a
 * pending sign-in cannot be replaced. The seal is a separate cookie because its prefix requires the path `/`, while the
 * session is sent to few paths only.
 */
class Cookies {
  readonly #publicUrl: () => string;

  constructor(publicUrl: () => string) {
    this.#publicUrl = publicUrl;
  }

  /** The session; empty if there is none. */
  sessionOf({ headers: { cookie } }: FastifyRequest): string {
    const sent = valuesOf(cookie, sessionCookie);
    const seals = valuesOf(cookie, sealCookie);
    const own = this.#isSecure ? sent.find((each) => seals.includes(sealOf(each))) : sent[0];
    return own ?? "";
  }

  /** Null removes it. */
  session(value: string | null): string[] {
    const seconds = dashboardSessionMs / 1000;
    const session = sessionPaths.map((path) =>
      this.#header(sessionCookie, value, `Path=${path}; SameSite=Strict`, seconds),
    );
    if (!this.#isSecure) return session;
    return [...session, this.#header(sealCookie, value && sealOf(value), "Path=/; SameSite=Strict", seconds)];
  }

  /** The pending sign-in; empty if there is none. */
  pendingOf({ headers: { cookie } }: FastifyRequest): string {
    return valuesOf(cookie, this.#pendingName)[0] ?? "";
  }

  /** Lax: an external provider redirects the browser from another site. */
  pending(value: string | null): string {
    return this.#header(this.#pendingName, value, "Path=/; SameSite=Lax", pendingSeconds);
  }

  get #isSecure(): boolean {
    return this.#publicUrl().startsWith("https:");
  }

  get #pendingName(): string {
    return this.#isSecure ? "__Host-berth_signing_in" : "berth_signing_in";
  }

  #header(name: string, value: string | null, where: string, seconds: number): string {
    const secure = this.#isSecure ? "; Secure" : "";
    return `${name}=${value ?? ""}; ${where}; HttpOnly; Max-Age=${value === null ? 0 : seconds}${secure}`;
  }
}

function sealOf(session: string): string {
  return createHash("sha256").update(`seal of ${session}`).digest("base64url");
}
