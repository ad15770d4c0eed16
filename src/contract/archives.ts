import { z } from "zod";
import { AskedAcpProgram } from "./acp-program.ts";
import { Agent, AgentName, AutoSnapshot, FallbackModels, Fault, WaitQuery } from "./agents.ts";
import { TurnChanges } from "./changes.ts";
import { ArchivedConversation, maximumConversations } from "./conversations.ts";
import { Effort } from "./effort.ts";
import { ChangeEgress } from "./egress.ts";
import { limitFields } from "./limits.ts";
import { McpServers } from "./mcp-servers.ts";
import { OutputValue } from "./output.ts";
import { allAllowed, Permissions } from "./permissions.ts";
import { Schedules } from "./schedules.ts";
import { SecretHeader, SecretHost, SecretName } from "./secrets.ts";
import { Attachments } from "./uploads.ts";
import { limitedRecord } from "./validation.ts";

/** The version of the archive's format that this Berth writes, and the newest that it reads. */
export const archiveVersion = 1;

/** The longest line of a transcript, in bytes: a tool's input and output are in one line. */
export const maximumTranscriptLine = 16 * 1024 * 1024;

const time = z.iso.datetime();
/** Leaves headroom for later resets. */
const conversation = z.int().min(1).max(1_000_000_000);

/** No shell metacharacters: the names become part of commands. */
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

/** Packages installed in an agent's machine in addition to its image. */
export const Installed = z
  .object({
    apt: z.array(Package).max(10_000).meta({ description: "Debian packages that were installed explicitly." }),
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
  /** For human readers: what the archive does not contain. */
  leftOut: z.string().max(1_000),
});
export type Manifest = z.infer<typeof Manifest>;

/** An archive's second entry: the agent's settings, with secrets but without their values. */
export const ArchivedSettings = z.object({
  model: z.string().min(1).max(200).nullable(),
  effort: Effort.nullable().default(null),
  instructions: z
    .string()
    .max(64 * 1024)
    .refine((text) => !text.includes("\0"), "Instructions must not contain null characters.")
    .nullable(),
  acp: AskedAcpProgram.default(null),
  mcpServers: McpServers,
  /** The agents in the account that it may call, by name. */
  agents: z.array(AgentName).max(16),
  resources: z.object({
    cpus: z.int().min(1).max(16),
    memoryMiB: z.int().min(1024).max(65_536),
    diskGiB: z.int().min(10).max(1024),
  }),
  fallbackModels: FallbackModels.default([]),
  autoSnapshot: AutoSnapshot.default(0),
  permissions: Permissions.default(allAllowed),
  schedules: Schedules.default(null),
  maxCredits: limitFields.maxCredits.default(null),
  maxMinutes: limitFields.maxMinutes.default(null),
  maxToolCalls: limitFields.maxToolCalls.default(null),
  private: z.boolean().default(false),
  /** The replayed part of this conversation, which was held with another runtime. */
  retold: z
    .string()
    .max(200_000)
    .refine((told) => !told.includes("\0"), "A replayed conversation must not contain null characters.")
    .nullable()
    .default(null),
  /** Archives of earlier versions have none. */
  conversations: z.array(ArchivedConversation).max(maximumConversations).default([]),
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
 * A line of a transcript. A line `turn` begins a turn; the lines up to the next `turn` are its content in order.
 * Consecutive text or reasoning lines belong together.
 */
export const TranscriptLine = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("turn"),
    id: z.string().max(100),
    conversation,
    createdAt: time,
    finishedAt: time,
    message: text,
    /** Without their bytes. */
    attachments: Attachments.default([]),
    /** Null: the runtime's default. */
    model: z.string().max(200).nullable(),
    effort: Effort.nullable().default(null),
    status: z.enum(["completed", "failed", "cancelled"]),
    error: Fault.extend({ code: z.string().max(100) }).nullable(),
    output: OutputValue.nullable().default(null),
    /** Without diffs. Null: not known. */
    changes: TurnChanges.nullable().default(null),
    /** The agent was rolled back to a point before the turn's end. */
    undone: z.boolean(),
    usage: z.object({
      inputTokens: tokens,
      outputTokens: tokens,
      cacheReadTokens: tokens,
      cacheWriteTokens: tokens,
      reasoningTokens: tokens,
      contextTokens: tokens.nullable().default(null),
      contextLimit: tokens.nullable().default(null),
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

/** An archive's last entry: the total bytes of each part. */
export const Checksums = limitedRecord(
  z.string(),
  z.strictObject({ bytes: z.int().min(0), sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
  100,
);
export type Checksums = z.infer<typeof Checksums>;

export const ExportQuery = z.strictObject({
  disk: z.enum(["true", "false"]).default("false").meta({
    description: "`true`: include the machine's complete disk as a qcow2 image.",
  }),
});

export const ImportQuery = WaitQuery.extend({
  name: AgentName.optional().meta({ description: "The new agent's name. Default: the name in the archive." }),
  model: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .meta({ description: "Its model here, an id from `GET /models`, or `default` for the runtime's default." }),
});
export type ImportQuery = z.infer<typeof ImportQuery>;

export const Import = z
  .object({
    agent: Agent,
    installed: Installed.meta({
      description: "Packages that were installed in its machine. The new machine does not have them.",
    }),
    secrets: z
      .array(z.object({ name: z.string(), hosts: z.array(z.string()), headers: z.array(z.string()) }))
      .meta({ description: "Secrets that it had. An archive contains no values: set them again." }),
    agents: z
      .array(z.string())
      .meta({ description: "Agents that it could call and that do not exist in this account." }),
    hadDisk: z.boolean().meta({ description: "Whether the archive has a disk image, which an import does not use." }),
  })
  .meta({ id: "Import" });
export type Import = z.infer<typeof Import>;

/** Which folder of a machine. `state`: where the runner keeps what its runtime needs to resume. */
export const AgentFolder = z.enum(["home", "state"]);
export type AgentFolder = z.infer<typeof AgentFolder>;
