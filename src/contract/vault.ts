import { z } from "zod";
import { AgentName } from "./agents.ts";
import { CreatedBy } from "./authors.ts";
import { SecretLogin } from "./secret-logins.ts";
import { SecretHeaders, SecretHosts, SecretName, SecretValue } from "./secrets.ts";

/** How many secrets a workspace can have. */
export const maximumWorkspaceSecrets = 100;
/** How many agents a request can name. */
const maximumAgents = 1_000;

/** Fields that are not given keep what they were. */
export const SetWorkspaceSecret = z
  .strictObject({
    value: SecretValue.optional().meta({
      description: "Never returned again. Required for a new secret, and to add a host or a header.",
    }),
    hosts: SecretHosts.optional(),
    headers: SecretHeaders.optional(),
    agents: z
      .array(AgentName)
      .max(maximumAgents, `Up to ${maximumAgents} agents can be named.`)
      .nullable()
      .optional()
      .meta({
        description: "The agents that can use it, by name. Null: all, also those that are created later. Empty: none.",
      }),
  })
  .meta({
    id: "SetWorkspaceSecret",
    description:
      "Fields that are not given keep what they were. For a new secret, `headers` is `authorization` and `agents` is null.",
  });
export type SetWorkspaceSecret = z.infer<typeof SetWorkspaceSecret>;

const time = z.iso.datetime();

export const WorkspaceSecret = z
  .object({
    name: z.string(),
    hosts: z.array(z.string()),
    headers: z.array(z.string()),
    agents: z.array(z.string()).nullable().meta({
      description: "The agents that can use it, by name, without other people's private ones. Null: all.",
    }),
    lastFour: z.string().nullable().meta({
      description:
        "The value's last four characters. Null: it has less than 12, or was encrypted with another secret key.",
    }),
    login: SecretLogin.nullable().meta({ description: "Null: the secret has a value that was set." }),
    createdBy: CreatedBy.meta({ description: "The author of the last change." }),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: "WorkspaceSecret" });
export type WorkspaceSecret = z.infer<typeof WorkspaceSecret>;

export const WorkspaceSecretList = z
  .object({ data: z.array(WorkspaceSecret), nextCursor: z.string().nullable() })
  .meta({ id: "WorkspaceSecretList", description: "The workspace's secrets by name, without their values." });

export const WorkspaceSecretParams = z.object({ secret: SecretName });
