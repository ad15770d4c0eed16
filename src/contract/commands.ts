import { z } from "zod";
import { uuidPattern } from "./ids.ts";
import { limitedRecord } from "./validation.ts";

/** How many commands of an agent may run at once. */
export const maximumRunning = 64;
/** How many ended commands are kept, with their output. */
export const maximumEnded = 100;
/** How much of a command's output is kept, in bytes; the oldest goes first. */
export const maximumOutputBytes = 16 * 1024 * 1024;
/** How much of each stream a JSON answer holds, in bytes of UTF-8. */
export const maximumAnswerBytes = 1024 * 1024;
/** The most that one input to a command may carry, in bytes. */
export const maximumInputBytes = 512 * 1024;
/** After how long a command that is waited for is ended, unless it asks for another time, in seconds. */
const usualTimeoutSeconds = 3_600;
const maximumTimeoutSeconds = 7 * 86_400;

const noNull = (text: string) => !text.includes("\0");
/** The most that Linux passes to a program as one argument or variable, in bytes: 128 KiB with its end (execve(2)). */
const maximumArgumentBytes = 128 * 1024 - 1;
const fits = (...texts: string[]) => Buffer.byteLength(texts.join("=")) <= maximumArgumentBytes;
const Text = z
  .string()
  .max(maximumArgumentBytes)
  .refine(noNull, "A null character cannot be passed to a program.")
  .refine(
    (text) => fits(text),
    `A program's argument has up to ${maximumArgumentBytes} bytes of UTF-8; pass more by stdin.`,
  );

/** Which user of the machine does something: the agent's own, or root. */
export const MachineUser = z.enum(["agent", "root"]);

/** The size of a terminal, in characters. */
export const TerminalSize = z.strictObject({ cols: z.int().min(1).max(1_000), rows: z.int().min(1).max(1_000) });
export type TerminalSize = z.infer<typeof TerminalSize>;

export const RunCommand = z
  .strictObject({
    command: z
      .union([Text.min(1), z.array(Text).min(1).max(1_000)], {
        error: 'command is required: a line for bash, as "ls -l", or a program and its arguments, as ["ls", "-l"]',
      })
      .meta({ description: "A line that `bash -lc` runs, or a program and its arguments." }),
    cwd: z
      .string()
      .min(1)
      .max(4_095)
      .refine(noNull)
      .optional()
      .meta({ description: "The folder to run in: absolute, or from the home folder, which is the default." }),
    env: limitedRecord(
      z.string().regex(/^[^=\0]{1,256}$/, "A variable's name has no =."),
      Text,
      256,
      "A command has 256 variables at most.",
    )
      .refine(
        (env) => Object.entries(env).every(([name, value]) => fits(name, value)),
        `A variable has up to ${maximumArgumentBytes} bytes of UTF-8 with its name; pass more by stdin.`,
      )
      .optional()
      .meta({ description: "Variables beside those of a login." }),
    stdin: z.string().max(maximumInputBytes).optional().meta({ description: "The command's whole input." }),
    openStdin: z
      .boolean()
      .default(false)
      .meta({ description: "Leaves the input open for `POST …/stdin`; otherwise the command reads its end." }),
    user: MachineUser.default("agent"),
    timeoutSeconds: z.int().min(1).max(maximumTimeoutSeconds).optional().meta({
      description: `The command is killed after this time; an hour by default, and never for a detached one. The time in which its machine sleeps does not count.`,
    }),
    detach: z
      .boolean()
      .default(false)
      .meta({ description: "Answers at once. What the command leaves running when it ends is left running." }),
    terminal: TerminalSize.optional().meta({ description: "Runs it on a terminal of that size." }),
  })
  .meta({ id: "RunCommand" });
export type RunCommand = z.infer<typeof RunCommand>;

/** How long a command may run, in milliseconds; null: as long as it likes. */
export function timeoutOf({ timeoutSeconds, detach, terminal }: RunCommand): number | null {
  if (timeoutSeconds !== undefined) return timeoutSeconds * 1000;
  return detach || terminal ? null : usualTimeoutSeconds * 1000;
}

const time = z.iso.datetime();

/** How a command ended. One of `exitCode` and `signal` is set, unless it was lost. */
const Exit = {
  exitCode: z.int().nullable(),
  signal: z.string().max(20).nullable().meta({ description: "The signal that ended it, such as `SIGKILL`." }),
  timedOut: z.boolean(),
  lost: z.boolean().meta({ description: "Its machine, or what watched it there, ended before it did." }),
};

export const CommandExit = z.object(Exit);
export type CommandExit = z.infer<typeof CommandExit>;

export const CommandRecord = z
  .object({
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
    outputBytes: z.int().meta({ description: "How much it has written, kept or not." }),
  })
  .meta({ id: "Command" });
export type CommandRecord = z.infer<typeof CommandRecord>;

export const CommandList = z
  .object({ data: z.array(CommandRecord), nextCursor: z.string().nullable() })
  .meta({ id: "CommandList", description: "The commands that run and the last 100 that ended, the newest first." });
export type CommandList = z.infer<typeof CommandList>;

export const CommandResult = z
  .object({
    id: z.string(),
    ...Exit,
    stdout: z.string(),
    stderr: z.string(),
    truncated: z.boolean().meta({
      description: "Whether the command wrote more than the answer holds: 1 MiB of each stream. `…/events` has 16 MiB.",
    }),
  })
  .meta({ id: "CommandResult", description: "Bytes that are no UTF-8 are replaced; `…/events` has them as they are." });
export type CommandResult = z.infer<typeof CommandResult>;

/** Output: as text, or where it is no UTF-8 in base64. */
const Output = { text: z.string().optional(), base64: z.base64().optional() };

export const CommandEvent = z
  .discriminatedUnion("type", [
    z.object({ type: z.literal("command.stdout"), ...Output }),
    z.object({ type: z.literal("command.stderr"), ...Output }),
    z.object({ type: z.literal("command.output_dropped"), bytes: z.int() }).meta({
      description: "So many bytes of output, counted from the first, are kept no longer.",
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

/** The signals that a command can be sent. */
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

/** The name of a signal that a command can be sent. */
export type CommandSignal = z.infer<typeof SignalCommand>["signal"];

export const CommandParams = z.object({
  name: z.string().meta({ description: "The agent's name." }),
  commandId: z.string().regex(uuidPattern, "A command's id is a UUID.").meta({ description: "The command's id." }),
});

export const CommandEventsQuery = z.strictObject({
  after: z.coerce
    .number()
    .int()
    .min(0)
    .default(0)
    .meta({ description: "Only events after this number. The header `last-event-id` takes precedence." }),
});

export const InputQuery = z.strictObject({
  end: z
    .enum(["true", "false"])
    .default("false")
    .meta({ description: "Closes the command's input after these bytes." }),
});
