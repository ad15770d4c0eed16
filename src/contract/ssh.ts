import { z } from "zod";
import { MachineUser } from "./commands.ts";

/** How long a certificate is good for, in milliseconds. A connection that is open by then goes on. */
export const certificateMs = 5 * 60_000;

/** A public key as OpenSSH writes it, without its comment. */
const publicKey = z
  .string()
  .trim()
  .max(200)
  .regex(/^ssh-ed25519 [A-Za-z0-9+/]{68}={0,2}( .*)?$/, "A public key is `ssh-ed25519 …`, as in id_ed25519.pub.");

export const SshRequest = z
  .strictObject({
    publicKey: publicKey.meta({ description: "Your public key, of the kind ssh-ed25519, as in `id_ed25519.pub`." }),
    user: MachineUser.default("agent"),
  })
  .meta({ id: "SshRequest" });
export type SshRequest = z.infer<typeof SshRequest>;

export const SshAccess = z
  .object({
    certificate: z.string().meta({ description: "For your key, as in `id_ed25519-cert.pub`." }),
    hostKey: z.string().meta({ description: "The public key by which the machine is known." }),
    expiresAt: z.iso.datetime(),
  })
  .meta({ id: "SshAccess" });
export type SshAccess = z.infer<typeof SshAccess>;

/** A host's key, as a guest tells it. */
export const HostKey = z.object({ hostKey: publicKey });
