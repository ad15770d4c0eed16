import { expect, test } from "vitest";
import { Browser } from "../support/browser.ts";
import { KillableService } from "../support/killable-service.ts";
import { beginSignIn, exchange, refresh, tokenRequest, useLink } from "../support/sign-in.ts";

test("the log never holds a password, a link, a code, a cookie or a token, and standard output nothing of libraries", async () => {
  await using service = await KillableService.start({ logLevel: "trace" });
  const { client } = service;
  const password = "canary of the password";
  const { body: user } = await client.call("POST", "/admin/users", { name: "bob" });
  await useLink(user.link, password);
  const browser = new Browser();
  const { page, verifier } = await beginSignIn(client.url, browser);
  const wrong = await browser.submit(page, { name: "bob", password: `${password} mistyped` });
  const last = await browser.submit(wrong, { name: "bob", password });
  const code = new URL(last.url).searchParams.get("code")!;
  const { body: tokens } = await exchange(client.url, code, verifier);
  await client.call("GET", "/account", undefined, { authorization: `Bearer ${tokens.access_token}` });
  const { body: next } = await refresh(client.url, tokens.refresh_token);
  await refresh(client.url, tokens.refresh_token);
  const { body: asked } = await tokenRequest(client.url, { client_id: "berth-cli" }, "/oidc/device/auth");
  await browser.get(asked.verification_uri_complete);
  await service.server.end("SIGTERM");

  const secrets = [password, new URL(user.link).searchParams.get("token")!, code, ...browser.secrets];
  secrets.push(tokens.access_token, tokens.refresh_token, tokens.id_token, next.refresh_token, asked.device_code);
  secrets.push(asked.user_code);
  const written = service.server.lines.join("\n");
  expect(written).toContain('"url":"/oidc/welcome"');
  for (const secret of secrets) expect(written.includes(secret), secret).toBe(false);
  const others = service.server.lines.filter((line) => !line.startsWith("{"));
  // The program's own: where it is, and the first user's link.
  expect(others).toEqual([expect.stringContaining("Berth is ready at"), expect.stringContaining("Sign in: ")]);
});
