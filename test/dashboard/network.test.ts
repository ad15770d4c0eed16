import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { expect, test } from "vitest";
import { Dashboard } from "../support/dashboard.ts";

test("a blocked host is allowed on the home page and denied in the inbox, and leaves both", async () => {
  await using dashboard = await Dashboard.start();
  const { client, driver } = dashboard.service;
  const { page } = await dashboard.signedIn();
  await client.createAgent("ada");
  await page.goto(`${dashboard.url}/-/agents/ada/network`);
  await page.getByLabel("This agent may connect to").selectOption("Nothing");
  await page.getByLabel("Ask me about other hosts").check();
  await page.getByRole("button", { name: "Save the rules" }).click();
  const policy = async () => (await client.call("GET", "/agents/ada/network")).body;
  await expect.poll(async () => (await policy()).ask).toBe(true);
  const proxy = driver.proxyOf(driver.running[0]!);
  for (const host of ["one.example.com", "two.example.com"]) {
    const asked = request(proxy, { method: "CONNECT", path: `${host}:443` }).end();
    const [response] = (await once(asked, "connect")) as [IncomingMessage];
    expect(response.headers["x-berth-verdict"]).toBe("asked");
    asked.destroy();
  }
  await page.goto(`${dashboard.url}/-/`);
  const needs = page.getByRole("list", { name: "Needs attention" }).getByRole("listitem");
  const one = needs.filter({ hasText: "ada: one.example.com:443 was blocked" });
  const two = needs.filter({ hasText: "ada: two.example.com:443 was blocked" });
  await one.getByRole("button", { name: "Allow" }).click();
  await one.waitFor({ state: "detached" });
  await two.waitFor();
  await page.getByRole("link", { name: "Open the inbox" }).click();
  const item = page.getByRole("region", { name: "ada" }).getByRole("listitem");
  await item.getByRole("button", { name: "Deny" }).click();
  await page.getByText("You're all caught up").waitFor();
  expect(await policy()).toMatchObject({ allow: ["one.example.com:443"], deny: ["two.example.com:443"], ask: true });
});
