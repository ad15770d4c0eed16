import { createHash, randomBytes } from "node:crypto";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Dashboard, password } from "../support/dashboard.ts";
import { tokenRequest } from "../support/sign-in.ts";
import { StripeServer } from "../support/stripe-server.ts";

// People and money: users, sign-ins, top-ups; and the palette, which goes to all of it.

let stripe: StripeServer;
let dashboard: Dashboard;
let page: Page;

beforeAll(async () => {
  stripe = await StripeServer.start();
  dashboard = await Dashboard.start({ stripe: { secretKey: "sk", webhookSecret: "whsec", apiUrl: stripe.url } });
  ({ page } = await dashboard.signedIn());
});
afterAll(async () => {
  await dashboard[Symbol.asyncDispose]();
  await stripe[Symbol.asyncDispose]();
});

/** Signs in on a page with the provider's form. */
async function signIn(on: Page, name: string): Promise<void> {
  await on.goto(dashboard.url);
  await on.getByLabel("Name").fill(name);
  await on.getByLabel("Password").fill(password);
  await on.getByRole("button", { name: "Sign in" }).click();
}

test("credits are bought on the payment provider's page", async () => {
  await page.route("https://pay.example/**", (route) => route.fulfill({ body: "Pay here", contentType: "text/plain" }));
  await page.goto(`${dashboard.url}/-/credits`);
  await page.getByRole("button", { name: "Top up" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Credits").fill("nothing");
  await dialog.getByRole("button", { name: "Continue to payment" }).click();
  await dialog
    .getByText(/credits/i, { exact: false })
    .nth(1)
    .waitFor();
  await dialog.getByLabel("Credits").fill("500");
  await dialog.getByRole("button", { name: "Continue to payment" }).click();
  await page.waitForURL("https://pay.example/cs_1");
  expect(stripe.asked).toHaveLength(1);
});

test("a user is added, sets a password by the link, sees nothing of the operator's, and is locked out and let in", async () => {
  await page.goto(`${dashboard.url}/-/operator`);
  await page.getByRole("button", { name: "Add a user" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("simon");
  await page.getByRole("dialog").getByRole("button", { name: /^Add/ }).click();
  const link = (await page.getByTestId("once").textContent())!;
  const simon = await dashboard.browser.newContext({ reducedMotion: "reduce" });
  const his = await simon.newPage();
  await his.goto(link);
  await his.getByLabel("Password", { exact: true }).fill(password);
  await his.getByLabel("Confirm password").fill(password);
  await his.getByRole("button", { name: "Set password" }).click();
  await his.getByRole("heading", { level: 1, name: "Needs attention" }).waitFor();
  expect(await his.getByRole("link", { name: "Operator" }).count()).toBe(0);
  await his.goto(`${dashboard.url}/-/operator`);
  await his.getByRole("heading", { level: 1, name: "Needs attention" }).waitFor();

  await page.reload();
  const row = page.getByRole("row").filter({ hasText: "simon" }).first();
  await row.getByRole("button", { name: "Disable" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Disable" }).click();
  await row.getByText("disabled").waitFor();
  await his.reload();
  await his.getByRole("button", { name: "Sign in" }).waitFor();
  await row.getByRole("button", { name: "Enable" }).click();
  await row.getByText("active").waitFor();
  await signIn(his, "simon");
  await his.getByRole("heading", { level: 1, name: "Needs attention" }).waitFor();
  await simon.close();
});

test("signing out everywhere ends the sign-ins of all browsers", async () => {
  const contexts: BrowserContext[] = [];
  const pages: Page[] = [];
  for (let count = 0; count < 2; count++) {
    const { context, page: other } = await dashboard.signedIn();
    contexts.push(context);
    pages.push(other);
  }
  const [first, second] = pages as [Page, Page];
  await first.getByRole("button", { name: /^Account of/ }).click();
  await first.getByRole("menuitem", { name: "Sign out everywhere" }).click();
  await first.getByRole("heading", { name: "You are signed out" }).waitFor();
  await second.reload();
  await second.getByLabel("Password").waitFor();
  for (const context of contexts) await context.close();
  ({ page } = await dashboard.signedIn());
});

/** Allows a program that registers to act for the user, as an MCP client has it done. */
async function allowProgram(): Promise<void> {
  const [callback, verifier] = ["http://127.0.0.1:8976/callback", randomBytes(32).toString("base64url")];
  const client = { client_name: "Notes assistant", redirect_uris: [callback] };
  const { client_id } = (await dashboard.service.client.call("POST", "/oidc/register", client)).body;
  const asked = {
    client_id,
    response_type: "code",
    redirect_uri: callback,
    scope: "openid offline_access",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  };
  await page.route(`${callback}**`, (route) => route.fulfill({ body: "Signed in" }));
  await page.goto(`${dashboard.url}/oidc/auth?${new URLSearchParams(asked)}`);
  await page.getByRole("button", { name: "Allow" }).click();
  await page.waitForURL(`${callback}**`);
  const code = new URL(page.url()).searchParams.get("code")!;
  const grant = { grant_type: "authorization_code", client_id, redirect_uri: callback, code, code_verifier: verifier };
  expect((await tokenRequest(dashboard.url, grant)).status).toBe(200);
}

test("a program that was allowed to act is listed, and signed out", async () => {
  await allowProgram();
  await page.goto(`${dashboard.url}/-/keys`);
  const row = page
    .getByRole("region", { name: "Connected apps" })
    .getByRole("row")
    .filter({ hasText: "Notes assistant" });
  await row.first().getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Sign out" }).click();
  await page.getByText("No connected apps.").waitFor();
});

test("the palette has groups, filters by the typed text, and reports when nothing matches", async () => {
  await dashboard.service.client.createAgent("ada");
  await page.goto(`${dashboard.url}/-/agents/ada`);
  await page.getByLabel("Message to ada").waitFor();
  await page.keyboard.press("Control+k");
  for (const group of ["ada", "Go to", "Do", "Agents"]) {
    await page.getByRole("group", { name: group, exact: true }).waitFor();
  }
  await page.getByRole("dialog", { name: "Go to" }).getByRole("combobox").fill("set");
  await page.getByRole("option", { name: /^ada: Settings/ }).click();
  await page.getByRole("heading", { name: "Danger zone" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Go to" }).getByRole("combobox").fill("qqqq");
  await page.getByText("No results.").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog", { name: "Go to" }).waitFor({ state: "detached" });
});
