import { z } from "zod";

/** An agent whose machine is not in a backup, and why. */
const LeftOut = z
  .object({ agent: z.string().meta({ description: "Its name." }), reason: z.string() })
  .meta({ id: "LeftOutOfBackup" });

/** A backup that waits to be read. */
export const Backup = z
  .object({
    id: z.uuid(),
    createdAt: z.iso.datetime(),
    agents: z.int().meta({ description: "How many agents' machines are in it." }),
    bytes: z.int().meta({ description: "What is read, at most." }),
    leftOut: z.array(LeftOut).meta({ description: "Agents whose rows are in it without their machines." }),
  })
  .meta({ id: "Backup" });
export type Backup = z.infer<typeof Backup>;

export const BackupParams = z.object({ id: z.uuid() });

/** Raised when older programs could not read what newer ones write. */
export const backupFormat = 1;

/** The first file of a backup. */
export const headerFile = "berth-backup.json";

const id = z.uuid();

/** An agent's machine in a backup. */
const KeptMachine = z.object({
  agent: id,
  name: z.string(),
  /** The files of this moment, as those of a snapshot. */
  snapshot: id,
  /** When that was, by the database's clock. */
  at: z.iso.datetime({ precision: 6 }).or(z.iso.datetime()),
  runtime: z.string(),
  conversation: z.int(),
  /** The retelling that the conversation began with; absent in backups of earlier versions. */
  retold: id.nullable().optional(),
});
export type KeptMachine = z.infer<typeof KeptMachine>;

/** What a backup begins with. */
export const BackupHeader = z.object({
  format: z.literal(backupFormat),
  /** The version of Berth. */
  berth: z.string(),
  createdAt: z.iso.datetime(),
  hostId: id,
  /** Tells which secret key opens what is encrypted in it; see `keyFingerprint`. */
  secretKey: z.string(),
  /** The settings that the server had, without those that are secret. */
  settings: z.record(z.string(), z.string()),
  machines: z.array(KeptMachine),
  leftOut: z.array(LeftOut),
});
export type BackupHeader = z.infer<typeof BackupHeader>;
