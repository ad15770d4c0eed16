import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fromCredits } from "../../src/billing/credits.ts";
import type { CreditEntry } from "../../src/contract/billing.ts";
import { DemoServer } from "../../src/models/demo/demo-server.ts";
import { newAccount } from "../support/accounts.ts";
import type { TestClient } from "../support/client.ts";
import { guestPackages } from "../support/guest-packages.ts";
import { modelOf, providerOf, providersAt, realModels, runtimes } from "../support/real-runtimes.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// The real runtimes, each as a process of this host, with five credits: they work until these are used up, stop, and
// continue after a grant, and the ledger accounts for each millionth of a credit.

let provider: DemoServer;
let packages: string;

beforeAll(async () => {
  provider = await DemoServer.start(realModels);
  packages = await guestPackages();
});
afterAll(() => provider[Symbol.dispose]());

const settings = [
  { name: "the demonstration model", keys: () => ({}), model: () => "demo/demo" },
  {
    name: "a model server behind a provider's settings",
    keys: () => providersAt(provider.url),
    model: (runtime: string) => {
      const used = { anthropic: "anthropic/claude-haiku-4-5", openai: "openai/gpt-5", google: modelOf("gemini-cli") };
      return used[runtime === "claude-code" ? "anthropic" : providerOf(runtime) === "google" ? "google" : "openai"];
    },
  },
];

describe.each(settings)("with $name", ({ keys, model }) => {
  let service: ScriptedService;
  beforeAll(async () => {
    service = await ScriptedService.start({ ...keys(), startingCredits: "5" }, { runtimes, packages });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test.each(runtimes.map(({ name }) => name))(
    "%s stops when its credits are used up, and continues",
    async (runtime) => {
      const account = await newAccount(service);
      const created = await account.createAgent("ada", { runtime, model: model(runtime) });
      expect(created.body.status).toBe("ready");
      const turns = await workUntilShort(account);
      expect(turns).toBeGreaterThan(0);
      // The rest is not enough for another call, and is still the account's.
      await explained(account);
      const granted = await service.client.call("POST", "/admin/credits/grants", {
        account: (await account.call("GET", "/account")).body.id,
        credits: "5",
        note: "more",
      });
      expect(granted.status).toBe(201);
      const after = await account.chat("ada", "Do you go on?", ["usage"]);
      expect(after.events.at(-1)!.event.type).toBe("response.completed");
      expect(after.text).toContain("Do you go on?");
      await explained(account);
    },
  );
});

/** Makes turns until one is refused for lack of credits. Returns the number of complete turns. */
async function workUntilShort(account: TestClient): Promise<number> {
  for (let turn = 0; turn < 40; turn++) {
    const response = await account.fetch("POST", "/agents/ada/chat", {
      message: `Message ${turn}`,
      include: ["usage"],
    });
    if (response.status === 402) return turn;
    expect(response.status).toBe(200);
    const last = (await response.text()).trimEnd().split("\n").at(-1)!;
    const event = JSON.parse(last.replace(/^data: /, ""));
    if (event.type === "response.completed") continue;
    expect(event).toMatchObject({ type: "response.failed", error: { code: "insufficient_credits" } });
    expect(event.error.message).toMatch(/credits/);
    return turn;
  }
  throw new Error("forty turns have not used five credits");
}

/** The ledger adds up to the balance, and each turn has cost what it says. */
async function explained(account: TestClient): Promise<void> {
  await expect.poll(async () => (await account.call("GET", "/billing")).body.held).toBe("0");
  const entries: CreditEntry[] = (await account.call("GET", "/billing/entries?limit=100")).body.data;
  const { body: billing } = await account.call("GET", "/billing");
  const sum = (some: CreditEntry[]) => some.reduce((total, { credits }) => total + fromCredits(credits), 0);
  expect(sum(entries)).toBe(fromCredits(billing.balance));
  expect(fromCredits(billing.balance)).toBeGreaterThanOrEqual(0);
  const spent = entries.filter(({ kind }) => kind === "model" || kind === "machine");
  expect(sum(spent) + fromCredits(billing.spentThisMonth)).toBe(0);
  const turns = (await account.call("GET", "/agents/ada/turns?limit=100")).body.data;
  for (const { id, usage } of turns) {
    expect(fromCredits(usage.credits) + sum(entries.filter(({ turnId }) => turnId === id))).toBe(0);
  }
}
