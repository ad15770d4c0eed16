import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { agentsPath, type Prompt } from "../contract/guest.ts";
import { agentsServer, type McpServers, withSecrets } from "../contract/mcp-servers.ts";
import { replaceFile } from "../runtimes/process.ts";
import type { RuntimeContext } from "../runtimes/runtime.ts";
import { readPlaceholders } from "./secrets.ts";

/** The MCP servers that the runtime is started with. On the disk, for a runtime that starts before a turn. */
export class RuntimeMcpServers {
  readonly #context: RuntimeContext;
  readonly #file: string;
  /** As JSON; null before the first read. */
  #current: string | null = null;

  constructor(context: RuntimeContext) {
    this.#context = context;
    this.#file = join(context.stateFolder, "mcp-servers.json");
  }

  /** Call after the files on the disk were replaced. */
  forget(): void {
    this.#current = null;
  }

  async current(): Promise<McpServers> {
    this.#current ??= await readFile(this.#file, "utf8").catch(() => "{}");
    return JSON.parse(this.#current) as McpServers;
  }

  /**
   * Applies a turn's servers, with the placeholders of the agent's secrets, and the server for asking other agents.
   * True if they differ from those that the runtime was started with. Leaves out a server whose secret is not set, and
   * logs it.
   */
  async change({ mcpServers: own = {}, agentTools = [] }: Prompt): Promise<boolean> {
    const before = JSON.stringify(await this.current());
    if (before === "{}" && Object.keys(own).length === 0 && agentTools.length === 0) return false;
    const { servers, missing } = withSecrets(own, await readPlaceholders(this.#context.environmentFile));
    const agentsUrl = `${this.#context.gatewayUrl}${agentsPath}?tools=${agentTools.join(",")}`;
    const others = agentTools.length > 0 ? { [agentsServer]: { url: agentsUrl } } : {};
    const json = JSON.stringify({ ...servers, ...others });
    if (json === before) return false;
    for (const { server, secret } of missing)
      this.#context.log(`the MCP server ${server} is left out: the agent has no secret ${secret}`);
    await replaceFile(this.#file, json);
    this.#current = json;
    return true;
  }
}
