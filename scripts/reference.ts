// Writes docs/reference-cli.md from the tool's own help, and docs/reference-api.md from docs/openapi.json. With
// `--check` it changes nothing, and fails if the files there are not what it would write.

import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { createProgram } from "../src/cli/program.ts";
import type { OpenApiDocument, Schema } from "./compatibility.ts";

const checkout = fileURLToPath(new URL("../", import.meta.url));
const width = 100;

const document = JSON.parse(await readFile(`${checkout}docs/openapi.json`, "utf8")) as Described;
const files = { "docs/reference-cli.md": await toolReference(), "docs/reference-api.md": apiReference() };
for (const [path, text] of Object.entries(files)) {
  if (!process.argv.includes("--check")) await writeFile(checkout + path, text);
  else if ((await readFile(checkout + path, "utf8").catch(() => "")) !== text) {
    console.error(`${path} is not current. Run: make openapi`);
    process.exitCode = 1;
  }
}

async function toolReference(): Promise<string> {
  const program = await createProgram([]);
  const sections = [program, ...leavesOf(program)].map(
    (command) => `## ${pathOf(command)}\n\n\`\`\`\n${helpOf(command)}\n\`\`\`\n`,
  );
  return `# Reference of the command line tool\n\nWhat \`--help\` says. [The tool](cli.md) tells what it is for.\n\n${sections.join("\n")}`;
}

function leavesOf(command: Command): Command[] {
  return command.commands.flatMap((each) => (each.commands.length > 0 ? leavesOf(each) : [each]));
}

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}

/** With what commands add to their help. */
function helpOf(command: Command): string {
  let text = "";
  command.configureOutput({ writeOut: (piece) => (text += piece), getOutHelpWidth: () => width });
  command.outputHelp();
  return text.trim();
}

interface Described extends OpenApiDocument {
  paths: Record<string, Record<string, DescribedOperation>>;
}

interface DescribedOperation {
  operationId: string;
  summary: string;
  description?: string;
  parameters?: { name: string; in: string; required?: boolean; description?: string; schema?: Schema }[];
  requestBody?: { content: Record<string, { schema?: Schema }> };
  responses: Record<string, { content?: Record<string, { schema?: Schema }> }>;
}

function apiReference(): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => operationText(`${method.toUpperCase()} ${path}`, operation)),
  );
  const schemas = Object.entries(document.components?.schemas ?? {}).map(([name, schema]) => schemaText(name, schema));
  return [
    "# Reference of the API\n\nFrom the [OpenAPI document](openapi.json). [The API](api.md) tells what it is for.\n",
    ...operations,
    "# Schemas\n",
    ...schemas,
  ].join("\n");
}

function operationText(name: string, operation: DescribedOperation): string {
  const { summary, description, parameters = [], requestBody, responses } = operation;
  const body = Object.values(requestBody?.content ?? {})[0]?.schema;
  const rows = parameters.map((each) => row(each.name, each.in, each.schema ?? {}, each.required, each.description));
  const answers = Object.entries(responses)
    .filter(([status]) => status !== "default" && status !== "4XX")
    .map(([status, { content = {} }]) => {
      const kinds = Object.entries(content).map(([type, { schema }]) => `${typeOf(schema ?? {})} as \`${type}\``);
      return `- ${status}: ${kinds.join(", ") || "nothing"}`;
    });
  return [
    `## ${name}\n`,
    `${summary}.${description ? ` ${description}` : ""}\n`,
    ...(rows.length > 0 ? ["| Parameter | In | Type | |", "|---|---|---|---|", ...rows, ""] : []),
    ...(body ? [`Body: ${typeOf(body)}\n`] : []),
    ...answers,
    "",
  ].join("\n");
}

function schemaText(name: string, schema: Schema): string {
  const described = typeof schema.description === "string" ? `${schema.description}\n` : "";
  const alternatives = schema.anyOf ?? schema.oneOf;
  const fields = schema.properties
    ? fieldsText(schema)
    : `${alternatives ? alternatives.map((each) => `- ${objectText(each)}`).join("\n") : typeOf(schema)}\n`;
  return `## ${name}\n\n${described}${described ? "\n" : ""}${fields}`;
}

function fieldsText({ properties = {}, required = [] }: Schema): string {
  const rows = Object.entries(properties).map(([name, schema]) => {
    const description = typeof schema.description === "string" ? schema.description : undefined;
    return `| \`${name}\` | ${cell(typeOf(schema))} | ${required.includes(name) ? "always" : "optional"} | ${cell(description ?? "")} |`;
  });
  return ["| Field | Type | | |", "|---|---|---|---|", ...rows, ""].join("\n");
}

/** An alternative, in one line. */
function objectText(schema: Schema): string {
  if (!schema.properties) return typeOf(schema);
  const { properties, required = [] } = schema;
  const fields = Object.entries(properties).map(
    ([name, each]) => `\`${name}${required.includes(name) ? "" : "?"}\`: ${typeOf(each)}`,
  );
  return fields.join(", ");
}

function row(name: string, place: string, schema: Schema, required = false, description = ""): string {
  return `| \`${name}\` | ${place}${required ? "" : ", optional"} | ${cell(typeOf(schema))} | ${cell(description)} |`;
}

function typeOf(schema: Schema): string {
  const { $ref, anyOf, oneOf, type, items } = schema;
  if ($ref !== undefined) {
    const name = $ref.split("/").at(-1)!;
    return `[${name}](#${name.toLowerCase()})`;
  }
  const values = "const" in schema ? [schema.const] : schema.enum;
  if (values) return values.map((value) => `\`${JSON.stringify(value)}\``).join(" or ");
  const alternatives = anyOf ?? oneOf;
  if (alternatives) return alternatives.map(typeOf).join(" or ");
  if (type === "array") return `list of ${typeOf(items ?? {})}`;
  return [type ?? "anything"].flat().join(" or ");
}

/** Text that fits into a cell of a table. */
function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
