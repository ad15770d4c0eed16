import { z } from "zod";
import { errorStatuses } from "./errors.ts";
import { McpServers } from "./mcp-servers.ts";

/** The most forks that one request makes. */
const maximumForks = 20;

const nameRule =
  "3 to 30 characters: small letters a-z, digits and hyphens, starting with a letter and not ending with a hyphen";

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
  .refine((text) => Buffer.byteLength(text) <= maximumInstructionsBytes, "Instructions have 64 KiB of UTF-8 at most.")
  .refine((text) => !text.includes("\0"), "Instructions have no null characters.")
  .nullable()
  .meta({ description: "Instructions for every turn, 64 KiB at most. Null or empty: nothing." });

const ModelId = z
  .string()
  .min(1)
  .max(200)
  .nullable()
  .meta({ description: "An id of `GET /models`. Null: the runtime's own default.", examples: ["demo/demo"] });

export const agentStatuses = ["provisioning", "ready", "suspended", "failed", "deleting"] as const;

export const AgentStatus = z.enum(agentStatuses).meta({ description: "What the agent's machine is doing." });
export type AgentStatus = z.infer<typeof AgentStatus>;

/** The most memory that one machine may have. */
export const maximumMemoryMiB = 65_536;

const ResourcesRequest = z
  .strictObject({
    cpus: z.int().min(1).max(16).optional().meta({ description: "Virtual processors; 2 where not given." }),
    memoryMiB: z
      .int()
      .min(1024)
      .max(maximumMemoryMiB)
      .optional()
      .meta({ description: "Memory, MiB; what the runtime needs where not given." }),
    diskGiB: z
      .int()
      .min(10)
      .max(1024)
      .optional()
      .meta({ description: "Size of the disk, GiB; it takes what is used. 10 where not given." }),
  })
  .meta({ description: "The machine's size. Only the usual one is there in a second: another boots from its disk." });

const Resources = z.object({ cpus: z.int(), memoryMiB: z.int(), diskGiB: z.int() });
export type Resources = z.infer<typeof Resources>;

/** The default size of a machine; its memory depends on the runtime. */
export function usualResources(memoryMiB: number): Resources {
  return { cpus: 2, memoryMiB, diskGiB: 10 };
}

/** Why something failed, in a record or an event. */
export const Fault = z
  .object({
    code: z.enum(Object.keys(errorStatuses) as [keyof typeof errorStatuses]).meta({ description: "A stable word." }),
    message: z.string().meta({ description: "What happened, in a sentence." }),
  })
  .meta({ id: "Fault" });
export type Fault = z.infer<typeof Fault>;

/** A snapshot by its name or its id. */
export const SnapshotReference = z
  .string()
  .min(1)
  .max(100)
  .refine((text) => !text.includes("\0"), "A name or id has no null character.")
  .meta({ description: "A snapshot's name or id." });

export const ForkSource = z
  .strictObject({
    agent: z.string().max(100).meta({ description: "The agent whose state the new one begins with." }),
    snapshot: SnapshotReference.optional().meta({
      description: "One of its snapshots, by name or id. Without one, as the agent is now.",
    }),
    secrets: z.boolean().default(false).meta({ description: "Whether the agent's secrets come along." }),
  })
  .meta({ id: "ForkSource" });
export type ForkSource = z.infer<typeof ForkSource>;

const OtherAgents = z
  .array(AgentName)
  .max(16, "16 agents are allowed.")
  .refine((names) => new Set(names).size === names.length, "Each agent is named once.");

/** The most snapshots from before turns that an agent may keep. */
const maximumAutoSnapshots = 20;

export const AutoSnapshot = z
  .int()
  .min(0)
  .max(maximumAutoSnapshots)
  .meta({
    description: `How many snapshots from before its last turns are kept, 0 to ${maximumAutoSnapshots}. 0: none is made.`,
  });

const time = z.iso.datetime().meta({ description: "ISO 8601 in UTC, with milliseconds." });

const ForkedFrom = z.object({
  agent: z.string().meta({ description: "The name of the agent then." }),
  snapshot: z.string().nullable().meta({ description: "The name of the snapshot. Null: the agent as it was then." }),
});
export type ForkedFrom = z.infer<typeof ForkedFrom>;

const ImportedFrom = z.object({
  agent: z.string().meta({ description: "The name of the agent that was exported." }),
  exportedAt: time,
});
export type ImportedFrom = z.infer<typeof ImportedFrom>;

const AgentImage = z
  .object({
    id: z.string().meta({ description: "The image whose runtimes the agent has." }),
    upgradeAvailable: z.boolean().meta({
      description: "Whether the service has a newer one, which an upgrade or a restart gives to the agent.",
    }),
  })
  .meta({ id: "AgentImage" });

/** An agent's settings as they are stored and shown. */
const settings = {
  model: z.string().nullable().meta({ description: "Null: the runtime's own default." }),
  instructions: z.string().nullable(),
  mcpServers: McpServers,
  agents: z
    .array(z.string())
    .meta({ description: "The names of the account's agents that it may ask as tools of its own." }),
  autoSnapshot: AutoSnapshot,
};
export type AgentSettings = z.infer<z.ZodObject<typeof settings>>;

/** The settings of an agent that is created without any. */
export const usualSettings: AgentSettings = {
  model: null,
  instructions: null,
  mcpServers: {},
  agents: [],
  autoSnapshot: 0,
};

/** An agent's settings among other fields. */
export function settingsOf(agent: AgentSettings): AgentSettings {
  return givenSettings(agent) as AgentSettings;
}

/** The settings that were given. Empty instructions are none. */
export function givenSettings(
  given: { [Name in keyof AgentSettings]?: AgentSettings[Name] | undefined },
): Partial<AgentSettings> {
  const names = Object.keys(settings) as (keyof AgentSettings)[];
  const found = names.filter((name) => given[name] !== undefined);
  return Object.fromEntries(found.map((name) => [name, given[name] === "" ? null : given[name]]));
}

/** The settings that a request may have. */
const askedSettings = {
  model: ModelId.optional(),
  instructions: Instructions.optional(),
  mcpServers: McpServers.optional(),
  agents: OtherAgents.optional().meta({
    description: "Other agents of the account, by name, that it may ask as tools of its own; 16 at most.",
  }),
  autoSnapshot: AutoSnapshot.optional(),
};

export const Agent = z
  .object({
    name: z.string(),
    runtime: RuntimeName,
    ...settings,
    status: AgentStatus,
    createdAt: time,
    lastActiveAt: time,
    conversation: z.int().meta({ description: "The number of its conversation: 1, 2, …; a reset begins the next." }),
    error: Fault.nullable().meta({ description: "Set when the status is `failed`." }),
    forkedFrom: ForkedFrom.nullable().meta({ description: "Where a fork comes from. Null: the agent is no fork." }),
    importedFrom: ImportedFrom.nullable().meta({ description: "Where an import comes from. Null: it is no import." }),
    queuePosition: z
      .int()
      .nullable()
      .meta({ description: "Its position among the agents that wait for a slot, 1 is next. Null: it does not wait." }),
    resources: Resources,
    image: AgentImage.nullable().meta({ description: "Null until its machine is made." }),
  })
  .meta({ id: "Agent" });
export type Agent = z.infer<typeof Agent>;

export const CreateAgent = z
  .strictObject({
    name: AgentName,
    runtime: RuntimeName.optional().meta({
      description: "claude-code where not given; a fork has that of its source.",
    }),
    ...askedSettings,
    resources: ResourcesRequest.optional(),
    from: ForkSource.optional().meta({
      description:
        "Begin with what another agent is or was: its files, its running programs and its conversation. Settings that are not given are its too.",
    }),
    count: z
      .int()
      .min(1)
      .max(maximumForks)
      .optional()
      .meta({
        description: `With \`from\`: make so many, named NAME-1, NAME-2, …; ${maximumForks} at most. The answer is the first.`,
      }),
  })
  .refine(({ from, count }) => count === undefined || from !== undefined, "count is for forks, which have `from`.")
  .meta({ id: "CreateAgent" });
export type CreateAgent = z.infer<typeof CreateAgent>;

export const ChangeAgent = z
  .strictObject({
    runtime: RuntimeName.optional().meta({
      description:
        "Another runtime: the machine boots with it, and it gets the messages and replies of the conversation. Files stay.",
    }),
    ...askedSettings,
    mcpServers: askedSettings.mcpServers.meta({ description: "All of them: those that are not named are removed." }),
    agents: askedSettings.agents.meta({
      description: "Other agents of the account that it may ask, by name. All of them, 16 at most.",
    }),
  })
  .refine(
    (change) => Object.keys(change).length > 0,
    `At least one of runtime, ${Object.keys(askedSettings).join(", ")} is required.`,
  )
  .meta({
    id: "ChangeAgent",
    description:
      "What is left out stays. A change holds from the next turn on; one of the runtime is refused while a turn runs.",
  });
export type ChangeAgent = z.infer<typeof ChangeAgent>;

export const WaitQuery = z.strictObject({
  wait: z
    .literal("ready")
    .optional()
    .meta({ description: "Hold the answer until the agent is ready or has failed, 60 s at most." }),
});

export const RestartQuery = WaitQuery.extend({
  machine: z
    .literal("new")
    .optional()
    .meta({ description: "Where the agent's machine was lost, begin with an empty one: its files are gone." }),
});

export const LogQuery = z.strictObject({
  tail: z.coerce
    .number()
    .int()
    .min(0)
    .max(1000)
    .default(100)
    .meta({ description: "How many of the last lines, 0 to 1000." }),
  follow: z
    .enum(["true", "false"])
    .default("false")
    .meta({ description: "`true`: an event stream that continues with new lines." }),
});

/** The last lines of an agent's log. */
export const AgentLog = z.object({ lines: z.array(z.string()) }).meta({ id: "AgentLog" });
export type AgentLog = z.infer<typeof AgentLog>;

/** One line; the last event says that the machine, and so its log, has ended. */
export const LogEvent = z
  .union([z.object({ line: z.string() }), z.object({ ended: z.literal(true) })])
  .meta({ id: "LogEvent" });
export type LogEvent = z.infer<typeof LogEvent>;

export const AgentParams = z.object({ name: z.string().meta({ description: "The agent's name." }) });

export const ListQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(100).default(50).meta({ description: "How many, 1 to 100." }),
  cursor: z.string().min(1).max(200).optional().meta({ description: "The `nextCursor` of the page before." }),
});

export const AgentList = z
  .object({ data: z.array(Agent), nextCursor: z.string().nullable() })
  .meta({ id: "AgentList", description: "The caller's agents, by name." });
export type AgentList = z.infer<typeof AgentList>;

/**
 * The steps of provisioning a machine, in order. `template`: find a warm machine of the runtime, or make the first one;
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
    progress: z.number().min(0).max(1).meta({ description: "Steps done, as a part of all." }),
    steps: z
      .array(InstallStep)
      .meta({ description: "The steps of this agent's way: a restart, for one, needs neither template nor disk." }),
    error: Fault.nullable(),
  })
  .meta({ id: "InstallStatus" });
export type InstallStatus = z.infer<typeof InstallStatus>;

/** The body of every error response. */
export const ErrorBody = z
  .object({
    statusCode: z.int(),
    message: z.string(),
    error: z.string().meta({ description: "The status as text." }),
    code: Fault.shape.code,
    details: z.unknown().optional(),
  })
  .meta({ id: "Error" });
export type ErrorBody = z.infer<typeof ErrorBody>;
