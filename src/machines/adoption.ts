import { randomBytes, randomUUID } from "node:crypto";
import type { AcpProgram } from "../contract/acp-program.ts";
import type { Adoption, GuestSecrets } from "../contract/guest.ts";

/** A channel token: 256 random bits. */
export function newToken(): string {
  return randomBytes(32).toString("base64url");
}

/** Everything that makes a guest its own machine, new on each call. `machineId` is stable for the agent's lifetime. */
export function newAdoption(
  machineId: string,
  hostname: string,
  runtime: string,
  token: string,
  secrets: GuestSecrets,
  turnId: string | null = null,
  acp: AcpProgram | null = null,
): Adoption {
  return {
    machineId,
    hostname,
    runtime,
    token,
    secrets,
    turnId,
    acp,
    bootId: randomUUID(),
    time: Date.now() / 1000,
    entropy: randomBytes(64).toString("hex"),
  };
}
