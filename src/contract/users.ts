import { z } from "zod";

const time = z.iso.datetime();
const nameText = "A name must have 1 to 64 letters, digits, signs and single spaces, and not only dots.";

/** A user name in NFKC. Names that differ only in case belong to the same user. */
export const UserName = z
  .string()
  .normalize("NFKC")
  .min(1, nameText)
  .max(64, nameText)
  .refine((name) => /^[^\p{C}\p{Z}]+( [^\p{C}\p{Z}]+)*$/u.test(name) && !/^\.+$/.test(name), nameText)
  .meta({ description: nameText });

/** The key that all spellings of a user's name share. */
export function userNameKey(name: string): string {
  return name.normalize("NFKC").toLowerCase();
}

/** Normalized, so that all keyboards produce the same password. */
export const Password = z
  .string()
  .normalize("NFKC")
  .min(12, "A password must have at least 12 characters.")
  .max(200, "A password is limited to 200 characters.");

export const CreateUser = z.strictObject({ name: UserName }).meta({ id: "CreateUser" });

export const UserRecord = z
  .object({
    name: z.string(),
    operator: z.boolean().meta({ description: "The user shares the administrator's account." }),
    status: z
      .enum(["invited", "active", "disabled"])
      .meta({ description: "invited: the user has not set a password yet." }),
    createdAt: time,
  })
  .meta({ id: "User" });
export type UserRecord = z.infer<typeof UserRecord>;

export const UserWithLink = UserRecord.extend({
  link: z.url().meta({ description: "A link to set the password, once, within 72 hours. It is shown once." }),
}).meta({ id: "UserWithLink" });
export type UserWithLink = z.infer<typeof UserWithLink>;

export const ReplaceSigningKeys = z
  .strictObject({
    now: z.boolean().default(false).meta({
      description: "Whether tokens signed with older keys become invalid immediately, for example after a theft.",
    }),
  })
  .meta({ id: "ReplaceSigningKeys" });

export const SigningKeysReplaced = z
  .object({ oldKeysUntil: time.meta({ description: "Until when tokens signed with older keys are valid." }) })
  .meta({ id: "SigningKeysReplaced" });

export const UserParams = z.object({ name: z.string().meta({ description: "The user's name." }) });

export const UserList = z
  .object({ data: z.array(UserRecord), nextCursor: z.string().nullable() })
  .meta({ id: "UserList", description: "The users, oldest first." });
export type UserList = z.infer<typeof UserList>;
