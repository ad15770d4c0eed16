import { Ajv, type ErrorObject } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { maximumIssues, maximumIssueText, maximumPointer, type OutputIssue } from "../../contract/output.ts";
import { SchemaFault, versionOf } from "./structure.ts";

// The program that compiles schemas and checks values, one after the other. Both are JSON. A schema can make this take very
// long, recurse forever, or use all memory, so it is a process that can be killed. A thread that exceeds its heap can end its
// whole process. Each job has a compiler of its own.

export interface SchemaJob {
  schema: string;
  /** Null: only the schema is checked. */
  value: string | null;
}

export type SchemaAnswer = { issues: OutputIssue[] } | { fault: { pointer: string; message: string } };

const classes = { "2020-12": Ajv2020, "draft-07": Ajv };

function answerTo({ schema: schemaText, value }: SchemaJob): SchemaAnswer {
  const schema = JSON.parse(schemaText);
  // `format` is an annotation, as in the specification's default. Unknown keywords are, too.
  const ajv = new classes[versionOf(schema)]({
    strict: false,
    allErrors: true,
    validateFormats: false,
    inlineRefs: false,
    logger: false,
    validateSchema: false,
  });
  // The meta-schema takes most of the time, so it is compiled for the request alone.
  if (value === null && !ajv.validateSchema(schema)) {
    const [error] = ajv.errors ?? [];
    throw new SchemaFault(error?.instancePath ?? "", `The schema ${error?.message ?? "is invalid"}.`);
  }
  const validate = ajv.compile(schema);
  if (value === null || validate(JSON.parse(value))) return { issues: [] };
  return { issues: (validate.errors ?? []).slice(0, maximumIssues).map(issueOf) };
}

function issueOf({ instancePath, keyword, message = "is invalid", params }: ErrorObject): OutputIssue {
  const allowed = keyword === "enum" ? `: ${JSON.stringify(params.allowedValues)}` : "";
  const unknown = keyword === "additionalProperties" ? `: ${params.additionalProperty}` : "";
  return {
    field: instancePath.slice(0, maximumPointer).toWellFormed(),
    message: `${message}${allowed}${unknown}`.slice(0, maximumIssueText).toWellFormed(),
  };
}

process.on("message", (job: SchemaJob) => {
  let answer: SchemaAnswer;
  try {
    answer = answerTo(job);
  } catch (error) {
    const pointer = error instanceof SchemaFault ? error.pointer : "";
    answer = { fault: { pointer, message: (error as Error).message.slice(0, maximumIssueText) } };
  }
  process.send!(answer);
});
process.send!("ready");
