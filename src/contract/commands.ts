import { z } from "zod";
import { CreatedBy } from "./authors.ts";
import { uuidPattern } from "./ids.ts";
import { limitedRecord } from "./validation.ts";

/** How many commands of an agent may run at once. */
export const maximumRunning = 64;
/** How many finished commands are kept, with their output. */
export const maximumEnded = 100;
/** How much of a command's output is kept, in bytes; the oldest output is dropped first. */
export const maximumOutputBytes = 16 * 1024 * 1024;
/** The limit of each output stream in a JSON response, in bytes of UTF-8. */
export const maximumAnswerBytes = 1024 * 1024;
/** The maximum size of one input to a command, in bytes. */
export const maximumInputBytes = 512 * 1024;
/** The default timeout of a command that the caller waits for, in seconds. */
const usualTimeoutSeconds = 3_600;
const maximumTimeoutSeconds = 7 * 86_400;

const noNull = (text: string) => !text.includes("\0");
/** Linux's limit for one argument or variable, in bytes: 128 KiB with its terminator (execve(2)). */
const maximumArgumentBytes = 128 * 1024 - 1;
const fits = (...texts: string[]) => Buffer.byteLength(texts.join("=")) <= maximumArgumentBytes;
const Text = z
  .string()
  .max(maximumArgumentBytes)
  .refine(noNull, "A program's arguments and variables must not contain null characters.")
  .refine(
    (text) => fits(text),
    `A program's argument is limited to ${maximumArgumentBytes} bytes of UTF-8; use stdin for more.`,
  );

/** The user in the machine: the agent's own, or root. */
export const MachineUser = z.enum(["agent", "root"]);

/** The size of a terminal, in characters. */
export const TerminalSize = z.strictObject({ cols: z.int().min(1).max(1_000), rows: z.int().min(1).max(1_000) });
export type TerminalSize = z.infer<typeof TerminalSize>;

export const RunCommand = z
  .strictObject({
    command: z
      .union([Text.min(1), z.array(Text).min(1).max(1_000)], {
        error:
          'command is required: a command line for bash, such as "ls -l", or a program and its arguments, such as ["ls", "-l"]',
      })
      .meta({ description: "A command line for `bash -lc`, or a program and its arguments." }),
    cwd: z
      .string()
      .min(1)
      .max(4_095)
      .refine(noNull)
      .optional()
      .meta({ description: "The working directory: absolute, or relative to the home folder, which is the default." }),
    env: limitedRecord(
      z.string().regex(/^[^=\0]{1,256}$/, "A variable's name must not contain =."),
      Text,
      256,
      "A command is limited to 256 variables.",
    )
      .refine(
        (env) => Object.entries(env).every(([name, value]) => fits(name, value)),
        `A variable is limited to ${maximumArgumentBytes} bytes of UTF-8 with its name; use stdin for more.`,
      )
      .optional()
      .meta({ description: "Variables to add to those of a login." }),
    stdin: z.string().max(maximumInputBytes).optional().meta({ description: "The command's complete input." }),
    openStdin: z
      .boolean()
      .default(false)
      .meta({ description: "Keeps the input open for `POST …/stdin`; otherwise it is closed." }),
    user: MachineUser.default("agent"),
    timeoutSeconds: z.int().min(1).max(maximumTimeoutSeconds).optional().meta({
      description: `The command is killed after this time. Default: an hour, or no limit for a detached command. Time during which its machine sleeps does not count.`,
    }),
    detach: z
      .boolean()
      .default(false)
      .meta({ description: "Returns immediately. Processes that the command leaves behind keep running." }),
    terminal: TerminalSize.optional().meta({ description: "Allocates a terminal of this size." }),
  })
  .meta({ id: "RunCommand" });
export type RunCommand = z.infer<typeof RunCommand>;

/** A command's timeout, in milliseconds; null: none. */
export function timeoutOf({ timeoutSeconds, detach, terminal }: RunCommand): number | null {
  if (timeoutSeconds !== undefined) return timeoutSeconds * 1000;
  return detach || terminal ? null : usualTimeoutSeconds * 1000;
}

const time = z.iso.datetime();

/** How a command ended. Either `exitCode` or `signal` is set, unless the command was lost. */
const Exit = {
  exitCode: z.int().nullable(),
  signal: z.string().max(20).nullable().meta({ description: "The signal that ended it, such as `SIGKILL`." }),
  timedOut: z.boolean(),
  lost: z.boolean().meta({ description: "Its machine or its supervisor stopped before the command ended." }),
};

export const CommandExit = z.object(Exit);
export type CommandExit = z.infer<typeof CommandExit>;

/** A command, as its machine keeps it. */
export const MachineCommand = z.object({
  id: z.string(),
  command: z.union([z.string(), z.array(z.string()).max(1_000)]),
  cwd: z.string(),
  user: MachineUser,
  detached: z.boolean(),
  terminal: z.boolean(),
  status: z.enum(["running", "exited"]),
  startedAt: time,
  exitedAt: time.nullable(),
  exitCode: Exit.exitCode,
  signal: Exit.signal,
  timedOut: Exit.timedOut,
  lost: Exit.lost,
  outputBytes: z.int().meta({ description: "The amount of output, including dropped output." }),
});
export type MachineCommand = z.infer<typeof MachineCommand>;

export const CommandRecord = MachineCommand.extend({ createdBy: CreatedBy }).meta({ id: "Command" });
export type CommandRecord = z.infer<typeof CommandRecord>;

export const CommandList = z
  .object({ data: z.array(CommandRecord), nextCursor: z.string().nullable() })
  .meta({ id: "CommandList", description: "Running commands and the last 100 finished ones, newest first." });
export type CommandList = z.infer<typeof CommandList>;

export const CommandResult = z
  .object({
    id: z.string(),
    ...Exit,
    stdout: z.string(),
    stderr: z.string(),
    truncated: z.boolean().meta({
      description:
        "Whether the output was truncated to the response's limit of 1 MiB per stream. `…/events` has up to 16 MiB.",
    }),
  })
  .meta({ id: "CommandResult", description: "Invalid UTF-8 is replaced; `…/events` has the exact bytes." });
export type CommandResult = z.infer<typeof CommandResult>;

/** Output: text, or base64 where it is not UTF-8. */
const Output = { text: z.string().optional(), base64: z.base64().optional() };

export const CommandEvent = z
  .discriminatedUnion("type", [
    z.object({ type: z.literal("command.stdout"), ...Output }),
    z.object({ type: z.literal("command.stderr"), ...Output }),
    z.object({ type: z.literal("command.output_dropped"), bytes: z.int() }).meta({
      description: "The first bytes of the output, which were dropped.",
    }),
    z.object({ type: z.literal("command.exited"), ...Exit }),
  ])
  .meta({ id: "CommandEvent" });
export type CommandEvent = z.infer<typeof CommandEvent>;

/** An event with its number: 1, 2, 3, …, with a gap only where output was dropped. */
export const NumberedCommandEvent = z.object({ seq: z.int().min(1), event: CommandEvent });
export type NumberedCommandEvent = z.infer<typeof NumberedCommandEvent>;

/** The bytes of an event of output. */
export function bytesOf({ text, base64 }: { text?: string | undefined; base64?: string | undefined }): Uint8Array {
  return base64 === undefined ? Buffer.from(text ?? "") : Buffer.from(base64, "base64");
}

export const commandSignals = [
  "SIGINT",
  "SIGTERM",
  "SIGKILL",
  "SIGHUP",
  "SIGQUIT",
  "SIGUSR1",
  "SIGUSR2",
  "SIGSTOP",
  "SIGCONT",
  "SIGTSTP",
  "SIGALRM",
  "SIGABRT",
  "SIGWINCH",
] as const;

export const SignalCommand = z.strictObject({ signal: z.enum(commandSignals) }).meta({ id: "SignalCommand" });

/** A signal that can be sent to a command. */
export type CommandSignal = z.infer<typeof SignalCommand>["signal"];

export const CommandParams = z.object({
  name: z.string().meta({ description: "The agent's name." }),
  commandId: z.string().regex(uuidPattern, "A command's id is a UUID.").meta({ description: "The command's id." }),
});

export const CommandEventsQuery = z.strictObject({
  after: z.coerce.number().int().min(0).default(0).meta({
    description: "Only events after the event with this number. The header `last-event-id` takes precedence.",
  }),
});

export const InputQuery = z.strictObject({
  end: z.enum(["true", "false"]).default("false").meta({ description: "Close the command's input after these bytes." }),
});
