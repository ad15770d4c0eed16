import type { Workspace } from "@berth/client";
import { Option } from "commander";
import { isUuid } from "../../contract/ids.ts";
import { roles } from "../../contract/workspaces.ts";
import { shellWord } from "../../core/shell-word.ts";
import type { ToolCommand } from "../command.ts";
import { connect } from "../connect.ts";
import { CliError } from "../errors.ts";
import { printable } from "../terminal.ts";
import { localTime } from "../time.ts";
import { note } from "../verbosity.ts";

type Role = Workspace["role"];

const workspaceHelp = "the workspace's name or id";
const memberHelp = "the member's name, e-mail address or id (see berth workspaces members)";

export function register(program: ToolCommand): void {
  const workspaces = program.add("workspaces", "manage workspaces, their members and invitations");
  workspaces.add("list", "list your workspaces").lists({
    list: async () => ({ data: await connect().workspaces.list() }),
    columns: {
      NAME: "name",
      ROLE: "role",
      PERSONAL: ({ personal }) => (personal ? "yes" : "no"),
      ID: "id",
    },
  });
  workspaces.add("create <name>", "create a workspace; you become its owner", { name: "its name" }).prints(
    (name: string) => connect().workspaces.create({ name }),
    ({ name }) => `The workspace ${printable(name)} is created. To use it: berth --workspace ${quoted(name)} …`,
  );
  workspaces
    .add("rename <workspace> <name>", "rename a workspace", { workspace: workspaceHelp, name: "its new name" })
    .prints(
      (workspace: string, name: string) => connect().workspaces.rename(workspace, { name }),
      ({ name }) => `The workspace is called ${printable(name)} now.`,
    );
  workspaces
    .add("delete <workspace>", "delete a workspace", { workspace: workspaceHelp })
    .option("--force", "delete it with its agents; it can be restored for some days")
    .confirms((workspace: string) => `Delete the workspace ${printable(workspace)}?`, "Nothing was deleted.")
    .prints(
      (workspace: string, { force = false }: { force?: boolean }) =>
        connect().workspaces.remove(workspace, force ? { force: "true" } : {}),
      (_, workspace) => `The workspace ${printable(workspace)} is deleted.`,
    );
  workspaces.add("deleted", "list deleted workspaces that you can restore").lists({
    list: async () => ({ data: await connect().workspaces.deleted() }),
    empty: "No deleted workspace can be restored.",
    columns: {
      NAME: "name",
      DELETED: ({ deletedAt }) => localTime(deletedAt),
      "REMOVED AT": ({ removedAt }) => localTime(removedAt),
      ID: "id",
    },
  });
  workspaces
    .add("restore <id>", "restore a deleted workspace", { id: "the workspace's id (see berth workspaces deleted)" })
    .prints(
      (id: string) => connect().workspaces.restore(id),
      ({ name }) => `The workspace ${printable(name)} is restored. Its agents are suspended.`,
    );
  addMemberCommands(workspaces);
  addInvitationCommands(workspaces);
}

function addMemberCommands(workspaces: ToolCommand): void {
  workspaces.add("members <workspace>", "list a workspace's members", { workspace: workspaceHelp }).lists({
    list: (workspace: string) => connect().workspaces.members(workspace).take(),
    empty: "The workspace has no members: nobody has signed in to it yet.",
    columns: {
      NAME: "name",
      "E-MAIL": ({ email }) => email ?? "-",
      ROLE: "role",
      JOINED: ({ joinedAt }) => localTime(joinedAt),
      "LAST SEEN": ({ lastSeenAt }) => localTime(lastSeenAt, "never"),
      ID: "id",
    },
  });
  workspaces
    .add("role <workspace> <member> <role>", "change a member's role", {
      workspace: workspaceHelp,
      member: memberHelp,
      role: roles.join(", "),
    })
    .prints(
      async (workspace: string, member: string, role: string) =>
        connect().workspaces.changeMember(workspace, await memberId(workspace, member), { role: checkRole(role) }),
      ({ name, role }) => `${printable(name)} is ${role} now.`,
    );
  workspaces
    .add("remove <workspace> <member>", "remove a member, with their keys, and close their connections", {
      workspace: workspaceHelp,
      member: memberHelp,
    })
    .confirms(
      (workspace: string, member: string) => `Remove ${printable(member)} from ${printable(workspace)}?`,
      "Nobody was removed.",
    )
    .prints(
      async (workspace: string, member: string) =>
        connect().workspaces.removeMember(workspace, await memberId(workspace, member)),
      (_, workspace, member) => `${printable(member)} is no longer a member of ${printable(workspace)}.`,
    );
}

function addInvitationCommands(workspaces: ToolCommand): void {
  workspaces
    .add("invite <workspace>", "print a link with which one person can join, for seven days", {
      workspace: workspaceHelp,
    })
    .addOption(new Option("-r, --role <role>", "the role of the new member").choices(roles).default("member"))
    .option("-e, --email <address>", "only a person with this verified e-mail address can join")
    .prints(
      (workspace: string, { role, email = null }: { role: Role; email?: string | null }) =>
        connect().workspaces.invite(workspace, { role, email }),
      ({ link }) => {
        console.log(link);
        note("The link is shown once. In a terminal: berth workspaces join LINK");
      },
    );
  workspaces.add("invitations <workspace>", "list the open invitations", { workspace: workspaceHelp }).lists({
    list: async (workspace: string) => ({ data: await connect().workspaces.invitations(workspace) }),
    empty: "There are no open invitations.",
    columns: {
      ID: "id",
      ROLE: "role",
      "E-MAIL": ({ email }) => email ?? "anyone",
      EXPIRES: ({ expiresAt }) => localTime(expiresAt),
    },
  });
  workspaces
    .add("revoke <workspace> <id>", "revoke an invitation", {
      workspace: workspaceHelp,
      id: "the invitation's id (see berth workspaces invitations)",
    })
    .prints(
      (workspace: string, id: string) => connect().workspaces.revokeInvitation(workspace, id),
      () => "The invitation is revoked.",
    );
  workspaces.add("join <link>", "accept an invitation", { link: "the invitation's link or token" }).prints(
    (link: string) => connect().workspaces.accept(link.slice(link.lastIndexOf("#") + 1)),
    ({ name, role }) => `You are ${role} of the workspace ${printable(name)} now.`,
  );
}

/** Throws `CliError` if no member, or more than one, has this name or address. */
async function memberId(workspace: string, member: string): Promise<string> {
  if (isUuid(member)) return member;
  const members = await connect().workspaces.members(workspace).all();
  const found = members.filter(({ name, email }) => name === member || email === member);
  if (found.length === 1) return found[0]!.id;
  const what = found.length === 0 ? "has no member" : "has several members";
  throw new CliError(`${printable(workspace)} ${what} ${printable(member)}; berth workspaces members lists their ids.`);
}

function checkRole(text: string): Role {
  const role = roles.find((each) => each === text);
  if (role) return role;
  throw new CliError(`There is no role ${printable(text)}; allowed: ${roles.join(", ")}.`, 2);
}

/** As one word for a shell. */
function quoted(name: string): string {
  return /^[\w.-]+$/.test(name) ? name : shellWord(printable(name));
}
