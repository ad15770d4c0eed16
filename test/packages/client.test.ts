import { execFile } from "node:child_process";
import { once } from "node:events";
import { cp, readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ScriptedService } from "../support/scripted-service.ts";
import { Packages } from "./installed-packages.ts";

// The client's npm package as other programs have it: installed by npm, in each of the places that it is for.

const run = promisify(execFile);
const program = new URL("./client-program.js", import.meta.url).pathname;

let packages: Packages;
let pages: Server;
let service: ScriptedService;
beforeAll(async () => {
  packages = await Packages.install();
  await cp(program, join(packages.folder, "client-program.js"));
  pages = createServer((request, response) => void answerPage(request.url ?? "", response)).listen(0, "127.0.0.1");
  await once(pages, "listening");
  service = await ScriptedService.start({ corsOrigins: [pageOrigin()] });
});
afterAll(async () => {
  pages.closeAllConnections();
  pages.close();
  await service[Symbol.asyncDispose]();
  await packages[Symbol.asyncDispose]();
});

function pageOrigin(): string {
  return `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
}

/** An empty page, and the files of the folder in which the package is installed. */
async function answerPage(path: string, response: import("node:http").ServerResponse): Promise<void> {
  if (path === "/") {
    const imports = {
      "@berth/client": "/node_modules/@berth/client/dist/index.js",
      "eventsource-parser": "/node_modules/eventsource-parser/dist/index.js",
    };
    response.setHeader("content-type", "text/html");
    response.end(`<!doctype html><script type="importmap">${JSON.stringify({ imports })}</script>`);
    return;
  }
  const file = await readFile(join(packages.folder, path)).catch(() => null);
  response.setHeader("content-type", "text/javascript");
  response.writeHead(file ? 200 : 404).end(file ?? "");
}

const expected = {
  listed: ["one", "three", "two"],
  types: ["response.completed", "response.created", "response.in_progress", "response.output_text.delta"],
  text: Array.from({ length: 20 }, (_, n) => `${n + 1} `).join(""),
  whole: "hello",
  cancelled: "cancelled",
  aborted: true,
  missing: "agent_not_found",
};

test.each([
  ["Node 20", () => packages.node],
  ["Bun", () => packages.bun],
])("the client runs in %s", async (_, runtime) => {
  const { url, key } = service.client;
  const call = `import { useClient } from "./client-program.js";
    console.log(JSON.stringify(await useClient(${JSON.stringify(url)}, ${JSON.stringify(key)})));`;
  const option = runtime() === packages.bun ? [] : ["--input-type=module"];
  const { stdout } = await run(runtime(), [...option, "--eval", call], { cwd: packages.folder });
  expect(JSON.parse(stdout)).toEqual(expected);
});

test("the client runs in Chromium, on a page of another origin", async () => {
  // Root has no sandbox in Chromium; what it is shown is ours.
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  try {
    const page = await browser.newPage();
    await page.goto(pageOrigin());
    const { url, key } = service.client;
    const found = await page.evaluate(
      `import("/client-program.js").then(({ useClient }) => useClient(${JSON.stringify(url)}, ${JSON.stringify(key)}))`,
    );
    expect(found).toEqual(expected);
  } finally {
    await browser.close();
  }
});

test("the client takes less than 15 KB compressed, and imports nothing of Node", async () => {
  const { outputFiles } = await build({
    stdin: { contents: 'export * from "@berth/client";', resolveDir: packages.folder },
    ...{ bundle: true, minify: true, write: false, format: "esm", platform: "browser" },
  });
  expect(gzipSync(outputFiles[0]!.contents).length).toBeLessThan(15 * 1024);
});

test("its types are enough for a program that is checked strictly", async () => {
  const checked = `import { Berth, type TurnEvent } from "@berth/client";
    const berth = new Berth({ url: "http://127.0.0.1:7420", key: "k" });
    for await (const event of berth.agent("ada").chat("Hi")) {
      const known: TurnEvent = event;
      if (event.type === "response.output_text.delta") event.delta.trim();
      void known;
    }
    // @ts-expect-error: there is no such option.
    await berth.agents.create({ name: "ada", colour: "red" });`;
  await packages.write("checked.ts", checked);
  const options = [
    "--noEmit",
    "--strict",
    "--target",
    "es2022",
    "--module",
    "nodenext",
    "--lib",
    "es2022,dom,dom.iterable",
  ];
  await run("tsc", [...options, join(packages.folder, "checked.ts")], { cwd: packages.folder });
});
