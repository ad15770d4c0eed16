import { z } from "zod";
import { limitedRecord } from "./validation.ts";

/** A function that a turn's client carries out. The agent has it as a tool. */
export const ClientFunction = z.object({
  name: z.string().regex(/^[\w-]{1,64}$/, "A function's name has 1 to 64 letters, digits, underscores and hyphens."),
  description: z.string().max(32_768).nullish(),
  parameters: limitedRecord(z.string(), z.unknown(), 1_000)
    .nullish()
    .meta({ description: "JSON Schema of its arguments." }),
});
export type ClientFunction = z.infer<typeof ClientFunction>;

/** The MCP server with which the runner offers a client's functions to the runtime. */
export const functionServer = "client";

/** Whether a runtime's tool is a function of the turn's client. Runtimes join server and tool names differently. */
export function isOfClient(toolName: string): boolean {
  return /^(mcp__)?client__?(?=.)/.test(toolName);
}
