import { text } from "node:stream/consumers";
import { z } from "zod";
import type { Context } from "./page-requests.ts";
import { clientOf, ProgramMetadata, registeredId } from "./program-clients.ts";

/** Where programs register (RFC 7591), below the provider's prefix. */
export const registrationPath = "/register";
const maximumBodyBytes = 16 * 1024;

/**
 * Registers a program: answers with an id that holds what it has said. Nothing is stored, so that there is nothing to fill
 * and nothing to clean up; users decide at each sign-in.
 */
export async function register(ctx: Context, keys: readonly string[]): Promise<void> {
  ctx.set("cache-control", "no-store");
  const length = Number(ctx.get("content-length") || Number.NaN);
  const body = ctx.is("application/json") && length <= maximumBodyBytes ? parsed(await text(ctx.req)) : undefined;
  const metadata = ProgramMetadata.safeParse(body);
  if (!metadata.success) {
    const { issues } = metadata.error;
    const error = issues.some(({ path }) => path[0] === "redirect_uris") ? "redirect_uri" : "client_metadata";
    ctx.status = 400;
    ctx.body = { error: `invalid_${error}`, error_description: z.prettifyError(metadata.error).slice(0, 1_000) };
    return;
  }
  ctx.status = 201;
  ctx.body = {
    ...clientOf(registeredId(metadata.data, keys), metadata.data),
    client_id_issued_at: Math.floor(Date.now() / 1000),
  };
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
