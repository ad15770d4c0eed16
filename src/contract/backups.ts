import { z } from "zod";

/** An agent whose machine is not in a backup, and why. */
const LeftOut = z
  .object({ agent: z.string().meta({ description: "Its name." }), reason: z.string() })
  .meta({ id: "LeftOutOfBackup" });

/** A backup that is ready for download. */
export const Backup = z
  .object({
    id: z.uuid(),
    createdAt: z.iso.datetime(),
    agents: z.int().meta({ description: "The number of agents whose machines are included." }),
    bytes: z.int().meta({ description: "The download's maximum size." }),
    leftOut: z.array(LeftOut).meta({ description: "Agents whose records are included without their machines." }),
  })
  .meta({ id: "Backup" });
export type Backup = z.infer<typeof Backup>;

export const BackupParams = z.object({ id: z.uuid() });

/** Increment it when older versions cannot read what newer ones write. */
export const backupFormat = 1;

/** The first file of a backup. */
export const headerFile = "berth-backup.json";

const id = z.uuid();

/** An agent's machine in a backup. */
const KeptMachine = z.object({
  agent: id,
  name: z.string(),
  /** The files at this time, as in a snapshot. */
  snapshot: id,
  /** The time of the backup, by the database's clock. */
  at: z.iso.datetime({ precision: 6 }).or(z.iso.datetime()),
  runtime: z.string(),
  conversation: z.int(),
  /** The replayed conversation that the conversation began with; absent in backups of earlier versions. */
  retold: id.nullable().optional(),
});
export type KeptMachine = z.infer<typeof KeptMachine>;

/** A backup's first entry. */
export const BackupHeader = z.object({
  format: z.literal(backupFormat),
  /** The version of Berth. */
  berth: z.string(),
  createdAt: z.iso.datetime(),
  hostId: id,
  /** Identifies the secret key that decrypts the backup's encrypted values; see `keyFingerprint`. */
  secretKey: z.string(),
  /** The server's settings, without secret ones. */
  settings: z.record(z.string(), z.string()),
  machines: z.array(KeptMachine),
  leftOut: z.array(LeftOut),
});
export type BackupHeader = z.infer<typeof BackupHeader>;
