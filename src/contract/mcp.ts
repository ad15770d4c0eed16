import { z } from "zod";
import { Agent, AgentName, CreateAgent } from "./agents.ts";
import { Message, TurnRecord } from "./chat.ts";
import { CommandResult, RunCommand } from "./commands.ts";
import { FileEntry, FileParams } from "./files.ts";

// The arguments and results of the tools at `/mcp`. Schemas without an id, so that each tool's schema is complete.

/** The longest time from now for which an agent schedules a message, in minutes: a year. */
const maximumScheduleMinutes = 525_600;
/** The limit of each output stream of a command in a result, in characters. */
export const maximumShownOutput = 32 * 1024;
/** The most bytes of a file that one call reads. */
const maximumReadBytes = 128 * 1024;
/** The most characters of a file that one call writes. */
const maximumWrittenText = 768 * 1024;
/** The maximum wait of a call for a turn, in seconds. */
const maximumWaitSeconds = 3_600;

const agent = AgentName.meta({ description: "The agent's name." });
const turnId = z.string().max(100).meta({ description: "The turn's id, from start_turn or ask_agent." });
const cursor = z.string().min(1).max(40_000).optional().meta({ description: "The previous page's nextCursor." });
const nextCursor = z.string().nullable().meta({ description: "Null: this is the last page." });
const path = FileParams.shape.path.min(1).meta({ description: "Absolute, or relative to the agent's home folder." });
const fault = z.object({ code: z.string(), message: z.string() }).nullable();
const { name, runtime, model, private: isPrivate, status, lastActiveAt } = Agent.shape;

const waitSeconds = z
  .int()
  .min(0)
  .max(maximumWaitSeconds)
  .optional()
  .meta({ description: "How long to wait for the turn to end before returning its state." });

export const AgentSummary = z.object({ name, runtime, model, private: isPrivate, status, lastActiveAt, error: fault });

/** A turn as tools return it. */
export const TurnSummary = z.object({
  agent: z.string(),
  turnId: z.string(),
  status: TurnRecord.shape.status,
  reply: z.string().meta({ description: "The reply so far, up to 65,536 characters." }),
  replyTruncated: z.boolean(),
  error: fault,
  createdAt: z.string(),
  finishedAt: z.string().nullable(),
});
export type TurnSummary = z.infer<typeof TurnSummary>;

export const ListAgentsArguments = z.strictObject({ cursor });
export const AgentPage = z.object({ agents: z.array(AgentSummary), nextCursor });

export const CreateAgentArguments = z.strictObject({
  name: CreateAgent.shape.name,
  runtime: CreateAgent.shape.runtime,
  model: CreateAgent.shape.model,
  instructions: CreateAgent.shape.instructions,
  private: CreateAgent.shape.private,
});

const message = Message.meta({ description: "The message for the agent." });
/** Also used by the tool with which agents call each other. */
export const StartTurnArguments = z.strictObject({ agent, message });
export const OtherAgents = z.object({
  agents: z.array(z.object({ name, runtime, model, status, about: z.string().nullable() })),
});
export const OtherAnswer = z.object({
  agent: z.string(),
  turnId: z.string(),
  reply: z.string(),
  replyTruncated: z.boolean(),
});

/** Also used by the tools with which agents schedule messages to themselves. */
export const ScheduleArguments = z
  .strictObject({
    message: Message.meta({
      description: "The message that you will get, with everything that you need to know then.",
    }),
    inMinutes: z
      .int()
      .min(1)
      .max(maximumScheduleMinutes)
      .optional()
      .meta({ description: "Once, so many minutes from now." }),
    at: z.iso
      .datetime({ offset: true, message: "at: a time is ISO 8601 with a zone, such as 2030-01-31T12:00:00+01:00." })
      .optional()
      .meta({ description: "Once, at this time." }),
    cron: z.string().max(200).optional().meta({
      description:
        "Repeatedly: minute, hour, day of month, month, day of week, such as 0 9 * * 1-5. Requires timeZone.",
    }),
    timeZone: z
      .string()
      .max(64)
      .optional()
      .meta({ description: "With cron: the user's time zone, such as Europe/Berlin." }),
  })
  .refine(({ inMinutes, at, cron }) => [inMinutes, at, cron].filter((each) => each !== undefined).length === 1, {
    message: "Exactly one of inMinutes, at, cron is required.",
  })
  .refine(({ cron, timeZone }) => (cron === undefined) === (timeZone === undefined), {
    message: "timeZone is required with cron, and only with it.",
  });
export type ScheduleArguments = z.infer<typeof ScheduleArguments>;
export const Scheduled = z.object({ name: z.string(), nextRunAt: z.string() });
export const OwnScheduleList = z.object({
  now: z.string(),
  schedules: z.array(
    z.object({
      name: z.string(),
      message: z.string(),
      cron: z.string().nullable(),
      timeZone: z.string().nullable(),
      at: z.string().nullable(),
      paused: z.boolean(),
      nextRunAt: z.string().nullable().meta({ description: "Null: it is paused, or over." }),
    }),
  ),
});
export const CancelScheduleArguments = z.strictObject({ name: z.string().max(100) });

export const AskAgentArguments = StartTurnArguments.extend({ waitSeconds });
export const GetTurnArguments = z.strictObject({ agent, turnId, waitSeconds });
export const CancelTurnArguments = z.strictObject({ agent, turnId });

export const RunCommandArguments = z.strictObject({
  agent,
  command: RunCommand.shape.command,
  cwd: RunCommand.shape.cwd,
  stdin: RunCommand.shape.stdin,
  timeoutSeconds: z
    .int()
    .min(1)
    .max(maximumWaitSeconds)
    .default(60)
    .meta({ description: "The command's timeout, after which it is killed." }),
});
export const CommandOutcome = z.object(CommandResult.shape).omit({ id: true });

export const ReadFileArguments = z.strictObject({
  agent,
  path,
  offset: z.int().min(0).max(Number.MAX_SAFE_INTEGER).default(0).meta({ description: "The offset of the first byte." }),
  length: z.int().min(1).max(maximumReadBytes).default(maximumReadBytes).meta({ description: "The number of bytes." }),
});
export const FileContent = z.object({
  path: z.string(),
  size: z.int().meta({ description: "The size of the file in bytes." }),
  text: z.string().optional().meta({ description: "The content, if it is UTF-8." }),
  base64: z.string().optional().meta({ description: "The content, if it is not UTF-8." }),
  nextOffset: z.int().nullable().meta({ description: "The offset to continue from; null at the end." }),
  etag: z.string().meta({ description: "Changes with the file; pass it to write_file as ifMatch." }),
});

export const WriteFileArguments = z
  .strictObject({
    agent,
    path,
    text: z.string().max(maximumWrittenText).optional(),
    base64: z.base64().max(maximumWrittenText).optional(),
    ifMatch: z.string().max(200).optional().meta({ description: "Write only if the file still has this etag." }),
  })
  .refine(({ text, base64 }) => (text === undefined) !== (base64 === undefined), "Either text or base64 is required.");
export const FileWritten = z.object({
  path: z.string(),
  size: z.int(),
  created: z.boolean(),
  etag: z.string().nullable(),
});

export const ListFilesArguments = z.strictObject({
  agent,
  path: path.default("."),
  depth: z.int().min(1).max(20).default(1).meta({ description: "The number of levels of folders." }),
  limit: z.int().min(1).max(500).default(100),
  cursor,
});
export const FilePage = z.object({ entries: z.array(z.object(FileEntry.shape).omit({ createdBy: true })), nextCursor });
