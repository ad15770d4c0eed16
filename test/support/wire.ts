import { readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { Answer } from "./client.ts";

// Checks responses against the OpenAPI document: their status, their content type and their JSON.

type Content = Record<string, { schema?: object }>;

interface Operation {
  responses: Record<string, { content?: Content }>;
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
}

const document = JSON.parse(readFileSync(new URL("../../docs/openapi.json", import.meta.url), "utf8")) as Document;

const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema({ $id: "document", components: document.components });
const validators = new Map<object, ValidateFunction>();

/** The paths with fewer parameters first, which a server prefers. */
const paths = Object.keys(document.paths)
  .map((path) => ({ path, pattern: new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, patternOf(path))}$`) }))
  .toSorted((a, b) => a.path.split("{").length - b.path.split("{").length);

/** `files` and a service's own files have the rest of the path as a parameter. */
function patternOf(path: string): (match: string, name: string) => string {
  return (_, name) => (name === "path" && path.includes("/files/") ? ".*" : "[^/]+");
}

/** Throws if the document does not describe the answer. Paths that it does not have are not checked. */
export function requireDescribed(method: string, path: string, answer: Answer): void {
  const found = paths.find(({ pattern }) => pattern.test(path.split("?")[0]!));
  const operation = found && document.paths[found.path]![method.toLowerCase()];
  const fault = operation && faultOf(operation, answer);
  if (!fault) return;
  const body = JSON.stringify(answer.body).slice(0, 500);
  throw new Error(`${method} ${found.path} is not answered as described: ${answer.status} ${fault}: ${body}`);
}

/** Why the operation does not describe the answer; null: it does. */
function faultOf({ responses }: Operation, { status, headers, body }: Answer): string | null {
  const described = responses[status] ?? (status >= 400 ? responses.default : undefined);
  if (!described) return "has no description";
  const [type] = headers.get("content-type")?.split(";") ?? [];
  if (type === undefined) return body === "" ? null : "has no content type";
  if (body === "" && !described.content) return null;
  const named = contentOf(described.content ?? {}, type);
  if (!named) return `has the type ${type}`;
  if (type !== "application/json" || !named.schema) return null;
  const validate = validatorOf(named.schema);
  return validate(body) ? null : ajv.errorsText(validate.errors);
}

function contentOf(content: Content, type: string): Content[string] | undefined {
  return content[type] ?? content[`${type.split("/")[0]}/*`] ?? content["*/*"];
}

function validatorOf(schema: object): ValidateFunction {
  let validate = validators.get(schema);
  if (!validate) {
    const absolute = JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"document#/components')) as object;
    validate = ajv.compile(absolute);
    validators.set(schema, validate);
  }
  return validate;
}
