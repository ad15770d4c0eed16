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

const accelerators: Readonly<Record<string, string>> = {
  kvm: "KVM",
  tcg: "Software emulation, about ten times slower than KVM. `berth doctor` says why KVM is not used.",
};

/**
 * Checks the database and the machine driver, null on a server that stands by. `certificate`: its state; null without
 * HTTPS.
 */
export async function checkReadiness(
  pingDatabase: () => Promise<void>,
  requireDriver: () => Promise<{ accelerator: string } | null>,
  certificate: Check | null,
): Promise<Readiness> {
  let found = "";
  const [databaseFault, driverFault] = await Promise.all([
    pingDatabase().then(
      () => null,
      () => "The database is not responding.",
    ),
    requireDriver().then(
      (driver) => {
        found = driver ? (accelerators[driver.accelerator] ?? driver.accelerator) : "Not used: this server stands by.";
        return null;
      },
      (error: unknown) => asBerthError(error, "internal", String(error)),
    ),
  ]);
  const ofImage = driverFault?.code.startsWith("image_") ?? false;
  const unknown = "Not known without an image";
  const checks = {
    database: { ok: databaseFault === null, message: databaseFault ?? "Connected" },
    image: { ok: !ofImage, message: ofImage ? driverFault!.message : "Installed" },
    accelerator: { ok: driverFault === null, message: ofImage ? unknown : (driverFault?.message ?? found) },
    ...(certificate && { certificate }),
  };
  return { ready: Object.values(checks).every(({ ok }) => ok), checks };
}
