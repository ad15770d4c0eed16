import { z } from "zod";

const Verdict = z.object({
  ok: z.boolean(),
  message: z.string().meta({ description: "A sentence with the answer and its reason." }),
});

export const Reachability = z
  .object({
    url: z.string().meta({ description: "The service's public address (`BERTH_PUBLIC_URL`)." }),
    phone: Verdict.meta({ description: "Whether a phone can reach the service." }),
    certificate: Verdict.nullable().meta({
      description: "Whether the service has a certificate, and the last failure. Null: it speaks HTTP only.",
    }),
    passkeys: Verdict.meta({ description: "Whether passkeys and push messages work at the public address." }),
  })
  .meta({ id: "Reachability", description: "The public address, as the server that responds sees it." });
export type Reachability = z.infer<typeof Reachability>;

/** The request header of a server that looks for itself at its public address: 32 random bytes in base64url. */
export const challengeHeader = "x-berth-challenge";
/** The response header with the proof that this installation received the challenge. */
export const proofHeader = "x-berth-proof";
/** Headers that `GET /healthz` reads. */
export const HealthHeaders = z.object({
  [challengeHeader]: z
    .string()
    .regex(/^[\w-]{43}$/, "A challenge is 32 bytes in base64url.")
    .optional()
    .meta({ description: "The response then has the header `x-berth-proof`." }),
});
