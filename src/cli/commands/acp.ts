import { Readable, Writable } from "node:stream";
import { ndJsonStream } from "@agentclientprotocol/sdk";
import { hostedAgent } from "../acp/hosted-agent.ts";
import { readVersion } from "../checkout.ts";
import type { ToolCommand } from "../command.ts";
import { agentOf } from "../connect.ts";
import { writeText } from "../terminal.ts";

export function register(program: ToolCommand): void {
  program
    .add("acp <name>", "speak the Agent Client Protocol on stdin and stdout, for editors")
    .option("--reset", "begin a new conversation with each new session")
    .after("Editors start it; docs/clients.md says how. Other output goes to stderr.")
    .action(async (name: string, { reset }: { reset?: true }) => {
      const agent = agentOf(name);
      const note = (message: string) => writeText(process.stderr, `${message}\n`);
      const input = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>;
      const stream = ndJsonStream(Writable.toWeb(process.stdout), input);
      const gone = new AbortController();
      const options = { agent, version: readVersion(), reset: reset ?? false, note, gone: gone.signal };
      await hostedAgent(options).connect(stream).closed;
      gone.abort();
    });
}
