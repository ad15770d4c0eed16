import { z } from "zod";
import { TurnEvent } from "./chat.ts";

/**
 * The protocol between the server and the runner in a guest. The server dials; a connection begins with one
 * line of JSON from the server (`Hello`) and one from the runner (`Welcome`). Then both speak HTTP/2 over it:
 * on `control` the runner serves, on `uplink` the runner is the client and the server serves.
 *
 * On control: `POST /adopt` (Adoption → Health), `POST /turns/ID` (Prompt → events),
 * `GET /turns/ID/events?after=N` (events), `POST /turns/ID/cancel`, `GET /log?tail=N&follow=true`, `POST /exec` (Exec → ExecResult),
 * `POST /runtime` (start it, answered when it is ready or has failed → Health), `POST /runtime/warm` (the same, and
 * throwaway turns), `POST /quiesce` (before the machine is suspended or stopped: all that was written reaches the disk
 * → Quiesced), `POST /secrets` (GuestSecrets: what the machine has of them from now on), `GET /activity` (→ Activity, after a second). Events are lines of JSON (`JournalEntry`), to the turn's end.
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

/** Of the answer to a call that is no stream of lines; a command's output is the largest. */
export const maximumAnswerBytes = 16 * 1024 * 1024;

/** How much of its log the runner answers. */
export const maximumLogBytes = 64 * 1024;

export interface Hello {
  channel: "control" | "uplink";
  token: string;
}

export type Welcome = { ok: true } | { ok: false; reason: string };

/** What makes a restored or booted guest its own. The first call of a machine's life, before any user's work. */
export interface Adoption {
  /** The new machine-id: 32 hexadecimal digits. */
  machineId: string;
  /** The new boot id: a UUID. */
  bootId: string;
  hostname: string;
  runtime: string;
  /** The wall clock, in seconds since 1970. */
  time: number;
  /** Fresh random bytes for the kernel's generator, in hexadecimal. */
  entropy: string;
  /** Takes the place of the token that this call was made with. */
  token: string;
  secrets: GuestSecrets;
}

/** What a machine is given of the agent's secrets: none of them. */
export interface GuestSecrets {
  /** What stands for each, by the name of its variable. */
  placeholders: Record<string, string>;
  /** The certificate, in PEM, of the authority that signs for the hosts which may have secrets; null where none may. */
  authority: string | null;
}

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

export interface Prompt {
  message: string;
  /** With which model: `provider/name`; null for the runtime's own default. */
  model: string | null;
  /** In which conversation; another than that of the turn before begins an empty one. */
  conversation: number;
}

export const JournalEntry = z.object({ seq: z.int().min(1), event: TurnEvent });

export interface Exec {
  /** Run by `bash -c` as the agent's user, or as root. */
  command: string;
  user: "agent" | "root";
  timeoutMs: number;
}

export const ExecResult = z.object({ exitCode: z.number().nullable(), stdout: z.string(), stderr: z.string() });
export type ExecResult = z.infer<typeof ExecResult>;
