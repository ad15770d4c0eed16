import { randomBytes } from "node:crypto";
import type { Verification } from "../contract/automation-hooks.ts";
import { BerthError } from "../contract/errors.ts";
import { standardKey } from "./verify-delivery.ts";

/** The secret of a new hook: the given one, or a random one. Throws `request_invalid`. */
export function hookSecret(verify: Verification, given: string | undefined): string {
  if (verify === "slack" && given === undefined) {
    throw new BerthError("request_invalid", "secret is required with slack: the signing secret of the app.");
  }
  if (verify !== "standard-webhooks") return given ?? `berth_hs_${randomBytes(24).toString("hex")}`;
  if (given === undefined) return `whsec_${randomBytes(32).toString("base64")}`;
  const { length } = standardKey(given);
  if (/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(given) && length >= 24 && length <= 64) return given;
  const message = "secret: with standard-webhooks, it is whsec_ and 24 to 64 bytes in base64.";
  throw new BerthError("request_invalid", message);
}
