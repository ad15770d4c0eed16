import { z } from "zod";
import { AgentParams } from "../agents.ts";
import {
  AccountConnectionList,
  AccountConnectionsQuery,
  ChangeEgress,
  EgressLog,
  EgressLogQuery,
  EgressPolicy,
} from "../egress.ts";
import { route, using } from "../route.ts";
import { SecretList, SecretParams, SecretRecord, SetSecret } from "../secrets.ts";

/** Where an agent's programs may connect, and the secrets for their requests. */
export const egressRoutes = {
  getNetwork: route({
    method: "GET",
    path: "/agents/{name}/network",
    summary: "Read where an agent's programs may connect to",
    params: AgentParams,
    responses: { 200: EgressPolicy },
    permission: using,
    by: "any",
  }),
  setNetwork: route({
    method: "PUT",
    path: "/agents/{name}/network",
    summary: "Set where an agent's programs may connect to",
    description:
      "Applies to new connections; open connections that are no longer allowed are closed. `deny` takes precedence over `allow`, and the operator's own lists apply too.",
    params: AgentParams,
    body: ChangeEgress,
    responses: { 200: EgressPolicy },
    permission: using,
  }),
  listConnections: route({
    method: "GET",
    path: "/agents/{name}/network/log",
    summary: "Read the log of an agent's connections",
    description: "Each connection that its programs requested, once it is closed: the decision and the outcome.",
    params: AgentParams,
    query: EgressLogQuery,
    responses: { 200: EgressLog },
    permission: using,
    by: "leader, or any",
  }),
  listAccountConnections: route({
    method: "GET",
    path: "/network/log",
    summary: "Read the log of all agents' connections",
    query: AccountConnectionsQuery,
    responses: { 200: AccountConnectionList },
    permission: using,
  }),
  listSecrets: route({
    method: "GET",
    path: "/agents/{name}/secrets",
    summary: "List the secrets that an agent can use, without their values",
    params: AgentParams,
    responses: { 200: SecretList },
    permission: using,
    by: "any",
  }),
  setSecret: route({
    method: "PUT",
    path: "/agents/{name}/secrets/{secret}",
    summary: "Set an agent's secret",
    description:
      "In the machine, the variable with this name holds a placeholder. When a program sends it in a header to one of the hosts, the service replaces it with the value.",
    params: SecretParams,
    body: SetSecret,
    responses: { 200: SecretRecord, 201: SecretRecord },
    permission: using,
  }),
  removeSecret: route({
    method: "DELETE",
    path: "/agents/{name}/secrets/{secret}",
    summary: "Remove an agent's secret",
    params: SecretParams,
    responses: { 204: z.null() },
    permission: using,
  }),
};
