import { z } from "zod";
import { TurnEvent } from "./chat.ts";

/**
 * The protocol between the server and the runner in a guest. The server dials; a connection begins with one
 * line of JSON from the server (`Hello`) and one from the runner (`Welcome`). Then both speak HTTP/2 over it:
 * on `control` the runner serves, on `uplink` the runner is the client and the server serves.
 *
 * On control: the calls of `guest-calls.ts`, each as `POST /NAME`. What fails is answered with a status from 400 on and a
 * `GuestFault`.
 *
 * On uplink: a request's path is a provider's name and then that provider's own path, `/anthropic/v1/messages`; a
 * CONNECT to `HOST:PORT` is a tunnel to there. What the server does not connect it answers with a text, and one word for
 * the reason in `verdictHeader`.
 */
export const guestPort = 7000;

/**
 * With each call on control: when it was sent, in milliseconds since 1970. A call takes long on a host that is busy, and
 * the adoption, which sets the clock, most of all; a guest whose clock is behind a call's time takes it.
 */
export const timeHeader = "x-time";

/** The request of a `duplex` call, whose body is its stream: JSON in base64url. */
export const requestHeader = "x-request";

/** Where programs in the guest reach the gateway: the runner listens here and passes each request up. */
export const guestGatewayPort = 7001;

/** Where programs in the guest reach the web: an HTTP proxy of the runner's, whose connections the server makes. */
export const guestProxyPort = 7002;

/** Why a tunnel was not opened, in a word. */
export const verdictHeader = "x-berth-verdict";

/**
 * What either end of an uplink takes ahead, in bytes, of one stream that is not read and of all together; HTTP/2's own
 * 64 KiB would be a round trip for each.
 */
export const streamWindowBytes = 256 * 1024;
export const connectionWindowBytes = 4 * 1024 * 1024;

/** What an uplink's session may hold in memory: a whole window of as many tunnels as an agent may have. */
export const maximumSessionMegabytes = 128;

/** The name under which QEMU hands the first channel token to a guest that boots. */
export const firmwareTokenName = "opt/berth/token";

/** What the server does not take from a guest in one line. */
export const maximumLineBytes = 4 * 1024 * 1024;

/** Of the answer to a call; a command's output is the largest. */
export const maximumAnswerBytes = 16 * 1024 * 1024;

/** How much of its log the runner answers. */
export const maximumLogBytes = 64 * 1024;

export interface Hello {
  channel: "control" | "uplink";
  token: string;
}

export type Welcome = { ok: true } | { ok: false; reason: string };

/** What a machine is given of the agent's secrets: none of them. */
export const GuestSecrets = z.object({
  /** What stands for each, by the name of its variable. */
  placeholders: z.record(z.string(), z.string()),
  /** The certificate, in PEM, of the authority that signs for the hosts which may have secrets; null where none may. */
  authority: z.string().nullable(),
});
export type GuestSecrets = z.infer<typeof GuestSecrets>;

/** What makes a restored or booted guest its own. The first call of a machine's life, before any user's work. */
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
  /** Takes the place of the token that this call was made with. */
  token: z.string(),
  secrets: GuestSecrets,
});
export type Adoption = z.infer<typeof Adoption>;

export const noSecrets: GuestSecrets = { placeholders: {}, authority: null };

/** Where shells in the guest find the placeholders: bash reads it before a script or a command (`BASH_ENV`). */
export const environmentFile = "/run/berth/environment";

/** All authorities that the guest trusts, its agent's own among them. */
export const authoritiesFile = "/etc/ssl/certs/ca-certificates.crt";

export const Health = z.object({
  machineId: z.string().max(64),
  bootId: z.string().max(64),
  /** `idle`: no process yet; `starting`; `ready`: a prompt is answered at once; `failed`. */
  runtime: z.enum(["idle", "starting", "ready", "failed"]),
  reason: z.string().max(2000).nullable(),
});
export type Health = z.infer<typeof Health>;

/** What the runner answers when it has made ready for the machine's end. `log`: the last of its own log. */
export const Quiesced = z.object({ log: z.string().max(maximumLogBytes) });
export type Quiesced = z.infer<typeof Quiesced>;

/** `busy`: programs that the agent started work on, beside the runtime itself. A turn that runs is not counted. */
export const Activity = z.object({ busy: z.boolean() });
export type Activity = z.infer<typeof Activity>;

export const Prompt = z.object({
  message: z.string(),
  /** With which model: `provider/name`; null for the runtime's own default. */
  model: z.string().nullable(),
  /** In which conversation; another than that of the turn before begins an empty one. */
  conversation: z.int(),
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

/** Why a call failed. */
const GuestFaultCode = z.enum(["request_invalid", "call_unknown", "turn_unknown", "failed"]);
export type GuestFaultCode = z.infer<typeof GuestFaultCode>;

/** The answer to a call that failed. */
export const GuestFault = z.object({ code: GuestFaultCode, message: z.string() });
export type GuestFault = z.infer<typeof GuestFault>;
