import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { freePort } from "../../src/core/ports.ts";
import { Browser } from "../support/browser.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { useLink } from "../support/sign-in.ts";

const program = join(import.meta.dirname, "../../node_modules/.bin/conformance");

test("the authorization suite of MCP's conformance tests passes at the built-in provider", async () => {
  await using service = await ScriptedService.start();
  const { url, firstSignIn } = service.server;
  const browser = new Browser();
  await useLink(firstSignIn!, "correct horse battery staple", "olga", browser);
  const port = await freePort();
  const registered = await fetch(`${url}/oidc/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      client_name: "suite",
      redirect_uris: [`http://127.0.0.1:${port}/callback`],
      token_endpoint_auth_method: "none",
    }),
  });
  const { client_id: id } = (await registered.json()) as { client_id: string };
  const args = ["authorization", "--url", `${url}/oidc`, "--client-id", id, "--resource", `${url}/mcp`];
  const suite = spawn(process.execPath, [program, ...args, "--port", String(port)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  let isAllowed = false;
  for await (const piece of suite.stdout) {
    said += piece;
    // It names the address once its own server listens.
    const [address] = /http\S+\/oidc\/auth\?\S+/.exec(said) ?? [];
    if (isAllowed || !address || !said.includes("Callback server started")) continue;
    isAllowed = true;
    const { url: target } = await browser.submit(await browser.get(address), { decision: "allow" });
    await (await fetch(target)).text();
  }
  expect(said).toContain("Total: 3 passed, 0 failed");
});
