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
import {
  type CallTable,
  type ClientOf,
  call,
  duplex,
  fewBytes,
  filesMs,
  lines,
  mostBytes,
  noBytes,
  nothing,
  quickTimeoutMs,
} from "./guest-call.ts";
import { guestFileCalls } from "./guest-file-calls.ts";
import { uuidPattern } from "./ids.ts";
import { Warning } from "./limits.ts";
import { OutputSchema } from "./output.ts";
import { Permissions } from "./permissions.ts";
import { PortList, PortNumber } from "./ports.ts";
import { HostKey } from "./ssh.ts";

/** For one command with its arguments: a request is limited to 1 MiB. */
const commandBytes = 2 * 1024 * 1024;
/** For a runtime that takes a message while it works. */
const steerTimeoutMs = 30_000;
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
  ...guestFileCalls,
  /** Frames of a tar of one of the agent's folders, with all owners and modes. */
  exportFolder: duplex({ request: z.object({ folder: AgentFolder }) }),
  /**
   * Frames of such a tar, which replaces the folder once it is complete. Stops the runtime, which starts again with the
   * next prompt. The response is as for `writeFile`.
   */
  importFolder: duplex({ request: z.object({ folder: AgentFolder }) }),
  /** Packages installed in the machine in addition to its image. */
  listInstalled: call({ request: nothing, response: Installed, timeoutMs: filesMs, maximumBytes: mostBytes }),
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

/** The calls that the server makes to a guest. */
export type GuestClient = ClientOf<typeof guestCalls>;
