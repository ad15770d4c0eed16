import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import {
  type ClientContext,
  type ContentBlock,
  client,
  methods,
  ndJsonStream,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import type { TestClient } from "./client.ts";

const launcher = fileURLToPath(new URL("../../berth", import.meta.url));

/** An editor that has started `berth acp`. */
export class Editor implements AsyncDisposable {
  readonly updates: SessionUpdate[] = [];
  readonly agent: ClientContext;
  readonly #child: ChildProcess;
  errors = "";
  /** The titles of the tools that it was asked about, and its answer. */
  readonly asked: string[] = [];
  choice = "deny";

  constructor({ url, key }: Pick<TestClient, "url" | "key">, name: string, options: string[] = []) {
    const env = { PATH: process.env.PATH, BERTH_URL: url, BERTH_API_KEY: key };
    this.#child = spawn(launcher, ["acp", ...options, name], { env });
    this.#child.stderr!.on("data", (data: Buffer) => {
      this.errors += data.toString();
    });
    const output = Readable.toWeb(this.#child.stdout!) as ReadableStream<Uint8Array>;
    this.agent = client({ name: "editor" })
      .onNotification(methods.client.session.update, ({ params }) => {
        this.updates.push(params.update);
      })
      .onRequest(methods.client.session.requestPermission, ({ params }) => {
        this.asked.push(params.toolCall.title ?? "");
        return { outcome: { outcome: "selected" as const, optionId: this.choice } };
      })
      .connect(ndJsonStream(Writable.toWeb(this.#child.stdin!), output)).agent;
  }

  async open(): Promise<string> {
    await this.agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
    return (await this.agent.request(methods.agent.session.new, { cwd: "/", mcpServers: [] })).sessionId;
  }

  prompt(sessionId: string, text: string | ContentBlock[]) {
    const prompt = typeof text === "string" ? [{ type: "text" as const, text }] : text;
    return this.agent.request(methods.agent.session.prompt, { sessionId, prompt });
  }

  /** The texts of one kind of update, joined. */
  said(kind: "agent_message_chunk" | "user_message_chunk" = "agent_message_chunk"): string {
    return this.updates
      .map((update) => (update.sessionUpdate === kind && update.content.type === "text" ? update.content.text : ""))
      .join("");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, "exit");
    this.#child.stdin!.end();
    await ended;
  }
}
