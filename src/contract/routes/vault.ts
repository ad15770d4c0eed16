import { z } from "zod";
import { managing, route, using } from "../route.ts";
import {
  ConfirmMcpServer,
  ConnectMcpServer,
  McpClient,
  McpConnection,
  mcpCallbackPath,
  mcpClientPath,
} from "../secret-logins.ts";
import { SetWorkspaceSecret, WorkspaceSecret, WorkspaceSecretList, WorkspaceSecretParams } from "../vault.ts";

/** Secrets of a workspace, which several of its agents can use. */
export const vaultRoutes = {
  listWorkspaceSecrets: route({
    method: "GET",
    path: "/secrets",
    summary: "List the workspace's secrets, without their values",
    responses: { 200: WorkspaceSecretList },
    permission: using,
  }),
  getWorkspaceSecret: route({
    method: "GET",
    path: "/secrets/{secret}",
    summary: "Show a secret of the workspace, without its value",
    params: WorkspaceSecretParams,
    responses: { 200: WorkspaceSecret },
    permission: using,
  }),
  setWorkspaceSecret: route({
    method: "PUT",
    path: "/secrets/{secret}",
    summary: "Set a secret of the workspace",
    description:
      "Each agent that can use it has a placeholder of its own in the variable with this name. An agent's own secret of the same name takes precedence.",
    params: WorkspaceSecretParams,
    body: SetWorkspaceSecret,
    responses: { 200: WorkspaceSecret, 201: WorkspaceSecret },
    permission: managing,
  }),
  removeWorkspaceSecret: route({
    method: "DELETE",
    path: "/secrets/{secret}",
    summary: "Delete a secret of the workspace",
    params: WorkspaceSecretParams,
    responses: { 204: z.null() },
    permission: managing,
  }),
  connectMcpServer: route({
    method: "POST",
    path: "/secrets/{secret}/connect",
    summary: "Sign in to an MCP server, or sign in again",
    description:
      "The secret's value is then the token that the MCP server's authorization server gives (OAuth 2.1). It may be sent to this MCP server alone, and is refreshed. A person opens `authorizationUrl`. In the browser that made this request, that is all; in any other, the last page shows a code for `POST /secrets/{secret}/confirm`. An earlier sign-in stays in use until then.",
    params: WorkspaceSecretParams,
    body: ConnectMcpServer,
    responses: { 200: McpConnection },
    permission: managing,
  }),
  confirmMcpServer: route({
    method: "POST",
    path: "/secrets/{secret}/confirm",
    summary: "Confirm a sign-in to an MCP server with the code that the browser shows",
    description: "Only for the person, or the key, that began it.",
    params: WorkspaceSecretParams,
    body: ConfirmMcpServer,
    responses: { 200: WorkspaceSecret },
    permission: managing,
  }),
  returnFromMcpServer: route({
    method: "GET",
    path: mcpCallbackPath,
    summary: null,
    responses: {},
    permission: "public",
  }),
  getMcpClient: route({
    method: "GET",
    path: mcpClientPath,
    summary: "How this service describes itself to the authorization servers of MCP servers",
    responses: { 200: McpClient },
    permission: "public",
  }),
};
