import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import type { AppContext } from "../context.ts";
import { routes } from "../contract/routes.ts";
import { dashboardPrefix } from "../contract/sign-in.ts";
import type { DeletedWorkspace, Invitation, Member, Person, Workspace } from "../contract/workspaces.ts";
import { handle } from "../core/http/handle.ts";
import { fromCursor, pageOf, timedKey, timedPattern } from "../core/http/paging.ts";
import type { DeletedWorkspaceState } from "./deleted-store.ts";
import type { InvitationState, MemberState, PersonState, WorkspaceState } from "./workspaces.ts";

/** `/me`, `/workspaces` and `/deleted-workspaces`. */
export function workspaceRoutes(context: AppContext): FastifyPluginAsync {
  const { workspaces, deletedWorkspaces } = context;
  return async (app) => {
    handle(app, routes.getMe, async ({ caller }) => {
      const [person, workspace, memberships] = await Promise.all([
        workspaces.person(caller),
        workspaces.current(caller),
        workspaces.list(caller),
      ]);
      return {
        person: person && toPersonView(person),
        workspace: toWorkspaceView(workspace),
        memberships: memberships.map(toWorkspaceView),
      };
    });

    handle(app, routes.listWorkspaces, async ({ caller }) => ({
      data: (await workspaces.list(caller)).map(toWorkspaceView),
    }));

    handle(app, routes.createWorkspace, async ({ caller, body, attempt }, reply) => {
      const workspace = await workspaces.create(caller, body.name, attempt.resourceId);
      reply.header("location", `/workspaces/${workspace.id}`);
      return toWorkspaceView(workspace);
    });

    handle(app, routes.renameWorkspace, async ({ caller, body }) =>
      toWorkspaceView(await workspaces.rename(caller, body.name)),
    );

    handle(app, routes.deleteWorkspace, async ({ caller, query, log }, reply) => {
      const isKept = await workspaces.remove(caller, { force: query.force !== "false" });
      if (!isKept) return reply.code(204).send(null);
      // The timer's next sweep does what this one does not.
      void deletedWorkspaces.sweep().catch((error: unknown) => log.error({ err: error }, "a sweep failed"));
      return reply.code(202).send({});
    });

    handle(app, routes.listDeletedWorkspaces, async ({ caller }) => ({
      data: (await deletedWorkspaces.list(caller)).map(toDeletedView),
    }));

    handle(app, routes.restoreWorkspace, async (request) => {
      const workspace = await deletedWorkspaces.restore(request.caller, request.params.id);
      await logIn(context, request, workspace.id);
      return toWorkspaceView(workspace);
    });
  };
}

/** `/members`. */
export function memberRoutes({ workspaces }: AppContext): FastifyPluginAsync {
  return async (app) => {
    handle(app, routes.listMembers, async ({ caller, query: { limit, cursor } }) => {
      const found = await workspaces.members(caller, limit + 1, fromCursor(cursor, timedPattern));
      const keyOf = ({ id, joinedAt }: Member) => timedKey({ id, createdAt: joinedAt });
      return pageOf(found.map(toMemberView), limit, keyOf);
    });

    handle(app, routes.changeMember, async ({ caller, params, body }) =>
      toMemberView(await workspaces.setRole(caller, params.id, body.role)),
    );

    handle(app, routes.removeMember, async ({ caller, params }) => {
      await workspaces.removeMember(caller, params.id);
      return null;
    });
  };
}

/** `/invitations`. */
export function invitationRoutes(context: AppContext): FastifyPluginAsync {
  const { workspaces, address } = context;
  return async (app) => {
    handle(app, routes.listInvitations, async ({ caller }) => ({
      data: (await workspaces.invitations(caller)).map(toInvitationView),
    }));

    handle(app, routes.createInvitation, async ({ caller, body }, reply) => {
      const { invitation, token } = await workspaces.invite(caller, body);
      reply.header("cache-control", "no-store");
      const link = `${address.public}${dashboardPrefix}/join#${token}`;
      return { ...toInvitationView(invitation), token, link };
    });

    handle(app, routes.revokeInvitation, async ({ caller, params }) => {
      await workspaces.revokeInvitation(caller, params.id);
      return null;
    });

    handle(app, routes.acceptInvitation, async (request) => {
      const workspace = await workspaces.accept(request.caller, request.params.token);
      await logIn(context, request, workspace.id);
      return toWorkspaceView(workspace);
    });
  };
}

/** Adds the request to the audit log of a workspace. It is in that of the workspace from which the person came. */
async function logIn(
  { audit }: AppContext,
  { caller, ip, id, log, routeOptions }: FastifyRequest,
  accountId: string,
): Promise<void> {
  const within = { caller: { ...caller, accountId }, ip, id, log };
  const answered = { agent: null, agentId: null, resource: null, status: 200, code: null };
  await audit.logOperation(within, routeOptions.config.route!, answered);
}

function toDeletedView({ deletedAt, removedAt, ...workspace }: DeletedWorkspaceState): DeletedWorkspace {
  return { ...workspace, deletedAt: deletedAt.toISOString(), removedAt: removedAt.toISOString() };
}

function toPersonView({ createdAt, lastSeenAt, ...person }: PersonState): Person {
  return { ...person, createdAt: createdAt.toISOString(), lastSeenAt: lastSeenAt?.toISOString() ?? null };
}

function toWorkspaceView({ createdAt, ...workspace }: WorkspaceState): Workspace {
  return { ...workspace, createdAt: createdAt.toISOString() };
}

function toMemberView({ joinedAt, lastSeenAt, ...member }: MemberState): Member {
  return { ...member, joinedAt: joinedAt.toISOString(), lastSeenAt: lastSeenAt?.toISOString() ?? null };
}

function toInvitationView({ createdAt, expiresAt, ...invitation }: InvitationState): Invitation {
  return { ...invitation, createdAt: createdAt.toISOString(), expiresAt: expiresAt.toISOString() };
}
