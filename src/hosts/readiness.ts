import { asBerthError } from "../contract/errors.ts";

/** Whether the parts that requests depend on are available, each with a sentence. */
export interface Readiness {
  ready: boolean;
  checks: Record<"database" | "image" | "accelerator", Check> & {
    /** Only with HTTPS. */
    certificate?: Check;
  };
}

interface Check {
  ok: boolean;
  message: string;
}

/** Checks the database and the machine driver. `certificate`: the state of the certificate; null without HTTPS. */
export async function checkReadiness(
  pingDatabase: () => Promise<void>,
  requireDriver: () => Promise<unknown>,
  certificate: Check | null,
): Promise<Readiness> {
  const [databaseFault, driverFault] = await Promise.all([
    pingDatabase().then(
      () => null,
      () => "The database is not responding.",
    ),
    requireDriver().then(
      () => null,
      (error: unknown) => asBerthError(error, "internal", String(error)),
    ),
  ]);
  const ofImage = driverFault?.code.startsWith("image_") ?? false;
  const unknown = "not known before the image is there";
  const checks = {
    database: { ok: databaseFault === null, message: databaseFault ?? "answers" },
    image: { ok: !ofImage, message: ofImage ? driverFault!.message : "there" },
    accelerator: { ok: driverFault === null, message: ofImage ? unknown : (driverFault?.message ?? "works") },
    ...(certificate && { certificate }),
  };
  return { ready: Object.values(checks).every(({ ok }) => ok), checks };
}
