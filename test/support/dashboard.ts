import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import type { Server } from "../../src/server.ts";
import { ScriptedService } from "./scripted-service.ts";

export const password = "correct horse battery staple";

/** Time limit of any step on a busy machine or a poor line. */
const waitMs = 120_000;

/** A dashboard's server: a service with scripted machines, or with real ones. */
interface Serving extends AsyncDisposable {
  readonly server: Pick<Server, "url" | "firstSignIn">;
}

/** A server with the built dashboard, and a browser. */
export class Dashboard<Service extends Serving = ScriptedService> implements AsyncDisposable {
  readonly service: Service;
  readonly browser: Browser;

  private constructor(service: Service, browser: Browser) {
    this.service = service;
    this.browser = browser;
  }

  static async start(...options: Parameters<typeof ScriptedService.start>): Promise<Dashboard> {
    return Dashboard.of(await ScriptedService.start(...options));
  }

  /** The dashboard of a service that is new. */
  static async of<Service extends Serving>(service: Service): Promise<Dashboard<Service>> {
    const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
    return new Dashboard(service, browser);
  }

  get url(): string {
    return this.service.server.url;
  }

  /** A browser that is signed in as the operator, whose first link is used once, and its page. */
  async signedIn(options: Parameters<Browser["newContext"]>[0] = {}): Promise<{ context: BrowserContext; page: Page }> {
    const context = await this.browser.newContext({ reducedMotion: "reduce", ...options });
    context.setDefaultTimeout(waitMs);
    const page = await context.newPage();
    try {
      if (this.#isFirst) await useFirstLink(page, this.service.server.firstSignIn!);
      else await signIn(page, this.url);
    } catch (error) {
      throw new Error(`not signed in at ${page.url()}: ${await page.locator("body").textContent()}`, { cause: error });
    }
    this.#isFirst = false;
    return { context, page };
  }
  #isFirst = true;

  async [Symbol.asyncDispose](): Promise<void> {
    await this.browser.close();
    await this.service[Symbol.asyncDispose]();
  }
}

/** Chooses a name and a password by the printed link. */
async function useFirstLink(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.getByLabel("Name").fill("Ulla");
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByLabel("Confirm password").fill(password);
  await page.getByRole("button", { name: "Set password" }).click();
  await page.getByRole("heading", { level: 1, name: "Needs attention" }).waitFor();
}

async function signIn(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await page.getByLabel("Name").fill("Ulla");
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1, name: "Needs attention" }).waitFor();
}

/** Calls the API as the person who is signed in on a page. Returns the body. */
export async function callAs(page: Page, method: string, path: string, body?: unknown) {
  return page.evaluate(
    async ({ method, path, body }) => {
      const session = await fetch("/dashboard/session", { method: "POST" });
      const { accessToken } = (await session.json()) as { accessToken: string };
      const headers = { authorization: `Bearer ${accessToken}`, "content-type": "application/json" };
      const response = await fetch(path, {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
      return (await response.json().catch(() => null)) as any;
    },
    { method, path, body },
  );
}

/** The paths of all views, those of an agent that has a file `notes.md` among them. */
export function viewsOf(agent: string): string[] {
  const tabs = [
    "",
    "/changes",
    "/files",
    "/files?file=notes.md",
    "/files?file=none",
    "/terminal",
    "/ports",
    "/ports?port=3000",
    "/turns",
    "/logs",
    "/network",
    "/snapshots",
    "/secrets",
    "/skills",
    "/connect",
    "/connect?client=openai",
    "/settings",
  ];
  const own = [
    "/",
    "/inbox",
    "/agents",
    "/create-agent",
    "/automations",
    "/automations/none",
    "/providers",
    "/secrets",
    "/webhooks",
    "/webhooks/none",
    "/keys",
    "/credits",
    "/audit",
    "/members",
    "/notifications",
    "/verify-email",
    "/join",
    "/operator",
    "/signed-out?code=request_invalid",
    "/nowhere",
  ];
  return [...own.map((path) => `/-${path}`), ...tabs.map((tab) => `/-/agents/${agent}${tab}`)];
}
