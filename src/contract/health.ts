import { z } from "zod";

const Check = z.object({ ok: z.boolean(), message: z.string() });

/** Whether the service can work, and what keeps it from that. */
export const Readiness = z
  .object({ ready: z.boolean(), checks: z.object({ database: Check, image: Check, accelerator: Check }) })
  .meta({ id: "Readiness" });
export type Readiness = z.infer<typeof Readiness>;
