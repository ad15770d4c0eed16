import { z } from "zod";
import { MachineUser } from "./commands.ts";

/** A certificate's lifetime, in milliseconds. Open connections outlive it. */
export const certificateMs = 5 * 60_000;

/** A public key as OpenSSH writes it, without its comment. */
const publicKey = z
  .string()
  .trim()
  .max(200)
  .regex(
    /^ssh-ed25519 [A-Za-z0-9+/]{68}={0,2}( .*)?$/,
    "A public key must look like `ssh-ed25519 …`, as in id_ed25519.pub.",
  );

export const SshRequest = z
  .strictObject({
    publicKey: publicKey.meta({ description: "Your public key, of type ssh-ed25519, as in `id_ed25519.pub`." }),
    user: MachineUser.default("agent"),
  })
  .meta({ id: "SshRequest" });
export type SshRequest = z.infer<typeof SshRequest>;

export const SshAccess = z
  .object({
    certificate: z.string().meta({ description: "The certificate for your key, as in `id_ed25519-cert.pub`." }),
    hostKey: z.string().meta({ description: "The machine's public host key." }),
    expiresAt: z.iso.datetime(),
  })
  .meta({ id: "SshAccess" });
export type SshAccess = z.infer<typeof SshAccess>;

/** A host key, as a guest reports it. */
export const HostKey = z.object({ hostKey: publicKey });
