// Writes packages/client/src/generated: the client's types, its table of operations and its methods that call one
// operation each, from docs/openapi.json. With `--check` it changes nothing, and fails if the files there are not what it
// would write.

import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClient } from "@hey-api/openapi-ts";
import { type Document, methodsText, type Operation } from "./client-methods.ts";

const checkout = fileURLToPath(new URL("../", import.meta.url));
const target = join(checkout, "packages/client/src/generated");
const note = "// Generated from docs/openapi.json by scripts/client-types.ts. Do not edit.\n";

const document = JSON.parse(await readFile(join(checkout, "docs/openapi.json"), "utf8")) as Document;
const files = {
  "types.gen.ts": note + (await types()),
  "operations.gen.ts": note + operations(),
  "methods.gen.ts": note + methodsText(document),
};
if (process.argv.includes("--check")) await check();
else for (const [name, text] of Object.entries(files)) await writeFile(join(target, name), text);

async function types(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "berth-client-"));
  try {
    await createClient({
      input: join(checkout, "docs/openapi.json"),
      output: { path: folder, header: [], module: { extension: ".ts" } },
      plugins: ["@hey-api/typescript"],
      logs: { level: "silent", file: false },
    });
    return await readFile(join(folder, "types.gen.ts"), "utf8");
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Each operation's method and path, and the types of what it takes, answers and streams. */
function operations(): string {
  const found = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const rows = found.map(
    ({ path, method, operation }) => `  ${operation.operationId}: { method: "${method}", path: "${path}" },\n`,
  );
  const described = found.map(({ operation }) => {
    const name = operation.operationId;
    const data = `types.${name.charAt(0).toUpperCase()}${name.slice(1)}Data`;
    const [answer, event] = ["application/json", "text/event-stream"].map((type) => typeOf(operation, type));
    return `  ${name}: { data: ${data}; answer: ${answer}; event: ${event} };\n`;
  });
  return [
    'import type * as types from "./types.gen.ts";\n\n',
    `export const operations = {\n${rows.join("")}} as const;\n\n`,
    `export interface Operations {\n${described.join("")}}\n`,
  ].join("");
}

/** The type of a success as that content type; `null` for none. */
function typeOf({ operationId, responses }: Operation, contentType: string): string {
  const success = Object.keys(responses).find((status) => status.startsWith("2"))!;
  const media = responses[success]!.content?.[contentType];
  if (!media) return "null";
  const name = media.schema?.$ref?.split("/").at(-1);
  return name
    ? `types.${name}`
    : `types.${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Responses[${success}]`;
}

async function check(): Promise<void> {
  const others = (await readdir(target)).filter((name) => !(name in files));
  const stale: string[] = [];
  for (const [name, text] of Object.entries(files)) {
    if ((await readFile(join(target, name), "utf8").catch(() => "")) !== text) stale.push(name);
  }
  if (others.length + stale.length === 0) return;
  console.error(`packages/client/src/generated: not current: ${[...others, ...stale].join(", ")}. Run: make openapi`);
  process.exitCode = 1;
}
