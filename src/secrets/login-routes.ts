import type { FastifyPluginAsync } from "fastify";
import type { AppContext } from "../context.ts";
import { routes } from "../contract/routes.ts";
import { mcpCallbackPath } from "../contract/secret-logins.ts";
import { dashboardPrefix } from "../contract/sign-in.ts";
import { valuesOf } from "../core/http/cookies.ts";
import { handle } from "../core/http/handle.ts";
import { limitAddress } from "../core/http/rate-limits.ts";
import { type Html, html, page, pageHeaders } from "../sign-in/html.ts";
import { attemptSeconds } from "./login-store.ts";
import type { Outcome } from "./logins.ts";
import { toWorkspaceSecretView } from "./vault.ts";

/** Sign-ins to MCP servers. */
export function secretLoginRoutes(context: AppContext): FastifyPluginAsync {
  const { vault, secretLogins, address } = context;
  return async (app) => {
    handle(app, routes.connectMcpServer, async ({ caller, params, body }, reply) => {
      const { authorizationUrl, expiresAt, state } = await vault.connect(caller, params.secret, body);
      reply.header("set-cookie", cookieOf(address.public, state)).header("cache-control", "no-store");
      return { authorizationUrl, expiresAt };
    });

    handle(app, routes.confirmMcpServer, async ({ caller, params, body }) =>
      toWorkspaceSecretView(await vault.confirm(caller, params.secret, body.code)),
    );

    handle(app, routes.getMcpClient, async (request, reply) => {
      await limitAddress(context, request, reply);
      return secretLogins.self;
    });

    handle(app, routes.returnFromMcpServer, async (request, reply) => {
      await limitAddress(context, request, reply);
      const { searchParams } = new URL(request.url, "http://berth");
      const isOwn = (state: string) =>
        valuesOf(request.headers.cookie, cookieName(address.public, state)).includes(state);
      const { status, title, body } = pageOf(await secretLogins.returned(searchParams, isOwn));
      return reply.code(status).headers(pageHeaders).type("text/html; charset=utf-8").send(page(title, body));
    });
  };
}

/** One for each sign-in: several can be under way. With https, pages of sibling domains cannot set it (RFC 6265bis). */
function cookieName(publicUrl: string, state: string): string {
  return `${publicUrl.startsWith("https:") ? "__Host-" : ""}berth_mcp_${state.slice(0, 8)}`;
}

/** Lax: the authorization server redirects the browser from another site. */
function cookieOf(publicUrl: string, state: string): string {
  const where = publicUrl.startsWith("https:") ? "Path=/; Secure" : `Path=${mcpCallbackPath}`;
  return `${cookieName(publicUrl, state)}=${state}; ${where}; HttpOnly; SameSite=Lax; Max-Age=${attemptSeconds}`;
}

function pageOf(outcome: Outcome): { status: number; title: string; body: Html } {
  const back = html`<p><a href="${dashboardPrefix}/secrets">Secrets of the workspace</a></p>`;
  if ("code" in outcome) {
    return {
      status: 200,
      title: "Enter this code",
      body: html`<p class="code">${outcome.code}</p>
<p>Enter it where you began to connect the MCP server. It was not this browser.</p>
<p class="wrong">If you did not begin this yourself, close this page. With the code, somebody else's agents could use your
account. Never pass it on.</p>`,
    };
  }
  if (outcome.ended === "connected") {
    return { status: 200, title: "Connected", body: html`<p>Agents can use the MCP server now.</p>${back}` };
  }
  const reason =
    outcome.ended === "failed"
      ? outcome.reason
      : "This sign-in has ended, was finished already, or never began. Begin it again.";
  return { status: 400, title: "Not connected", body: html`<p class="wrong">${reason}</p>${back}` };
}
