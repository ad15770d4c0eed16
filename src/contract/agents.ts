import { z } from "zod";
import { AcpProgram, AskedAcpProgram } from "./acp-program.ts";
import { Effort } from "./effort.ts";
import { errorStatuses } from "./errors.ts";
import { askedLimits, LimitDetails, limitFields, noLimits } from "./limits.ts";
import { McpServers } from "./mcp-servers.ts";
import { OutputDetails } from "./output.ts";
import { allAllowed, Permissions } from "./permissions.ts";
import { Schedules } from "./schedules.ts";

/** The most forks per request. */
const maximumForks = 20;

const nameRule =
  "3 to 30 characters: lowercase letters a-z, digits and hyphens, starting with a letter and not ending with a hyphen";

export const AgentName = z
  .string(`name is required: ${nameRule}`)
  .regex(/^[a-z][a-z0-9-]{1,28}[a-z0-9]$/, `An agent's name has ${nameRule}.`)
  .meta({ description: `The agent's name in its account, ${nameRule}.`, examples: ["ada"] });

const RuntimeName = z
  .string()
  .min(1)
  .max(100)
  .meta({
    description: "The program that the agent is built on; `GET /runtimes` lists them.",
    examples: ["claude-code"],
  });

/** The maximum size of an agent's instructions, in bytes of UTF-8. */
const maximumInstructionsBytes = 64 * 1024;

const Instructions = z
  .string()
  .refine((text) => Buffer.byteLength(text) <= maximumInstructionsBytes, "Instructions are limited to 64 KiB of UTF-8.")
  .refine((text) => !text.includes("\0"), "Instructions must not contain null characters.")
  .nullable()
  .meta({ description: "Instructions for every turn, up to 64 KiB. Null or empty: none." });

const ModelName = z
  .string()
  .min(1)
  .max(200)
  .refine((id) => !id.includes("\0"), "A model's id must not contain null characters.");

const ModelId = ModelName.nullable().meta({
  description: "A model id from `GET /models`. Null: the runtime's default.",
  examples: ["demo/demo"],
});

/** Ids of models in order; none twice. */
export const FallbackModels = z
  .array(ModelName)
  .max(5)
  .refine((ids) => new Set(ids).size === ids.length, "fallbackModels must not name a model twice.")
  .meta({
    description:
      "Up to 5 ids of models that answer, in order, where the agent's model is overloaded, limited or out of reach. Providers that speak another API than the call are left out. An empty list: none.",
    examples: [["anthropic/claude-sonnet-4-5"]],
  });

const AgentEffort = Effort.nullable().meta({
  description:
    "How much the model reasons before it answers. Where a model lacks the level, the nearest lower one that it has counts, else its lowest. Null: the runtime's or the model's default.",
});

export const agentStatuses = ["provisioning", "ready", "suspended", "failed", "deleting"] as const;

export const AgentStatus = z.enum(agentStatuses).meta({ description: "The state of the agent's machine." });
export type AgentStatus = z.infer<typeof AgentStatus>;

/** The most memory that one machine may have. */
export const maximumMemoryMiB = 65_536;

const ResourcesRequest = z
  .strictObject({
    cpus: z.int().min(1).max(16).optional().meta({ description: "Virtual processors. Default: 2." }),
    memoryMiB: z
      .int()
      .min(1024)
      .max(maximumMemoryMiB)
      .optional()
      .meta({ description: "Memory in MiB. Default: what the runtime needs." }),
    diskGiB: z
      .int()
      .min(10)
      .max(1024)
      .optional()
      .meta({ description: "Maximum disk size in GiB; only what is used takes space. Default: 10." }),
  })
  .meta({
    description: "The machine's size. Only the default size starts within a second; other sizes boot from disk.",
  });

const Resources = z.object({ cpus: z.int(), memoryMiB: z.int(), diskGiB: z.int() });
export type Resources = z.infer<typeof Resources>;

/** The default size of a machine; its memory depends on the runtime. */
export function usualResources(memoryMiB: number): Resources {
  return { cpus: 2, memoryMiB, diskGiB: 10 };
}

/** Why something failed, in a record or an event. */
export const Fault = z
  .object({
    code: z.enum(Object.keys(errorStatuses) as [keyof typeof errorStatuses]).meta({ description: "A stable code." }),
    message: z.string().meta({ description: "The reason, as a sentence." }),
    details: z
      .union([LimitDetails, OutputDetails])
      .optional()
      .meta({ description: "Set when a limit or an invalid output is the reason." }),
  })
  .meta({ id: "Fault" });
export type Fault = z.infer<typeof Fault>;

/** A snapshot's name or id. */
export const SnapshotReference = z
  .string()
  .min(1)
  .max(100)
  .refine((text) => !text.includes("\0"), "A name or id must not contain null characters.")
  .meta({ description: "A snapshot's name or id." });

export const ForkSource = z
  .strictObject({
    agent: z.string().max(100).meta({ description: "The source agent." }),
    snapshot: SnapshotReference.optional().meta({
      description: "A snapshot of the source agent, by name or id. Default: its current state.",
    }),
    secrets: z.boolean().default(false).meta({ description: "Whether to copy the agent's secrets." }),
  })
  .meta({ id: "ForkSource" });
export type ForkSource = z.infer<typeof ForkSource>;

const OtherAgents = z
  .array(AgentName)
  .max(16, "Up to 16 agents are allowed.")
  .refine((names) => new Set(names).size === names.length, "List each agent once.");

/** The most automatic snapshots that an agent may keep. */
const maximumAutoSnapshots = 20;

export const AutoSnapshot = z
  .int()
  .min(0)
  .max(maximumAutoSnapshots)
  .meta({
    description: `How many automatic snapshots to keep, one of the files before each turn, 0 to ${maximumAutoSnapshots}. 0 turns them off. The default is 5.`,
  });

const time = z.iso.datetime().meta({ description: "ISO 8601 in UTC, with milliseconds." });

const ForkedFrom = z.object({
  agent: z.string().meta({ description: "The source agent's name at that time." }),
  snapshot: z
    .string()
    .nullable()
    .meta({ description: "The source snapshot's name. Null: the agent's state at that time." }),
});
export type ForkedFrom = z.infer<typeof ForkedFrom>;

const ImportedFrom = z.object({
  agent: z.string().meta({ description: "The name of the agent that was exported." }),
  exportedAt: time,
});
export type ImportedFrom = z.infer<typeof ImportedFrom>;

export const QueueHeld = z.enum(["cancelled", "failed"]).nullable().meta({
  description:
    "Why the queue does not continue: how the turn before it ended. Null: the next message begins when the agent has answered.",
});
export type QueueHeld = z.infer<typeof QueueHeld>;

const AgentImage = z
  .object({
    id: z.string().meta({ description: "The image that the agent's runtimes come from." }),
    upgradeAvailable: z.boolean().meta({
      description: "Whether a newer image is available. An upgrade or a restart moves the agent to it.",
    }),
  })
  .meta({ id: "AgentImage" });

/** An agent's settings as they are stored and shown. */
const settings = {
  model: z.string().nullable().meta({ description: "Null: the runtime's default." }),
  effort: AgentEffort,
  instructions: z.string().nullable(),
  acp: AcpProgram.nullable(),
  mcpServers: McpServers,
  agents: z
    .array(z.string())
    .meta({ description: "The names of agents in the account that this agent may call as tools." }),
  fallbackModels: FallbackModels,
  autoSnapshot: AutoSnapshot,
  permissions: Permissions,
  schedules: Schedules,
  ...limitFields,
  private: z.boolean().meta({ description: "Whether only its maker sees and uses it." }),
};
export type AgentSettings = z.infer<z.ZodObject<typeof settings>>;

/** The settings of an agent that is created without any. */
export const usualSettings: AgentSettings = {
  model: null,
  effort: null,
  instructions: null,
  acp: null,
  mcpServers: {},
  agents: [],
  fallbackModels: [],
  autoSnapshot: 5,
  permissions: allAllowed,
  schedules: null,
  ...noLimits,
  private: false,
};

/** An agent's settings among other fields. */
export function settingsOf(agent: AgentSettings): AgentSettings {
  return givenSettings(agent) as AgentSettings;
}

/** Only the given settings. Empty instructions become null. */
export function givenSettings(
  given: { [Name in keyof AgentSettings]?: AgentSettings[Name] | undefined },
): Partial<AgentSettings> {
  const names = Object.keys(settings) as (keyof AgentSettings)[];
  const found = names.filter((name) => given[name] !== undefined);
  return Object.fromEntries(found.map((name) => [name, given[name] === "" ? null : given[name]]));
}

/** The settings that a request may contain. */
const askedSettings = {
  model: ModelId.optional(),
  effort: AgentEffort.optional(),
  instructions: Instructions.optional(),
  acp: AskedAcpProgram.optional(),
  mcpServers: McpServers.optional(),
  agents: OtherAgents.optional().meta({
    description: "Names of up to 16 agents in the account that this agent may call as tools.",
  }),
  fallbackModels: FallbackModels.optional(),
  autoSnapshot: AutoSnapshot.optional(),
  permissions: Permissions.optional(),
  schedules: Schedules.optional(),
  ...askedLimits,
  private: z.boolean().optional().meta({
    description:
      "Whether only its maker sees and uses the agent. Owners and admins of the workspace see its name, status and cost, and may suspend and delete it. Only its maker changes this; a fork of a private agent is private.",
  }),
};

export const Agent = z
  .object({
    name: z.string(),
    maker: z
      .object({ id: z.uuid(), name: z.string() })
      .nullable()
      .meta({ description: "The person who made it. Null: unknown, or a key without a maker." }),
    runtime: RuntimeName,
    ...settings,
    status: AgentStatus,
    createdAt: time,
    lastActiveAt: time,
    conversation: z.int().meta({ description: "The number of its current conversation. A reset creates the next." }),
    error: Fault.nullable().meta({ description: "Set when the status is `failed`." }),
    forkedFrom: ForkedFrom.nullable().meta({
      description: "The fork's source. Null: the agent is not a fork, or its source is another person's private agent.",
    }),
    importedFrom: ImportedFrom.nullable().meta({
      description: "The import's source. Null: the agent was not imported.",
    }),
    queuePosition: z
      .int()
      .nullable()
      .meta({ description: "Its position in the queue for a slot; 1 is next. Null: it is not queued." }),
    queueLength: z.int().meta({ description: "The number of messages that wait until it has answered." }),
    queue: z.object({ held: QueueHeld }),
    resources: Resources,
    image: AgentImage.nullable().meta({ description: "Null until the machine exists." }),
  })
  .meta({ id: "Agent" });
export type Agent = z.infer<typeof Agent>;

export const CreateAgent = z
  .strictObject({
    name: AgentName,
    runtime: RuntimeName.optional().meta({
      description: "Default: claude-code, or the source's runtime for a fork.",
    }),
    ...askedSettings,
    resources: ResourcesRequest.optional(),
    from: ForkSource.optional().meta({
      description:
        "Start from another agent's current or saved state: its files, running programs and conversation. Omitted settings are copied too.",
    }),
    count: z
      .int()
      .min(1)
      .max(maximumForks)
      .optional()
      .meta({
        description: `With \`from\`: create this many forks, named NAME-1, NAME-2, …; up to ${maximumForks}. The response is the first.`,
      }),
  })
  .refine(({ from, count }) => count === undefined || from !== undefined, "count requires `from`.")
  .meta({ id: "CreateAgent" });
export type CreateAgent = z.infer<typeof CreateAgent>;

export const ChangeAgent = z
  .strictObject({
    runtime: RuntimeName.optional().meta({
      description:
        "The new runtime. The machine reboots with it and the conversation's messages and replies are replayed to it. Files are kept.",
    }),
    ...askedSettings,
    mcpServers: askedSettings.mcpServers.meta({ description: "The complete list: other agents are removed from it." }),
    agents: askedSettings.agents.meta({
      description: "The complete list of up to 16 agents in the account that this agent may call, by name.",
    }),
  })
  .refine(
    (change) => Object.keys(change).length > 0,
    `At least one of runtime, ${Object.keys(askedSettings).join(", ")} is required.`,
  )
  .meta({
    id: "ChangeAgent",
    description:
      "Omitted settings do not change. A change applies from the next turn; the runtime cannot be changed while a turn is running.",
  });
export type ChangeAgent = z.infer<typeof ChangeAgent>;

export const WaitQuery = z.strictObject({
  wait: z
    .literal("ready")
    .optional()
    .meta({ description: "Delay the response until the agent is ready or has failed, for up to 60 s." }),
});

export const RestartQuery = WaitQuery.extend({
  machine: z
    .literal("new")
    .optional()
    .meta({ description: "If the agent's machine was lost, start with an empty one. The agent's files are gone." }),
});

export const LogQuery = z.strictObject({
  tail: z.coerce
    .number()
    .int()
    .min(0)
    .max(1000)
    .default(100)
    .meta({ description: "The number of most recent lines, 0 to 1000." }),
  follow: z
    .enum(["true", "false"])
    .default("false")
    .meta({ description: "`true`: an event stream that follows the log." }),
});

/** The last lines of an agent's log. */
export const AgentLog = z.object({ lines: z.array(z.string()) }).meta({ id: "AgentLog" });
export type AgentLog = z.infer<typeof AgentLog>;

/** A line of the log. The last event reports that the machine, and so its log, has ended. */
export const LogEvent = z
  .union([z.object({ line: z.string() }), z.object({ ended: z.literal(true) })])
  .meta({ id: "LogEvent" });
export type LogEvent = z.infer<typeof LogEvent>;

export const AgentParams = z.object({ name: z.string().meta({ description: "The agent's name." }) });

export const ListQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(100).default(50).meta({ description: "The page size, 1 to 100." }),
  cursor: z.string().min(1).max(200).optional().meta({ description: "The previous page's `nextCursor`." }),
});

export const AgentList = z
  .object({ data: z.array(Agent), nextCursor: z.string().nullable() })
  .meta({ id: "AgentList", description: "The caller's agents, by name." });
export type AgentList = z.infer<typeof AgentList>;

/**
 * The steps of provisioning a machine, in order. `template`: find the runtime's template, or make it;
 * `disk`: create the agent's own disk; `machine`: restore the machine from the template, or boot it from the disk;
 * `runtime`: wait until the runtime is ready for a message.
 */
export const installSteps = ["template", "disk", "machine", "runtime"] as const;
export type InstallStepName = (typeof installSteps)[number];

const stepStatuses = ["pending", "running", "done", "failed"] as const;
export const InstallStep = z.object({
  name: z.enum(installSteps),
  status: z.enum(stepStatuses),
  startedAt: time.nullable(),
  finishedAt: time.nullable(),
});
export type InstallStep = z.infer<typeof InstallStep>;

export const InstallStatus = z
  .object({
    status: z.enum(["pending", "installing", "installed", "failed"]),
    progress: z.number().min(0).max(1).meta({ description: "Completed steps, as a fraction of all." }),
    steps: z.array(InstallStep).meta({
      description: "The steps that this agent needs; a restart, for example, needs neither template nor disk.",
    }),
    error: Fault.nullable(),
  })
  .meta({ id: "InstallStatus" });
export type InstallStatus = z.infer<typeof InstallStatus>;

/** The body of every error response. */
export const ErrorBody = z
  .object({
    statusCode: z.int(),
    message: z.string(),
    error: z.string().meta({ description: "The HTTP status as text." }),
    code: Fault.shape.code,
    details: z.unknown().optional(),
  })
  .meta({ id: "Error" });
export type ErrorBody = z.infer<typeof ErrorBody>;
