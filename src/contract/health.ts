import { z } from "zod";

const Check = z.object({ ok: z.boolean(), message: z.string() });

/** Whether the service can work, and if not, why. */
export const Readiness = z
  .object({
    ready: z.boolean(),
    checks: z.object({
      database: Check,
      image: Check,
      accelerator: Check,
      certificate: Check.optional().meta({ description: "Only with HTTPS." }),
    }),
  })
  .meta({ id: "Readiness" });
export type Readiness = z.infer<typeof Readiness>;
