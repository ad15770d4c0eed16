import { z } from "zod";
import { managing, route, using } from "../route.ts";
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
};
