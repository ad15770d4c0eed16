import { DemoServer } from "../../src/models/demo/demo-server.ts";
import type { TestClient } from "./client.ts";
import { guestPackages } from "./guest-packages.ts";
import { providersAt, realModels, runtimes } from "./real-runtimes.ts";
import { ScriptedService } from "./scripted-service.ts";

/** A service with all real runtimes, each as a process of this host, and the demonstration model as their provider. */
export class RuntimesService implements AsyncDisposable {
  readonly client: TestClient;
  readonly #provider: DemoServer;
  readonly #service: ScriptedService;

  private constructor(provider: DemoServer, service: ScriptedService) {
    this.#provider = provider;
    this.#service = service;
    this.client = service.client;
  }

  static async start(): Promise<RuntimesService> {
    const provider = await DemoServer.start(realModels);
    const packages = await guestPackages();
    return new RuntimesService(
      provider,
      await ScriptedService.start(providersAt(provider.url), { runtimes, packages }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service[Symbol.asyncDispose]();
    this.#provider[Symbol.dispose]();
  }
}
