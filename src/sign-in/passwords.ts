import { randomBytes } from "node:crypto";
import { hash, verify } from "@node-rs/argon2";

/**
 * Argon2id is the library's default; the costs are OWASP's first choice:
 * https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html
 */
const options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** The password's Argon2id hash, with salt and cost. */
export function hashPassword(password: string): Promise<string> {
  return hash(password, options);
}

let nobodys: Promise<string> | null = null;

/** Whether the password is correct. Without a hash (an unknown name) this is false, but takes the same time. */
export async function isPassword(password: string, stored: string | null): Promise<boolean> {
  nobodys ??= hashPassword(randomBytes(32).toString("base64"));
  const matches = await verify(stored ?? (await nobodys), password);
  return matches && stored !== null;
}
