import type { z } from "zod";
import type { Credential } from "./keys.ts";
import type { TicketRequest } from "./tickets.ts";
import type { Need } from "./workspaces.ts";

/**
 * `all`: everything in the workspace. `named`: only the key's agents. `operator`: only for the operator's account. `no`:
 * 403.
 */
type Rule = "all" | "named" | "operator" | "no";

/** The rule for each kind of credential, and what the caller's role must allow in the workspace. */
export type Permission = Readonly<Record<Credential, Rule> & { needs: Need }>;

const ownCredentials = { full: "all", token: "all", agent: "no" } as const;
const anyCredential = { full: "all", token: "all", agent: "named" } as const;

/** For all members of the workspace, and not for external agent keys. */
export const reading: Permission = { ...ownCredentials, needs: "read" };
/** Except for viewers. */
export const using: Permission = { ...ownCredentials, needs: "use" };
/** For admins and owners. */
export const managing: Permission = { ...ownCredentials, needs: "manage" };
export const owning: Permission = { ...ownCredentials, needs: "own" };
/** Also for external agent keys, with their agents. */
export const chatting: Permission = { ...anyCredential, needs: "use" };
export const chatReading: Permission = { ...anyCredential, needs: "read" };
/** For people who have signed in: a key belongs to one workspace. */
export const people: Permission = { full: "no", token: "all", agent: "no", needs: "read" };
/** Only for the operator. */
export const operatorOnly: Permission = { full: "operator", token: "operator", agent: "no", needs: "read" };

/** A route's row in the table. */
export interface RouteDefinition {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With parameters in braces: `/agents/{name}`. */
  path: string;
  /** Null: the route is not in the OpenAPI document. */
  summary: string | null;
  description?: string;
  params?: z.ZodObject;
  query?: z.ZodObject;
  /** Headers that the route reads, in addition to those of every request. */
  headers?: z.ZodObject;
  body?: z.ZodType;
  /** The most bytes that a JSON body may have, where it is not the usual limit. */
  maximumBytes?: number;
  /**
   * The body is bytes instead of JSON. `whole`: the handler gets them all, within the limit of bodies. `stream`: it reads
   * them as they come, however many there are.
   */
  takesBytes?: "whole" | "stream";
  /** The bytes are a form with a file (`multipart/form-data`). */
  takesForm?: true;
  /** The shape of its error responses; Berth's own by default. JSON-RPC: errors before the call have Berth's shape. */
  errors?: "openai" | "json-rpc";
  /** By status. The first is the default. */
  responses: Readonly<Record<number, z.ZodType>>;
  /** `public`: needs no credentials. */
  permission: Permission | "public";
  /**
   * Owners and admins may also use it with another person's private agent. The other routes are closed to all but the
   * agent's maker: for others it does not exist.
   */
  oversees?: true;
  /** The route creates something with its own rate limit per account. */
  limit?: "agents" | "keys";
  /** The response is, or may be, a stream of these events. */
  stream?: z.ZodType;
  /** The route is a WebSocket. A ticket for this purpose opens it, too, where there are such. */
  socket?: TicketRequest["for"] | "no ticket";
  /** A ticket for this purpose opens the route, too. */
  ticket?: TicketRequest["for"];
  /** The response is also available as CSV. */
  csv?: true;
  /** The path's last parameter is all the rest of the path, slashes included. */
  rest?: true;
  /** The response is, or may be, bytes of these content types. */
  givesBytes?: readonly string[];
  /**
   * The body says which other operations of the table it is for: the handler checks, counts and logs each as its own row
   * says (`protocols/carried-operations.ts`).
   */
  carries?: true;
  /** Tokens that were issued for this alone are accepted, too. */
  audience?: "mcp";
  /** It may begin a turn: its requests are in traces, where there are such. */
  traced?: true;
  /** Whether it is written to the audit log. Default: all requests are that may change something. */
  isAudited?: boolean;
  /** The server that handles the request, if it differs from `servedBy`. */
  by?: ServedBy;
  /**
   * The part of the body that names the agent, whose host's leader handles the request: the field `model`, the field
   * `from.agent`, or the first tool call with an argument `agent`.
   */
  agentIn?: "model" | "from" | "calls";
}

/**
 * Which server does what a request asks for; the others pass it on. `any`: each, from the database. `leader`: the one
 * that leads the host of the agent in the path. `leader, or any`: any from the database while nobody leads. `own
 * leader`: the one that leads the host of the response in the path, and without one that of the server that was asked.
 */
type ServedBy = "any" | "leader" | "leader, or any" | "own leader";

interface Derived {
  /** The route's name in the audit log and in errors: `PATCH /agents/{name}`. */
  readonly operation: string;
  /** Whether it accepts an `Idempotency-Key`. */
  readonly idempotent: boolean;
  /** Whether each request is written to the audit log. */
  readonly audited: boolean;
  readonly servedBy: ServedBy;
}

/** An API operation, as used by the server, the OpenAPI document and clients. */
export type Route = RouteDefinition & Derived;

/** Adds the derived fields to a row of the table. */
export function route<const Definition extends RouteDefinition>(definition: Definition): Definition & Derived {
  const { method, path, permission, carries, isAudited, by } = definition;
  const guarded = permission !== "public" && !carries;
  return {
    ...definition,
    operation: `${method} ${path}`,
    idempotent: guarded && method === "POST",
    audited: guarded && (isAudited ?? (method !== "GET" || definition.socket !== undefined)),
    servedBy: by ?? (path.startsWith("/agents/{name}") ? "leader" : "any"),
  };
}

/** A route's JSON response on success; `unknown` if it is not described. */
export type AnswerOf<R extends RouteDefinition> = [keyof R["responses"]] extends [never]
  ? unknown
  : z.output<R["responses"][keyof R["responses"]]>;
