import { z } from "zod";

/** The largest schema of an output, in bytes of JSON. */
export const maximumSchemaBytes = 64 * 1024;
/** The deepest schema, and the deepest output, in levels of JSON. */
export const maximumOutputLevels = 64;
/** The largest output of a turn, in bytes of JSON. */
export const maximumOutputBytes = 256 * 1024;
/** The most faults that an error lists. */
export const maximumIssues = 10;
/** Limits of their texts, in characters: both may repeat input. */
export const maximumPointer = 1_000;
export const maximumIssueText = 1_000;

/** The tool of the server `functionServer` with which an agent gives its output. */
export const outputTool = "give_output";

/** A JSON Schema. `core/json-schema` checks it. */
export const OutputSchema = z.looseObject({}).meta({ description: "A JSON Schema whose `type` is `object`." });
export type OutputSchema = z.infer<typeof OutputSchema>;

export const AskedOutput = z
  .strictObject({ schema: OutputSchema })
  .meta({ id: "AskedOutput", description: "Makes the turn end with a JSON object that matches the schema." });
export type AskedOutput = z.infer<typeof AskedOutput>;

/** The output of a turn. */
export const OutputValue = z
  .looseObject({})
  .refine((value) => Buffer.byteLength(JSON.stringify(value)) <= maximumOutputBytes, "An output is limited to 256 KiB.")
  .meta({ description: "The JSON object that the request's schema describes." });
export type OutputValue = z.infer<typeof OutputValue>;

const OutputIssue = z.object({
  field: z.string().max(maximumPointer).meta({ description: "A JSON pointer to the value, such as `/items/0`." }),
  message: z.string().max(maximumIssueText),
});
export type OutputIssue = z.infer<typeof OutputIssue>;

/** Why an output is invalid. */
export const OutputDetails = z.object({ issues: z.array(OutputIssue).max(maximumIssues) });
