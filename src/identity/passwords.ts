import { randomBytes } from "node:crypto";
import { hash, verify } from "@node-rs/argon2";

/** Argon2id is the library's own choice; the costs are OWASP's first: https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html */
const options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** The password's Argon2id hash, with its salt and its cost. */
export function hashPassword(password: string): Promise<string> {
  return hash(password, options);
}

let nobodys: Promise<string> | null = null;

/** Whether it is the password. Without a hash (an unknown name) it never is, and that takes as long to say. */
export async function isPassword(password: string, stored: string | null): Promise<boolean> {
  nobodys ??= hashPassword(randomBytes(32).toString("base64"));
  const matches = await verify(stored ?? (await nobodys), password);
  return matches && stored !== null;
}
