import { z } from "zod";
import { AcpProgram } from "./acp-program.ts";
import { TurnEvent } from "./chat.ts";
import { Effort } from "./effort.ts";
import type { ErrorCode } from "./errors.ts";
import { ClientFunction } from "./functions.ts";
import { McpServers } from "./mcp-servers.ts";
import { maximumSkills, PinnedSkill } from "./skills.ts";
import { maximumAttachments } from "./uploads.ts";
import { limitedRecord } from "./validation.ts";

/**
 * The protocol between the server and the runner in a guest. The server connects; a connection begins with lines of JSON,
 * in turns: `Hello`, `Challenge`, `Proof`, `Welcome`. Each end proves that it knows the machine's token, which neither
 * sends. Then the connection carries HTTP/2: on `control` the runner is the server, on `uplink` it is the client.
 *
 * On control: the calls of `guest-calls.ts`, each as `POST /NAME`. A failure is answered with a status of 400 or above
 * and a `GuestFault`.
 *
 * On uplink: a request's path is a provider's name followed by the provider's own path, as in `/anthropic/v1/messages`;
 * a CONNECT to `HOST:PORT` opens a tunnel. A refusal is answered with a text, and a word for the reason in
 * `verdictHeader`.
 *
 * On `download`, which the server opens for a tunnel with a name (`tunnelHeader`) or for an upload of a file
 * (`OfferedDownload` in `files.ts`), there is no HTTP/2: the server sends
 * all further bytes of that tunnel unchanged, and ends its side; the guest closes the connection when its program has
 * read all of them. The tunnel itself stays open for the other direction and breaks as before. It ends after the
 * download, and then reports how many bytes went over it (`downloadedHeader`).
 */
export const guestPort = 7000;

/**
 * When a call on control was sent, in milliseconds since 1970. A guest whose clock is behind adopts this time. Calls
 * are slow on a busy host, above all the adoption, which sets the clock.
 */
export const timeHeader = "x-time";

/** The request of a `duplex` call, whose body is its stream: JSON in base64url. */
export const requestHeader = "x-request";

/** The address of the gateway in the guest: the runner listens here and forwards requests. */
export const guestGatewayPort = 7001;

/** The address of the guest's internet proxy, an HTTP proxy in the runner. The server makes its connections. */
export const guestProxyPort = 7002;

/** The address of a turn's client functions, an MCP server in the runner. */
export const guestFunctionsPort = 7003;

/**
 * The port of a runtime that needs one. It never changes, since OpenClaw starts slowly after a change of its
 * configuration.
 */
export const guestRuntimePort = 7004;

/**
 * The path on the uplink that the server handles itself: the tools with which an agent calls other agents and schedules
 * messages. Its query names them, so that a runtime starts again when they change: most list a server's tools only once.
 */
export const agentsPath = "/agents/mcp";
export const agentTools = ["agents", "schedules"] as const;
export type AgentTool = (typeof agentTools)[number];

/**
 * Before the name and the hash of a skill, the path on the uplink that the server handles itself: the skill's files, as
 * `SkillContent`, if the agent has it.
 */
export const skillsPath = "/skills/";

/** Why a tunnel was not opened, as one word. */
export const verdictHeader = "x-berth-verdict";

/** On a CONNECT: the name, among the runner's tunnels, of one whose later bytes the runner can receive over a download. */
export const tunnelHeader = "x-berth-tunnel";

/** In the trailers of a tunnel with a name: how many bytes the server has sent over its download, 0 without one. */
export const downloadedHeader = "x-berth-downloaded";

/**
 * Flow control windows of both channels, in bytes, per stream and in total. With HTTP/2's default of 64 KiB, every 64 KiB
 * would cost a round trip.
 */
export const streamWindowBytes = 256 * 1024;
export const connectionWindowBytes = 4 * 1024 * 1024;

/** Memory limit of an uplink's session: full windows for as many tunnels as an agent may have. */
export const maximumSessionMegabytes = 128;

/** The name under which QEMU passes the first channel token to a booting guest. */
export const firmwareTokenName = "opt/berth/token";

/** The longest line that the server accepts from a guest. */
export const maximumLineBytes = 4 * 1024 * 1024;

/** The largest `GuestFault`. */
export const maximumFaultBytes = 64 * 1024;

/** The limit of a log that the runner returns, in bytes. */
export const maximumLogBytes = 64 * 1024;

export type ChannelName = "control" | "uplink" | "download";

/** The server's first line. */
export interface Hello {
  channel: ChannelName;
  nonce: string;
  /** On `download` only. */
  download?: Download;
}

/**
 * After this many bytes of a stream the rest goes over a download. Opening one takes an emulated machine as long as
 * reading this many.
 */
export const bytesBeforeDownload = 3 * 1024 * 1024;

/** The continued tunnel of a download. */
export interface Download {
  /** The tunnel's name. */
  tunnel: string;
  /** How many bytes of the tunnel, from its beginning, come over its stream. */
  after: number;
}

/**
 * The runner's response: it knows the token (`proofOf` in `core/channel-proof.ts`), and asks the server for a proof.
 */
export interface Challenge {
  nonce: string;
  proof: string;
}

/** The server's proof that it knows the token. */
export interface Proof {
  proof: string;
}

/** The server's only line to runners of images that predate the proofs. */
export interface TokenHello {
  channel: ChannelName;
  token: string;
}

export type Welcome = { ok: true } | { ok: false; reason: string };

/** A machine's part of the agent's secrets: never their values. */
export const GuestSecrets = z.object({
  /** Placeholders by variable name. */
  placeholders: limitedRecord(z.string(), z.string(), 1_000),
  /** The certificate, in PEM, of the authority that signs for hosts that may receive secrets; null without any. */
  authority: z.string().nullable(),
});
export type GuestSecrets = z.infer<typeof GuestSecrets>;

/** Gives a restored or booted guest its own identity. The first call to a machine, before any user's work. */
export const Adoption = z.object({
  /** The new machine-id: 32 hexadecimal digits. */
  machineId: z.string(),
  /** The new boot id: a UUID. */
  bootId: z.string(),
  hostname: z.string(),
  runtime: z.string(),
  /** The wall clock, in seconds since 1970. */
  time: z.number(),
  /** Fresh random bytes for the kernel's generator, in hexadecimal. */
  entropy: z.string(),
  /** Replaces the token that authenticated this call. */
  token: z.string(),
  secrets: GuestSecrets,
  /** The turn that the agent is running: a woken guest continues it, and abandons any other. */
  turnId: z.string().nullable().default(null),
  /** The program of the runtime `acp`; null: another runtime, or a machine that waits for its agent. */
  acp: AcpProgram.nullable().default(null),
});
export type Adoption = z.infer<typeof Adoption>;

export const noSecrets: GuestSecrets = { placeholders: {}, authority: null };

/** The file of placeholders for shells in the guest. Bash reads it before a script or command (`BASH_ENV`). */
export const environmentFile = "/run/berth/environment";

/** All authorities that the guest trusts, including the agent's own. */
export const authoritiesFile = "/etc/ssl/certs/ca-certificates.crt";

export const Health = z.object({
  machineId: z.string().max(64),
  bootId: z.string().max(64),
  /** `idle`: no process yet; `ready`: a prompt is answered at once. */
  runtime: z.enum(["idle", "starting", "ready", "failed"]),
  reason: z.string().max(2000).nullable(),
});
export type Health = z.infer<typeof Health>;

/** The runner is ready for the machine to stop. `log`: the end of its own log. */
export const Quiesced = z.object({ log: z.string().max(maximumLogBytes) });
export type Quiesced = z.infer<typeof Quiesced>;

/** `busy`: programs other than the runtime itself are busy. A running turn does not count. */
export const Activity = z.object({ busy: z.boolean() });
export type Activity = z.infer<typeof Activity>;

/** An image or a file of a message, as the server has written it to the agent's home. */
export const GuestAttachment = z.object({
  kind: z.enum(["image", "file"]),
  /** Absolute. */
  path: z.string().max(10_000),
  mediaType: z.string().max(127),
  size: z.int().min(1),
  /** In hexadecimal. The agent may change the file at any time. */
  sha256: z.string().length(64),
});
export type GuestAttachment = z.infer<typeof GuestAttachment>;

export const Prompt = z.object({
  /** With the paths of its attachments. */
  message: z.string(),
  /** Runners of older images ignore it: their runtimes get the paths only. */
  attachments: z.array(GuestAttachment).max(maximumAttachments).optional(),
  /** `provider/name`; null for the runtime's default. */
  model: z.string().nullable(),
  /** Runners of older images ignore it. */
  effort: Effort.nullable().optional(),
  /** The conversation's number. The runtime resumes it, or starts an empty one with a number that it has not seen. */
  conversation: z.int(),
  /** Functions of the turn's client that the runtime may call; runners of older images ignore it. */
  functions: z.array(ClientFunction).max(1_000).optional(),
  /** MCP servers for the runtime, with the names of secrets in place of their values. */
  mcpServers: McpServers.optional(),
  /** The program of the runtime `acp`. */
  acp: AcpProgram.nullable().optional(),
  /** Whether `agentTools` has any; for runners of older images. */
  asksAgents: z.boolean().optional(),
  /** The tools of `agentsPath` that the runtime has: those that call other agents, and those that schedule messages. */
  agentTools: z.array(z.enum(agentTools)).max(agentTools.length).optional(),
  /** The agent's skills. The runner gets missing files from `skillsPath`; those of older images ignore it. */
  skills: z.array(PinnedSkill).max(maximumSkills).optional(),
});
export type Prompt = z.infer<typeof Prompt>;

export const JournalEntry = z.object({ seq: z.int().min(1), event: TurnEvent });

export const Exec = z.object({
  /** Run by `bash -c` as the agent's user, or as root. */
  command: z.string(),
  user: z.enum(["agent", "root"]),
  timeoutMs: z.number(),
});
export type Exec = z.infer<typeof Exec>;

export const ExecResult = z.object({ exitCode: z.number().nullable(), stdout: z.string(), stderr: z.string() });
export type ExecResult = z.infer<typeof ExecResult>;

/**
 * Refusals that are forwarded to the caller, with the guest's message. Each is an `ErrorCode`, so has an HTTP status.
 */
export const GuestRefusalCode = z.enum([
  "function_not_waiting",
  "approval_not_waiting",
  "command_not_found",
  "command_exited",
  "command_not_runnable",
  "too_many_commands",
  "file_not_found",
  "file_exists",
  "file_not_regular",
  "file_changed",
  "file_name_too_long",
  "not_a_folder",
  "is_a_folder",
  "folder_not_empty",
  "link_loop",
  "permission_denied",
  "precondition_failed",
  "archive_invalid",
  "machine_disk_full",
  "port_not_listening",
] satisfies ErrorCode[]);
export type GuestRefusalCode = z.infer<typeof GuestRefusalCode>;

/** Why a call failed. */
const GuestFaultCode = z.union([
  z.enum(["request_invalid", "call_unknown", "turn_unknown", "failed"]),
  GuestRefusalCode,
]);
export type GuestFaultCode = z.infer<typeof GuestFaultCode>;

/** The response to a call that failed. */
export const GuestFault = z.object({ code: GuestFaultCode, message: z.string().max(10_000) });
export type GuestFault = z.infer<typeof GuestFault>;
