import { z } from "zod";
import { UserName } from "./users.ts";

/** A permission in a workspace: read; use agents; manage members and credits; own the workspace. */
export type Need = "read" | "use" | "manage" | "own";

/** Each role's permissions. */
const permissions = {
  owner: ["read", "use", "manage", "own"],
  admin: ["read", "use", "manage"],
  member: ["read", "use"],
  viewer: ["read"],
} as const satisfies Record<string, readonly Need[]>;

export const roles = ["owner", "admin", "member", "viewer"] as const;
export type Role = (typeof roles)[number];

export function allows(role: Role, need: Need): boolean {
  return (permissions[role] as readonly Need[]).includes(need);
}

/** Whether a role has no permission that the other lacks. */
export function isWithin(role: Role, other: Role): boolean {
  return permissions[role].every((need) => allows(other, need));
}

/** The role with the fewer permissions. */
export function lesserRole(one: Role, other: Role): Role {
  return isWithin(one, other) ? one : other;
}

/** The header that chooses a workspace, by name or id, percent-encoded. */
export const workspaceHeader = "berth-workspace";

const time = z.iso.datetime();

export const RoleName = z.enum(roles).meta({
  id: "Role",
  description:
    "owner: everything. admin: everything but deleting the workspace and changing owners. member: creates and uses agents. viewer: reads agents, transcripts and files.",
});

const WorkspaceName = UserName.refine(
  (name) => !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(name),
  "A workspace's name cannot have the form of an id.",
).meta({
  description: "1 to 64 letters, digits, signs and single spaces. Names that differ only in case are the same.",
});

export const Workspace = z
  .object({
    id: z.uuid(),
    name: z.string(),
    personal: z.boolean().meta({ description: "Whether it is the caller's personal workspace." }),
    role: RoleName,
    createdAt: time,
  })
  .meta({ id: "Workspace", description: "A workspace owns agents, keys and credits. `role` is the caller's." });
export type Workspace = z.infer<typeof Workspace>;

export const WorkspaceList = z.object({ data: z.array(Workspace) }).meta({
  id: "WorkspaceList",
  description: "The caller's workspaces, the personal one first, then by name.",
});

export const Person = z
  .object({
    id: z.uuid(),
    name: z.string(),
    email: z.string().nullable(),
    emailVerified: z.boolean(),
    timeZone: z.string().nullable(),
    createdAt: time,
    lastSeenAt: time.nullable().meta({ description: "Accurate to a minute." }),
  })
  .meta({ id: "Person" });
export type Person = z.infer<typeof Person>;

export const Me = z
  .object({
    person: Person.nullable().meta({ description: "Null for a key without a maker." }),
    workspace: Workspace.meta({ description: "The workspace that the request is for." }),
    memberships: z.array(Workspace).meta({ description: "All workspaces that this credential can choose." }),
  })
  .meta({ id: "Me" });
export type Me = z.infer<typeof Me>;

export const WorkspaceParams = z.object({
  name: z.string().meta({ description: "The workspace's name or id; `personal` for the caller's personal workspace." }),
});

export const CreateWorkspace = z.strictObject({ name: WorkspaceName }).meta({ id: "CreateWorkspace" });
export const UpdateWorkspace = z.strictObject({ name: WorkspaceName }).meta({ id: "UpdateWorkspace" });

export const DeleteWorkspaceQuery = z.strictObject({
  force: z
    .enum(["true", "false", ""], "force is true or false.")
    .default("false")
    .meta({ description: "Delete it with its agents. `?force` alone is `true`." }),
});

const DeletedWorkspace = z
  .object({
    id: z.uuid(),
    name: z.string(),
    deletedAt: time,
    removedAt: time.meta({ description: "It can be restored until then." }),
  })
  .meta({ id: "DeletedWorkspace" });
export type DeletedWorkspace = z.infer<typeof DeletedWorkspace>;

export const DeletedWorkspaceList = z.object({ data: z.array(DeletedWorkspace) }).meta({
  id: "DeletedWorkspaceList",
  description: "The workspaces that were deleted with their agents, the newest first.",
});

export const DeletedWorkspaceParams = z.object({ id: z.string().meta({ description: "The workspace's id." }) });

export const Member = z
  .object({
    id: z.uuid().meta({ description: "The person's id." }),
    name: z.string(),
    email: z.string().nullable(),
    role: RoleName,
    joinedAt: time,
    lastSeenAt: time.nullable(),
  })
  .meta({ id: "Member" });
export type Member = z.infer<typeof Member>;

export const MemberList = z
  .object({ data: z.array(Member), nextCursor: z.string().nullable() })
  .meta({ id: "MemberList", description: "The workspace's members, oldest first." });

export const MemberParams = WorkspaceParams.extend({ id: z.string().meta({ description: "The person's id." }) });
export const UpdateMember = z.strictObject({ role: RoleName }).meta({ id: "UpdateMember" });

export const CreateInvitation = z
  .strictObject({
    role: RoleName.default("member"),
    email: z
      .email("Must be an e-mail address.")
      .max(254, "An e-mail address is limited to 254 characters.")
      .nullable()
      .optional()
      .meta({ description: "Only a person with this verified address can accept it; null: anyone with the link." }),
  })
  .meta({ id: "CreateInvitation" });

export const Invitation = z
  .object({
    id: z.uuid(),
    role: RoleName,
    email: z.string().nullable(),
    createdAt: time,
    expiresAt: time,
  })
  .meta({ id: "Invitation" });
export type Invitation = z.infer<typeof Invitation>;

export const CreatedInvitation = Invitation.extend({
  token: z.string().meta({ description: "For `POST /invitations/{token}/accept`, once. It is shown once." }),
  link: z.url().meta({ description: "A page of the dashboard that accepts the invitation." }),
}).meta({ id: "CreatedInvitation" });

export const InvitationList = z
  .object({ data: z.array(Invitation) })
  .meta({ id: "InvitationList", description: "The open invitations, the newest first." });

export const InvitationParams = WorkspaceParams.extend({
  id: z.string().meta({ description: "The invitation's id." }),
});
export const AcceptParams = z.object({ token: z.string().meta({ description: "The token of an invitation." }) });
