import { TestClient } from "./client.ts";
import { Issuer, newSigningKey } from "./issuer.ts";
import { ScriptedService } from "./scripted-service.ts";

/** A service whose people sign in at an issuer, and who share workspaces. */
export class PeoplesService implements AsyncDisposable {
  readonly issuer: Issuer;
  readonly service: ScriptedService;
  #count = 0;

  private constructor(issuer: Issuer, service: ScriptedService) {
    this.issuer = issuer;
    this.service = service;
  }

  static async start(config: Parameters<typeof ScriptedService.start>[0] = {}): Promise<PeoplesService> {
    const issuer = await Issuer.start([await newSigningKey("first")]);
    const oidc = { issuer: issuer.url, audience: issuer.audience, clientId: "berth", unknownKeyMs: 600_000 };
    return new PeoplesService(issuer, await ScriptedService.start({ oidc, startingCredits: "100", ...config }));
  }

  newName(prefix = "team"): string {
    return `${prefix} ${this.#count++}`;
  }

  /** A person who signs in for the first time. */
  async person(claims: Record<string, unknown> = {}): Promise<TestClient> {
    return new TestClient(this.service.server.url, await this.issuer.sign({ sub: this.newName("person"), ...claims }));
  }

  /** A new workspace of the person, with credits. Returns its name. */
  async newWorkspace(owner: TestClient, name = this.newName(), credits = "100"): Promise<string> {
    const { status, body } = await owner.call("POST", "/workspaces", { name });
    if (status !== 201) throw new Error(`no new workspace: ${body.message}`);
    const grant = { account: body.id, credits };
    if (credits !== "0") await this.service.client.call("POST", "/admin/credits/grants", grant);
    return name;
  }

  /** The token of a new invitation. */
  async invite(from: TestClient, workspace: string, asked: object = {}): Promise<string> {
    const path = `/workspaces/${encodeURIComponent(workspace)}/invitations`;
    const { status, body } = await from.call("POST", path, asked);
    if (status !== 201) throw new Error(`no invitation: ${body.message}`);
    return body.token;
  }

  /** A person who joins the workspace with this role: their client there. */
  async join(owner: TestClient, workspace: string, role: string, claims = {}): Promise<TestClient> {
    const member = await this.person(claims);
    const { status, body } = await accept(member, await this.invite(owner, workspace, { role }));
    if (status !== 200) throw new Error(`not joined: ${body.message}`);
    return inside(member, workspace);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.service[Symbol.asyncDispose]();
    await this.issuer[Symbol.asyncDispose]();
  }
}

/** The same person or key in another workspace. */
export function inside({ url, key }: TestClient, workspace: string): TestClient {
  return new TestClient(url, key, workspace);
}

export function accept(client: TestClient, token: string) {
  return client.call("POST", `/invitations/${token}/accept`);
}

/** The author of what the signed-in person with this name does, as answers show it. */
export async function authorOf(client: TestClient, name: string): Promise<object> {
  const { id } = (await client.call("GET", "/me")).body.person;
  return { kind: "person", id, name, person: name };
}
