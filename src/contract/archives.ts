import { z } from "zod";
import { Agent, AgentName, AutoSnapshot, Fault, WaitQuery } from "./agents.ts";
import { ChangeEgress } from "./egress.ts";
import { McpServers } from "./mcp-servers.ts";
import { SecretHeader, SecretHost, SecretName } from "./secrets.ts";
import { limitedRecord } from "./validation.ts";

/** The version of the archive's format that this Berth writes, and the newest that it reads. */
export const archiveVersion = 1;

/** The longest line of a transcript, in bytes: what a tool was given and what came of it are in one. */
export const maximumTranscriptLine = 16 * 1024 * 1024;

const time = z.iso.datetime();
/** Leaves room for all resets to come. */
const conversation = z.int().min(1).max(1_000_000_000);

/** Nothing that a shell would take for more than a name: commands are made of them. */
export const Package = z.object({
  name: z
    .string()
    .max(200)
    .regex(/^(@[A-Za-z0-9][A-Za-z0-9._~-]*\/)?[A-Za-z0-9][A-Za-z0-9+._~-]*$/),
  version: z
    .string()
    .max(200)
    .regex(/^[\x21-\x7e]*$/),
});

/** What was installed in an agent's machine beside what its image has. */
export const Installed = z
  .object({
    apt: z.array(Package).max(10_000).meta({ description: "Debian packages that were asked for." }),
    npm: z.array(Package).max(10_000).meta({ description: "npm packages that were installed with `-g`." }),
  })
  .meta({ id: "InstalledPackages" });
export type Installed = z.infer<typeof Installed>;

/** An archive's first entry. */
export const Manifest = z.object({
  format: z.literal("berth-agent"),
  version: z.int().min(1),
  exportedAt: time,
  /** The version of the Berth that wrote it. */
  berth: z.string().max(100),
  agent: z.string().max(100),
  runtime: z.object({ name: z.string().max(100), version: z.string().max(100).nullable() }),
  machine: z.object({
    image: z.string().max(100),
    architecture: z.string().max(100),
    accelerator: z.string().max(100),
  }),
  conversation,
  counts: z.object({ turns: z.int().min(0) }),
  installed: Installed,
  hasDisk: z.boolean(),
  /** For whoever reads it: what is not in the archive. */
  leftOut: z.string().max(1_000),
});
export type Manifest = z.infer<typeof Manifest>;

/** An archive's second entry: the agent's settings. Of secrets, all but the values. */
export const ArchivedSettings = z.object({
  model: z.string().min(1).max(200).nullable(),
  instructions: z
    .string()
    .max(64 * 1024)
    .refine((text) => !text.includes("\0"), "Instructions have no null characters.")
    .nullable(),
  mcpServers: McpServers,
  /** The account's agents that it may ask, by name. */
  agents: z.array(AgentName).max(16),
  resources: z.object({
    cpus: z.int().min(1).max(16),
    memoryMiB: z.int().min(1024).max(65_536),
    diskGiB: z.int().min(10).max(1024),
  }),
  autoSnapshot: AutoSnapshot.default(0),
  /** What its runtime is told of this conversation with another runtime. */
  retold: z
    .string()
    .max(200_000)
    .refine((told) => !told.includes("\0"), "What is retold has no null characters.")
    .nullable()
    .default(null),
  network: ChangeEgress,
  secrets: z
    .array(
      z.object({
        name: SecretName,
        hosts: z.array(SecretHost).max(50),
        headers: z.array(SecretHeader).max(10),
      }),
    )
    .max(50),
});
export type ArchivedSettings = z.infer<typeof ArchivedSettings>;

const text = z.string();
const tokens = z.int().min(0);

/**
 * A line of a transcript. A line `turn` begins a turn; what follows up to the next one is its content in order. Text and
 * reasoning may be in several lines, which belong together.
 */
export const TranscriptLine = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("turn"),
    id: z.string().max(100),
    conversation,
    createdAt: time,
    finishedAt: time,
    /** What the user said. */
    message: text,
    /** Null: the runtime's own default. */
    model: z.string().max(200).nullable(),
    status: z.enum(["completed", "failed", "cancelled"]),
    error: Fault.extend({ code: z.string().max(100) }).nullable(),
    /** Its agent was rolled back to before its end. */
    undone: z.boolean(),
    usage: z.object({
      inputTokens: tokens,
      outputTokens: tokens,
      cacheReadTokens: tokens,
      cacheWriteTokens: tokens,
      reasoningTokens: tokens,
    }),
  }),
  z.object({ type: z.literal("text"), text }),
  z.object({ type: z.literal("reasoning"), text }),
  z.object({
    type: z.literal("tool_call"),
    id: z.string().max(1_000),
    name: text.optional(),
    title: text.optional(),
    status: text.optional(),
    input: z.unknown().optional(),
    output: z.unknown().optional(),
  }),
]);
export type TranscriptLine = z.infer<typeof TranscriptLine>;

/** An archive's last entry: of each part, all of its bytes together. */
export const Checksums = limitedRecord(
  z.string(),
  z.strictObject({ bytes: z.int().min(0), sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
  100,
);
export type Checksums = z.infer<typeof Checksums>;

export const ExportQuery = z.strictObject({
  disk: z.enum(["true", "false"]).default("false").meta({
    description: "`true`: the archive has the machine's whole disk, too, as a qcow2 image.",
  }),
});

export const ImportQuery = WaitQuery.extend({
  name: AgentName.optional().meta({ description: "What the new agent is called; as it was where not given." }),
  model: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .meta({ description: "Its model here, an id of `GET /models`, or `default` for the runtime's own." }),
});
export type ImportQuery = z.infer<typeof ImportQuery>;

export const Import = z
  .object({
    agent: Agent,
    installed: Installed.meta({
      description: "What was installed in its machine. Nothing of it is installed in the new one.",
    }),
    secrets: z
      .array(z.object({ name: z.string(), hosts: z.array(z.string()), headers: z.array(z.string()) }))
      .meta({ description: "The secrets that it had. Their values are in no archive: set them." }),
    agents: z.array(z.string()).meta({ description: "Agents that it could ask, and that this account does not have." }),
    hadDisk: z.boolean().meta({ description: "Whether the archive had a disk, which is not used." }),
  })
  .meta({ id: "Import" });
export type Import = z.infer<typeof Import>;

/** Which folder of a machine. `state`: where the runner keeps what its runtime needs to go on. */
export const AgentFolder = z.enum(["home", "state"]);
export type AgentFolder = z.infer<typeof AgentFolder>;
