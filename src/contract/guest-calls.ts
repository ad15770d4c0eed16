import type { Duplex } from "node:stream";
import { z } from "zod";
import { Fault } from "./agents.ts";
import { Decision } from "./approval-fields.ts";
import { AgentFolder, Installed } from "./archives.ts";
import { maximumChangedFiles } from "./changes.ts";
import {
  CommandExit,
  MachineCommand,
  maximumEnded,
  maximumRunning,
  NumberedCommandEvent,
  RunCommand,
  SignalCommand,
  TerminalSize,
} from "./commands.ts";
import {
  ArchiveFolder,
  ChangeFile,
  ExtractArchive,
  FileEvent,
  FileTarget,
  ListFolder,
  MachineEntry,
  MachineFolderPage,
  ReadFile,
  StatResult,
  WatchFiles,
  WriteFile,
} from "./files.ts";
import {
  Activity,
  Adoption,
  Exec,
  ExecResult,
  GuestSecrets,
  Health,
  JournalEntry,
  maximumLogBytes,
  Prompt,
  Quiesced,
} from "./guest.ts";
import { uuidPattern } from "./ids.ts";
import { Warning } from "./limits.ts";
import { OutputSchema } from "./output.ts";
import { Permissions } from "./permissions.ts";
import { PortList, PortNumber } from "./ports.ts";
import { HostKey } from "./ssh.ts";

/** A request and a response, both JSON. */
interface Call<Request extends z.ZodType = z.ZodType, Response extends z.ZodType = z.ZodType> {
  kind: "call";
  request: Request;
  response: Response;
  /** The default timeout of the response, in milliseconds. */
  timeoutMs(request: z.output<Request>): number;
  /** The limit of the response, in bytes. */
  maximumBytes(request: z.output<Request>): number;
  /** The call sets the guest's clock itself, so it is not advanced before. */
  setsClock: boolean;
}

/** A JSON request, then a response of JSON items, one per line, until either end closes. */
interface Lines<Request extends z.ZodType = z.ZodType, Item extends z.ZodType = z.ZodType> {
  kind: "lines";
  request: Request;
  item: Item;
  /** The limit of the response, in bytes. */
  maximumBytes(request: z.output<Request>): number;
}

/** A JSON request, then bytes in both directions, which close independently. */
interface Bytes<Request extends z.ZodType = z.ZodType> {
  kind: "duplex";
  request: Request;
}

/** Calls by name. */
export type CallTable = Record<string, Call | Lines | Bytes>;

function call<Request extends z.ZodType, Response extends z.ZodType>({
  request,
  response,
  timeoutMs,
  maximumBytes,
  setsClock = false,
}: {
  request: Request;
  response: Response;
  timeoutMs: number | ((request: z.output<Request>) => number);
  maximumBytes: number | ((request: z.output<Request>) => number);
  setsClock?: boolean;
}): Call<Request, Response> {
  return {
    kind: "call",
    request,
    response,
    timeoutMs: always(timeoutMs),
    maximumBytes: always(maximumBytes),
    setsClock,
  };
}

function always<Argument>(value: number | ((of: Argument) => number)): (of: Argument) => number {
  return typeof value === "number" ? () => value : value;
}

function lines<Request extends z.ZodType, Item extends z.ZodType>({
  request,
  item,
  maximumBytes = () => Number.POSITIVE_INFINITY,
}: {
  request: Request;
  item: Item;
  maximumBytes?: (request: z.output<Request>) => number;
}): Lines<Request, Item> {
  return { kind: "lines", request, item, maximumBytes };
}

/** A call with bytes in both directions. */
export function duplex<Request extends z.ZodType>({ request }: { request: Request }): Bytes<Request> {
  return { kind: "duplex", request };
}

const nothing = z.object({});
/** Limits of responses, in bytes of JSON. `few`: fixed fields; escaping may lengthen a text field sixfold. */
const noBytes = 1024;
const fewBytes = 128 * 1024;
/** For one command with its arguments: a request is limited to 1 MiB. */
const commandBytes = 2 * 1024 * 1024;
const mostBytes = 16 * 1024 * 1024;
/** For calls that the guest answers at once. */
const quickTimeoutMs = 10_000;
/** For a runtime that takes a message while it works. */
const steerTimeoutMs = 30_000;
/** For listing a folder, which may be very large, and be the first call after a wake. */
const filesMs = 60_000;
/** For a copy or removal of a whole tree. */
const changeMs = 600_000;
const turnId = z.string().regex(uuidPattern);
const commandId = z.string().regex(uuidPattern);
const agentId = z.string().regex(uuidPattern);
/** For calls that start a process, which an emulated machine does in half a second on a quiet host. */
const spawnTimeoutMs = 60_000;

/**
 * All calls that the server makes to a guest on its control channel. The server's client and the runner's dispatcher
 * are both built from this table: the guest validates requests, the server validates responses.
 */
export const guestCalls = {
  /** Gives the guest to its agent. A booting machine takes the longest to answer. */
  adopt: call({ request: Adoption, response: Health, timeoutMs: 180_000, maximumBytes: fewBytes, setsClock: true }),
  /**
   * Starts the runtime if it is not running; answers when it is ready or has failed. The slowest runtime takes 20 CPU
   * seconds to start, and twenty times as long under emulation.
   */
  startRuntime: call({ request: nothing, response: Health, timeoutMs: 1_800_000, maximumBytes: fewBytes }),
  /** Starts the runtime and runs its throwaway turns. Under emulation up to four minutes; for OpenClaw, fifteen. */
  warmUp: call({ request: nothing, response: Health, timeoutMs: 2_700_000, maximumBytes: fewBytes }),
  /** Starts the turn with this id if it has not started. Returns its events from the first to the last. */
  prompt: lines({ request: Prompt.extend({ turnId }), item: JournalEntry }),
  /** A turn's events after `after`, up to its end. Fails with `turn_unknown`. */
  turnEvents: lines({ request: z.object({ turnId, after: z.int().min(0) }), item: JournalEntry }),
  /** The diffs of the files that the turn's last event lists; null: not known, or no longer. */
  turnDiffs: call({
    request: z.object({ turnId }),
    response: z.object({ diffs: z.array(z.string().nullable()).max(maximumChangedFiles).nullable() }),
    timeoutMs: quickTimeoutMs,
    maximumBytes: 2 * 1024 * 1024,
  }),
  /**
   * Interrupts a turn, which then emits its last event: `response.failed` with `error` if there is one. If the turn's prompt
   * arrives later, it is ignored.
   */
  cancel: call({
    request: z.object({ turnId, error: Fault.nullable().default(null) }),
    response: nothing,
    timeoutMs: quickTimeoutMs,
    maximumBytes: noBytes,
  }),
  /** The result of a client's function for a turn that waits for it. Fails with `function_not_waiting`. */
  answerFunction: call({
    request: z.object({ turnId, callId: z.string().max(200), output: z.string() }),
    response: nothing,
    timeoutMs: quickTimeoutMs,
    maximumBytes: noBytes,
  }),
  /** The agent's permissions, before the turn's prompt. Runners of older images do not have this call. */
  setPermissions: call({
    request: z.object({ turnId, permissions: Permissions }),
    response: nothing,
    timeoutMs: quickTimeoutMs,
    maximumBytes: noBytes,
  }),
  /** The schema of the turn's output, before its prompt. Runners of older images do not have this call. */
  setOutput: call({
    request: z.object({ turnId, schema: OutputSchema }),
    response: nothing,
    timeoutMs: quickTimeoutMs,
    maximumBytes: noBytes,
  }),
  /** The answer to an approval that a turn waits for. Repeatable. Fails with `approval_not_waiting`. */
  answerApproval: call({
    request: z.object({ turnId, approvalId: z.uuid(), decision: Decision, message: z.string().nullable() }),
    response: nothing,
    timeoutMs: quickTimeoutMs,
    maximumBytes: noBytes,
  }),
  /**
   * Delivers a message to a running turn, once for each id. `reached: false`: the runtime takes none, or the turn has
   * ended. Runners of older images do not have this call.
   */
  steer: call({
    request: z.object({ turnId, id: z.uuid(), message: z.string() }),
    response: z.object({ reached: z.boolean() }),
    timeoutMs: steerTimeoutMs,
    maximumBytes: noBytes,
  }),
  /** Adds a warning to the events of a running turn. Runners of older images do not have this call. */
  warn: call({
    request: z.object({ turnId, warning: Warning }),
    response: nothing,
    timeoutMs: quickTimeoutMs,
    maximumBytes: noBytes,
  }),
  /**
   * The next prompt is of this conversation, which is not the one that the machine was in. Runners of older images do not
   * have this call: they would begin an empty conversation.
   */
  resumeConversation: call({
    request: z.object({ conversation: z.int() }),
    response: nothing,
    timeoutMs: quickTimeoutMs,
    maximumBytes: noBytes,
  }),
  /**
   * Switches an idle runtime to this conversation if it is in one with a lower number. If it is not idle, the next prompt
   * does so.
   */
  enterConversation: call({
    request: z.object({ conversation: z.int() }),
    response: nothing,
    timeoutMs: 60_000,
    maximumBytes: noBytes,
  }),
  /** Replaces the machine's placeholders and authority for the agent's secrets. */
  provideSecrets: call({ request: GuestSecrets, response: nothing, timeoutMs: quickTimeoutMs, maximumBytes: noBytes }),
  /**
   * Flushes all writes to disk before the machine is suspended or stopped. With `endRuntime`, shuts the runtime down
   * first.
   */
  quiesce: call({
    request: z.object({ endRuntime: z.boolean() }),
    response: Quiesced,
    timeoutMs: 20_000,
    maximumBytes: 8 * maximumLogBytes,
  }),
  /** Observes processes for a second. */
  activity: call({ request: nothing, response: Activity, timeoutMs: quickTimeoutMs, maximumBytes: noBytes }),
  /**
   * The last `tail` lines of the runner's and runtime's output and, with `follow`, new lines until the server
   * disconnects. Without it, the limit is the largest JSON encoding of a log of `maximumLogBytes`.
   */
  log: lines({
    request: z.object({ tail: z.int().min(0), follow: z.boolean() }),
    item: z.object({ lines: z.array(z.string()).max(maximumLogBytes + 1) }),
    maximumBytes: ({ follow }) => (follow ? Number.POSITIVE_INFINITY : 8 * maximumLogBytes),
  }),
  /**
   * Starts a command of the agent's owner if it has not started. Fails with `too_many_commands`,
   * `command_not_runnable`.
   */
  startCommand: call({
    request: z.object({ id: commandId, run: RunCommand }),
    response: MachineCommand,
    timeoutMs: spawnTimeoutMs,
    maximumBytes: commandBytes,
  }),
  /** Running commands and the last finished ones, newest first. */
  listCommands: call({
    request: nothing,
    response: z.object({ commands: z.array(MachineCommand).max(maximumRunning + maximumEnded) }),
    timeoutMs: quickTimeoutMs,
    maximumBytes: mostBytes,
  }),
  /**
   * A command's events after `after`, up to its end; with `lastBytes`, first one event with at least that much of the
   * end of a terminal's output, whatever `after`. Fails with `command_not_found`, and with `command_exited` if `after`
   * is the last event.
   */
  commandEvents: lines({
    request: z.object({ id: commandId, after: z.int().min(0), lastBytes: z.int().min(0).optional() }),
    item: NumberedCommandEvent,
  }),
  /**
   * The ends of these commands, each as soon as it has ended; null for one that the machine does not have. Runners of
   * older images do not have this call.
   */
  commandEnds: lines({
    request: z.object({ ids: z.array(commandId).max(maximumRunning + 2 * maximumEnded) }),
    item: z.object({ id: commandId, exit: CommandExit.nullable() }),
    maximumBytes: ({ ids }) => ids.length * noBytes,
  }),
  /**
   * Bytes for a command's input, in base64. An `inputId` that was accepted before changes nothing. Not accepted if the
   * command does not read and its buffer is full. Fails with `command_not_found`, `command_exited`.
   */
  commandInput: call({
    request: z.object({ id: commandId, inputId: z.string().max(100), data: z.base64(), end: z.boolean() }),
    response: z.object({ accepted: z.boolean() }),
    timeoutMs: quickTimeoutMs,
    maximumBytes: noBytes,
  }),
  /** Sends a command and its group a signal. Fails with `command_not_found`, `command_exited`. */
  signalCommand: call({
    request: SignalCommand.extend({ id: commandId }),
    response: nothing,
    timeoutMs: quickTimeoutMs,
    maximumBytes: noBytes,
  }),
  /** Resizes a command's terminal. Fails with `command_not_found`, `command_exited`. */
  resizeCommand: call({
    request: TerminalSize.extend({ id: commandId }),
    response: nothing,
    timeoutMs: quickTimeoutMs,
    maximumBytes: noBytes,
  }),
  /**
   * The entry at a path, after following links. Every call about files fails with the codes of files in `errors.ts`.
   */
  statFile: call({
    request: ListFolder.pick({ path: true, user: true }),
    response: StatResult,
    timeoutMs: filesMs,
    maximumBytes: fewBytes,
  }),
  listFolder: call({
    request: ListFolder,
    response: MachineFolderPage,
    timeoutMs: filesMs,
    maximumBytes: ({ limit }) => Math.min(mostBytes, (limit + 1) * fewBytes),
  }),
  /** Creates a folder with its parents; moves, copies or removes the entry at a path. */
  changeFile: call({
    request: ChangeFile,
    response: z.object({ entry: MachineEntry.nullable() }),
    timeoutMs: changeMs,
    maximumBytes: fewBytes,
  }),
  /**
   * The requested bytes, in frames if their number is unknown. If a file shrinks during the read, the response ends
   * early.
   */
  readFile: duplex({ request: ReadFile }),
  /**
   * The entry at a path, as a line (`StatResult`), and the bytes of a regular file: as many as its size, or in frames if
   * their number is unknown. Runners of older images do not have this call.
   */
  openFile: duplex({ request: FileTarget }),
  /**
   * Frames of bytes (`core/frames.ts`) for a file, which is replaced when the last has arrived. The response is a line:
   * `ReceivedFile`, or a `GuestFault`.
   */
  writeFile: duplex({ request: WriteFile }),
  /** Frames of an archive. Without the last frame, the archive is incomplete. */
  archiveFolder: duplex({ request: ArchiveFolder }),
  /** Frames of an archive to unpack into a folder. The response is as for `writeFile`. */
  extractArchive: duplex({ request: ExtractArchive }),
  /** Frames of a tar of one of the agent's folders, with all owners and modes. */
  exportFolder: duplex({ request: z.object({ folder: AgentFolder }) }),
  /**
   * Frames of such a tar, which replaces the folder once it is complete. Stops the runtime, which starts again with the
   * next prompt. The response is as for `writeFile`.
   */
  importFolder: duplex({ request: z.object({ folder: AgentFolder }) }),
  /** Packages installed in the machine in addition to its image. */
  listInstalled: call({ request: nothing, response: Installed, timeoutMs: filesMs, maximumBytes: mostBytes }),
  /** Changes, after a first item `watching`, until the server disconnects. */
  watchFiles: lines({ request: WatchFiles, item: FileEvent }),
  /** Listening ports in the machine. */
  listPorts: call({ request: nothing, response: PortList, timeoutMs: filesMs, maximumBytes: 1024 * 1024 }),
  /** A connection to a port at the machine's own address. Fails with `port_not_listening`. */
  connectPort: duplex({ request: z.object({ port: PortNumber }) }),
  /** The machine's SSH host key, created by the first call. */
  sshHostKey: call({ request: nothing, response: HostKey, timeoutMs: filesMs, maximumBytes: fewBytes }),
  /** A connection to an SSH server, which accepts the authority's certificates for this agent. */
  openSsh: duplex({ request: z.object({ authority: z.string().max(200), agentId }) }),
  exec: call({
    request: Exec,
    response: ExecResult,
    timeoutMs: ({ timeoutMs }) => timeoutMs + 10_000,
    maximumBytes: mostBytes,
  }),
} as const satisfies CallTable;

/** Ends a call early: after this timeout instead of the table's, or when its caller aborts. */
export interface GuestCallOptions {
  timeoutMs?: number;
  signal?: AbortSignal | undefined;
}

/**
 * One function per call in a table. A `call` rejects when it times out. A `lines` call sends its request on the first
 * step, yields items as they arrive and ends when `signal` aborts; it throws if the guest does not start responding in
 * time. A `duplex` call resolves when the guest has accepted it, and rejects when that takes too long.
 */
export type ClientOf<Table extends CallTable> = {
  [Name in keyof Table]: Table[Name] extends { kind: "call"; response: infer Response extends z.ZodType }
    ? (request: z.input<Table[Name]["request"]>, options?: GuestCallOptions) => Promise<z.output<Response>>
    : Table[Name] extends { kind: "lines"; item: infer Item extends z.ZodType }
      ? (request: z.input<Table[Name]["request"]>, options?: GuestCallOptions) => AsyncGenerator<z.output<Item>[]>
      : (request: z.input<Table[Name]["request"]>, options?: GuestCallOptions) => Promise<Duplex>;
};

/** The calls that the server makes to a guest. */
export type GuestClient = ClientOf<typeof guestCalls>;
