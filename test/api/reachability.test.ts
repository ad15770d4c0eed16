import { mkdtempDisposable } from "node:fs/promises";
import { expect, test } from "vitest";
import { freePort } from "../../src/core/ports.ts";
import { CertificateFolder, httpsOf } from "../support/certificates.ts";
import { folderPrefix } from "../support/config.ts";
import { ScriptedService } from "../support/scripted-service.ts";

test("the operator learns in words what the public address is good for", async () => {
  await using folder = await mkdtempDisposable(folderPrefix);
  const files = new CertificateFolder(folder.path);
  await files.write("berth.example.com");
  const port = await freePort();
  const https = { ...httpsOf(files), port };
  const publicUrl = `https://127.0.0.1:${port}`;
  await using service = await ScriptedService.start({ publicUrl, https });
  const { status, body } = await service.client.call("GET", "/admin/reachability");
  expect([status, body]).toEqual([
    200,
    {
      url: publicUrl,
      certificate: {
        ok: true,
        message: expect.stringMatching(/^Certificate: berth\.example\.com, expires on \d{4}-\d\d-\d\d$/),
      },
      phone: { ok: false, message: expect.stringMatching(/^Your phone can reach this: no, because .* leads only to/) },
      passkeys: { ok: false, message: expect.stringMatching(/^Passkeys and push work here: no, .* is an address\.$/) },
    },
  ]);
});

test("a server proves who it is only for a challenge of the right form", async () => {
  await using service = await ScriptedService.start();
  const ask = (challenge: string) =>
    fetch(`${service.server.url}/healthz`, { headers: { "x-berth-challenge": challenge } });
  const proved = await ask("c".repeat(43));
  expect(proved.headers.get("x-berth-proof")).toMatch(/^[\w-]{43}$/);
  const refused = await ask("short");
  expect(refused.status).toBe(400);
  expect(await refused.text()).toContain("A challenge is 32 bytes in base64url.");
});
