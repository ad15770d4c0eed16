import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { WrittenFile } from "../../src/contract/files.ts";
import type { TestClient } from "./client.ts";
import { ScriptedService } from "./scripted-service.ts";

/**
 * An agent `ada` and her files, over HTTP. The scripted machine is this machine, or a pod whose volume is a folder here:
 * everything stays inside the agent's home, in a folder for each test.
 */
export class AgentFiles implements AsyncDisposable {
  readonly service: ScriptedService;
  /** The agent's home. */
  readonly home: string;
  /** The test's own folder, as the API names it. */
  folder = "";
  /** The same as this machine names it. */
  here = "";
  /** The same as the agent's machine names it, in a pod. */
  there = "";

  private constructor(service: ScriptedService, home: string) {
    this.service = service;
    this.home = home;
  }

  static async start(): Promise<AgentFiles> {
    const service = await ScriptedService.start();
    await service.client.createAgent("ada");
    return new AgentFiles(service, await service.home());
  }

  get client(): TestClient {
    return this.service.client;
  }

  /** Makes a new folder for a test. */
  async enterNewFolder(): Promise<void> {
    this.folder = `test-${randomBytes(6).toString("hex")}`;
    this.here = join(this.home, this.folder);
    await mkdir(this.here);
    const { body } = await this.client.call("GET", `${this.at(this.folder)}?stat=true`);
    this.there = body.path;
  }

  /** The address of a path. */
  at(path: string): string {
    return `/agents/ada/files/${path.split("/").map(encodeURIComponent).join("/")}`;
  }

  get(path: string, headers = {}): Promise<Response> {
    return this.client.fetch("GET", this.at(path), undefined, headers);
  }

  async put(path: string, body: string | Uint8Array | ReadableStream, headers = {}, query = "") {
    const response = await fetch(this.client.url + this.at(path) + query, {
      method: "PUT",
      headers: { authorization: `Bearer ${this.client.key}`, ...headers },
      body,
      duplex: "half",
    } as RequestInit);
    return { status: response.status, headers: response.headers, body: (await response.json()) as WrittenFile };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.service[Symbol.asyncDispose]();
  }
}

/** The status and the code of a refusal. */
export async function codeOf(
  answer: Promise<Response | { status: number; body: unknown }>,
): Promise<[status: number, code: string]> {
  const got = await answer;
  const body = got instanceof Response ? await got.json() : got.body;
  return [got.status, (body as { code: string }).code];
}
