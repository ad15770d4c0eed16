import type { StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import type { z } from "zod";
import { safeParseValue } from "../../contract/validation.ts";

/** The schema of a tool's arguments, with the API's error texts. The SDK would use zod's own. */
export function argumentsOf<Schema extends z.ZodType>(
  schema: Schema,
): StandardSchemaWithJSON<z.input<Schema>, z.output<Schema>> {
  const standard = schema["~standard"];
  const validate = (value: unknown) => {
    const parsed = safeParseValue(schema, value);
    if (parsed.success) return { value: parsed.data };
    return { issues: parsed.issues.map(({ field, message }) => ({ path: field === "" ? [] : [field], message })) };
  };
  return { "~standard": { ...standard, validate } };
}
