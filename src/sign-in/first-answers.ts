import type { FastifyInstance, FastifyRequest } from "fastify";
import type { AppContext } from "../context.ts";
import type { Agent } from "../contract/agents.ts";
import type { TurnList } from "../contract/chat.ts";
import { dashboardPrefix } from "../contract/sign-in.ts";
import { workspaceHeader } from "../contract/workspaces.ts";
import { valuesOf } from "../core/http/cookies.ts";

/** The dashboard's choices, which its pages keep in these cookies for the first document. */
const workspaceCookie = "berth_workspace";
const themeCookie = "berth_theme";
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** A document is sent without the answers if they take longer, in milliseconds. */
const mostMs = 1_000;

/** The first requests of a page of the dashboard, answered with its document: a slow line has fewer round trips. */
export interface FirstAnswers {
  /** The id of the newest event before the answers. */
  after: number;
  /** The id of the workspace; null: the personal one. */
  workspace: string | null;
  /** The bodies of the API's responses, by path and query. */
  answers: Readonly<Record<string, unknown>>;
  theme: "light" | "dark" | null;
  /** Of a page of one agent. */
  agent: Agent | null;
  /** Of the page of a conversation. */
  turns: TurnList | null;
}

/** The answers for a page, with the rights of its session. Null if the session has ended, or they take too long. */
export async function firstAnswers(
  context: AppContext,
  app: FastifyInstance,
  request: FastifyRequest,
  session: string,
): Promise<FirstAnswers | null> {
  const late = AbortSignal.timeout(mostMs);
  const isLate = new Promise<null>((resolve) => late.addEventListener("abort", () => resolve(null)));
  const answered = read(context, app, request, session).catch((error: unknown) => {
    request.log.debug({ err: error }, "the dashboard's document is sent without answers");
    return null;
  });
  return Promise.race([answered, isLate]);
}

async function read(
  { dashboardSessions, events }: AppContext,
  app: FastifyInstance,
  request: FastifyRequest,
  session: string,
): Promise<FirstAnswers> {
  const { pathname, searchParams } = new URL(request.url, "http://berth");
  const workspace = workspaceOf(request, searchParams);
  const answers: Record<string, unknown> = {};
  const [after, { accessToken }] = await Promise.all([events.last(), dashboardSessions.token(session)]);
  const headers = {
    host: request.headers.host,
    authorization: `Bearer ${accessToken}`,
    ...(workspace !== null && { [workspaceHeader]: workspace }),
  };
  const ask = async <Body>(url: string): Promise<Body | null> => {
    const { statusCode, payload } = await app.inject({ url, headers, remoteAddress: request.ip });
    if (statusCode !== 200) return null;
    const body = JSON.parse(payload) as Body;
    answers[url] = body;
    return body;
  };
  const [, name, tab] = new RegExp(`^${dashboardPrefix}/agents/([a-z0-9-]+)(/.*)?$`).exec(pathname) ?? [];
  const [agent] = await Promise.all([name ? ask<Agent>(`/agents/${name}`) : null, ask("/account"), ask("/me")]);
  let turns: TurnList | null = null;
  if (agent && (tab === undefined || tab === "/")) {
    const conversation = Number(searchParams.get("conversation") ?? agent.conversation);
    [turns] = await Promise.all([
      ask<TurnList>(`/agents/${name}/turns?limit=30&conversation=${conversation}&events=true`),
      ask(`/agents/${name}/conversations?limit=100`),
    ]);
  }
  return { after, workspace, answers, theme: themeOf(request), agent, turns };
}

/** A link's workspace, or that of the browser. The page does not use the answers of another. */
function workspaceOf({ headers }: FastifyRequest, search: URLSearchParams): string | null {
  const id = search.get("workspace") ?? valuesOf(headers.cookie, workspaceCookie)[0] ?? "";
  return uuid.test(id) ? id : null;
}

function themeOf({ headers }: FastifyRequest): "light" | "dark" | null {
  const [theme] = valuesOf(headers.cookie, themeCookie);
  return theme === "light" || theme === "dark" ? theme : null;
}
