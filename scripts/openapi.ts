// Writes docs/openapi.json, the OpenAPI document that this checkout's server returns. With `--release` it also becomes
// the baseline, docs/openapi-released.json: what programs may rely on until the next release. Between releases the
// check (test/api/openapi.test.ts) rejects changes that are incompatible with the baseline.

import { readFile, writeFile } from "node:fs/promises";
import { openApiDocument } from "../src/core/http/openapi.ts";

const checkout = new URL("../", import.meta.url);
const { version } = JSON.parse(await readFile(new URL("package.json", checkout), "utf8")) as { version: string };
const text = `${JSON.stringify(await openApiDocument(version), null, 2)}\n`;
await writeFile(new URL("docs/openapi.json", checkout), text);
if (process.argv.includes("--release")) await writeFile(new URL("docs/openapi-released.json", checkout), text);
