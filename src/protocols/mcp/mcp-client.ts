import { randomUUID } from "node:crypto";
import { CLIENT_CAPABILITIES_META_KEY, type McpRequestContext } from "@modelcontextprotocol/server";
import type { FastifyRequest } from "fastify";
import { routes } from "../../contract/routes.ts";
import { allows } from "../../contract/workspaces.ts";
import type { Caller } from "../../core/http/caller.ts";

/** https://github.com/modelcontextprotocol/ext-tasks, for 2026-07-28. */
export const tasksExtension = "io.modelcontextprotocol/tasks";

/** The client of a request. */
export interface McpClient {
  isModern: boolean;
  /** Whether this call may be answered with a task. */
  takesTask: boolean;
  /** Whether it shows forms to its user, who may answer approvals. */
  elicits: boolean;
}

interface Capabilities {
  elicitation?: { form?: unknown; url?: unknown };
  extensions?: Record<string, unknown>;
}

/** A client of 2026-07-28 declares itself in each request, an earlier one in its first alone. */
export function clientOf({ era }: McpRequestContext, { body, headers, caller }: FastifyRequest): McpClient {
  const { params } = (body ?? {}) as { params?: { task?: unknown; _meta?: Record<string, Capabilities | undefined> } };
  const isModern = era === "modern";
  const { elicitation, extensions } = params?._meta?.[CLIENT_CAPABILITIES_META_KEY] ?? {};
  const takesTask = isModern ? extensions?.[tasksExtension] !== undefined : params?.task !== undefined;
  const showsForms = isModern ? takesForms(elicitation) : String(headers[sessionHeader]).endsWith(elicitingSession);
  return { isModern, takesTask, elicits: showsForms && mayAnswer(caller) };
}

/** An empty capability means forms. */
function takesForms(elicitation: Capabilities["elicitation"]): boolean {
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

/** Whether the caller may answer approvals. */
function mayAnswer({ credential, role }: Caller): boolean {
  const { permission } = routes.answerApproval;
  return permission[credential] !== "no" && allows(role, permission.needs);
}

export const sessionHeader = "mcp-session-id";
const elicitingSession = ".elicitation";

/**
 * The session of a client of 2025 that shows forms; null: without a session. Nothing is stored: its id reminds later
 * requests of what the client has declared in its first.
 */
export function sessionFor(body: unknown): string | null {
  const { method, params } = (body ?? {}) as { method?: unknown; params?: { capabilities?: Capabilities } };
  const isFirst = method === "initialize" && takesForms(params?.capabilities?.elicitation ?? undefined);
  return isFirst ? randomUUID() + elicitingSession : null;
}
