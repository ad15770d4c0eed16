import type { z } from "zod";
import type { Credential } from "../contract/keys.ts";

/**
 * `all`: of what the account has. `named`: only of the agents that the key names. `operator`: only where the account is
 * the operator's. `no`: 403.
 */
type Rule = "all" | "named" | "operator" | "no";

/** The rule for each kind of credential. */
export type Permission = Readonly<Record<Credential, Rule>>;

/** What an account's own people may do, and no external agent key. */
export const account: Permission = { full: "all", token: "all", agent: "no" };
/** What an external agent key may do, too, with the agents that it names. */
export const chatting: Permission = { full: "all", token: "all", agent: "named" };
/** What only the operator may do. */
export const operatorOnly: Permission = { full: "operator", token: "operator", agent: "no" };

/** What a row of the table says of a route. */
export interface RouteDefinition {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With parameters in braces: `/agents/{name}`. */
  path: string;
  /** Null: the route is not in the OpenAPI document. */
  summary: string | null;
  description?: string;
  params?: z.ZodObject;
  query?: z.ZodObject;
  body?: z.ZodType;
  /** By status. The first is what a handler answers that sets no status. */
  responses: Readonly<Record<number, z.ZodType>>;
  /** `public`: no credentials are needed. */
  permission: Permission | "public";
  /** The route makes something that is limited by itself, for each account. */
  limit?: "agents" | "keys";
  /** The answer is, or may be, an event stream, of such events. */
  stream?: z.ZodType;
  /** The answer may be asked for as CSV. */
  csv?: true;
}

interface Derived {
  /** What the route is called in the audit log and in refusals: `PATCH /agents/{name}`. */
  readonly operation: string;
  /** It takes an `Idempotency-Key`. */
  readonly idempotent: boolean;
  /** Each request is written to the audit log, since it may change something. */
  readonly audited: boolean;
}

/** One operation of the interface: what the server, its OpenAPI document and clients know of it. */
export type Route = RouteDefinition & Derived;

/** A row of the table, with what follows from it. */
export function route<const Definition extends RouteDefinition>(definition: Definition): Definition & Derived {
  const { method, path, permission } = definition;
  const guarded = permission !== "public";
  return {
    ...definition,
    operation: `${method} ${path}`,
    idempotent: guarded && method === "POST",
    audited: guarded && method !== "GET",
  };
}

/** What a route answers when it succeeds, as JSON; `unknown` where its answer is not described. */
export type AnswerOf<R extends RouteDefinition> = [keyof R["responses"]] extends [never]
  ? unknown
  : z.output<R["responses"][keyof R["responses"]]>;
