import { AgentCommands } from "./commands.ts";
import type { Connection, Query, RequestOptions } from "./connection.ts";
import { AgentFiles } from "./files.ts";
import {
  AgentApprovals,
  AgentConversations,
  AgentMethods,
  AgentNetwork,
  AgentQueue,
  AgentSecrets,
} from "./generated/methods.gen.ts";
import type { AgentLog, ContentPart, InstallStatus, LogEvent } from "./generated/types.gen.ts";
import { AgentPorts } from "./ports.ts";
import { type ChatOptions, Reply } from "./reply.ts";
import { AgentSnapshots } from "./snapshots.ts";
import { AgentSsh } from "./ssh.ts";
import { Terminal, type TerminalOptions } from "./terminal.ts";
import { AgentUploads } from "./uploads.ts";

/** One agent, by its name. The first call finds out whether it exists. Every method throws as `Connection.call`. */
export class AgentHandle extends AgentMethods {
  readonly name: string;
  readonly approvals: AgentApprovals;
  readonly commands: AgentCommands;
  readonly files: AgentFiles;
  readonly conversations: AgentConversations;
  readonly network: AgentNetwork;
  readonly ports: AgentPorts;
  readonly queue: AgentQueue;
  readonly secrets: AgentSecrets;
  readonly snapshots: AgentSnapshots;
  readonly ssh: AgentSsh;
  readonly uploads: AgentUploads;

  constructor(connection: Connection, name: string) {
    super(connection, { name });
    this.name = name;
    this.approvals = new AgentApprovals(connection, this.path);
    this.commands = new AgentCommands(connection, this.path);
    this.files = new AgentFiles(connection, name);
    this.conversations = new AgentConversations(connection, this.path);
    this.network = new AgentNetwork(connection, this.path);
    this.ports = new AgentPorts(connection, this.path);
    this.queue = new AgentQueue(connection, this.path);
    this.secrets = new AgentSecrets(connection, this.path);
    this.snapshots = new AgentSnapshots(connection, this.path);
    this.ssh = new AgentSsh(connection, this.path);
    this.uploads = new AgentUploads(connection, this.path);
  }

  /** Sends a message: a text, or texts, images and files. Read the reply to send it. */
  chat(message: string | readonly ContentPart[], options: ChatOptions = {}): Reply {
    return new Reply(this.connection, { agent: this.name, turn: { message } }, options);
  }

  /** The events of a turn that has begun, from the one after `after` on. */
  reply(turnId: string, { after = 0, ...options }: ChatOptions & { after?: number } = {}): Reply {
    return new Reply(this.connection, { agent: this.name, turn: { id: turnId }, after }, options);
  }

  /** A terminal in its machine. It opens when its events are read. Needs a global `WebSocket`: a browser, Bun, Node 22. */
  terminal(options: TerminalOptions = {}): Terminal {
    return new Terminal(this.connection, this.name, options);
  }

  /**
   * The agent as one archive, in the response's body. With `disk`, its whole disk is in it, too. An archive that broke off
   * cannot be imported.
   */
  export({ disk, ...options }: RequestOptions & { disk?: boolean } = {}): Promise<Response> {
    const query = disk ? { disk: "true" as const } : {};
    return this.connection.request("exportAgent", { path: this.path, query, ...options });
  }

  /** The output of its runner and runtime. */
  log({ tail }: Pick<Query<"getLog">, "tail"> = {}, options: RequestOptions = {}): Promise<AgentLog> {
    return this.connection.call("getLog", { path: this.path, query: { tail }, ...options });
  }

  /** The same as it comes, until its machine ends. A stream that breaks is not reopened: nothing marks the place. */
  followLog({ tail }: Pick<Query<"getLog">, "tail"> = {}, options: RequestOptions = {}): AsyncGenerator<LogEvent> {
    return this.connection.follow("getLog", {
      path: this.path,
      query: { tail, follow: "true" },
      isLast: (event) => "ended" in event,
      delaysMs: [],
      ...options,
    });
  }

  /** Its status at every change, until it is installed or has failed. */
  followInstall(options: RequestOptions = {}): AsyncGenerator<InstallStatus> {
    return this.connection.follow("getInstallStatus", {
      path: this.path,
      isLast: ({ status }) => status === "installed" || status === "failed",
      ...options,
    });
  }
}
