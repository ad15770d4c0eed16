import { buffer } from "node:stream/consumers";
import { safeParseValue, textOf } from "../contract/validation.ts";
import { parseJson } from "../core/json-structure.ts";
import type { Context } from "./page-requests.ts";
import { clientOf, ProgramMetadata, registeredId } from "./program-clients.ts";

/** The path where programs register (RFC 7591), below the provider's prefix. */
export const registrationPath = "/register";
const maximumBodyBytes = 16 * 1024;

/**
 * Registers a program: responds with an id that contains its metadata. Nothing is stored, so registrations cannot fill
 * the database and need no clean-up. Users decide at each sign-in.
 */
export async function register(ctx: Context, keys: readonly string[]): Promise<void> {
  ctx.set("cache-control", "no-store");
  const length = Number(ctx.get("content-length") || Number.NaN);
  const body = ctx.is("application/json") && length <= maximumBodyBytes ? parsed(await buffer(ctx.req)) : undefined;
  const metadata = safeParseValue(ProgramMetadata, body);
  if (!metadata.success) {
    const { issues } = metadata;
    const error = issues.some(({ field }) => /^redirect_uris\b/.test(field)) ? "redirect_uri" : "client_metadata";
    ctx.status = 400;
    // RFC 7591, 3.2.2: ASCII. Names of fields may have other characters.
    const description = textOf(issues)
      .slice(0, 1_000)
      .replaceAll(/[^ -~]/g, "?");
    ctx.body = { error: `invalid_${error}`, error_description: description };
    return;
  }
  ctx.status = 201;
  ctx.body = {
    ...clientOf(registeredId(metadata.data, keys), metadata.data),
    client_id_issued_at: Math.floor(Date.now() / 1000),
  };
}

function parsed(body: Buffer): unknown {
  try {
    return parseJson(body);
  } catch {
    return undefined;
  }
}
