import { AgentCommands } from "./commands.ts";
import type { Connection, Filter, Query, RequestOptions, Sendable } from "./connection.ts";
import { AgentFiles } from "./files.ts";
import type {
  Agent,
  AgentLog,
  ChangeAgent,
  ChangeNetwork,
  InstallStatus,
  LogEvent,
  Network,
  NetworkLogEntry,
  Secret,
  SetSecret,
  Turn,
} from "./generated/types.gen.ts";
import type { Pages } from "./pages.ts";
import { AgentPorts } from "./ports.ts";
import { type ChatOptions, Reply } from "./reply.ts";
import { AgentSnapshots } from "./snapshots.ts";
import { AgentSsh } from "./ssh.ts";
import { Terminal, type TerminalOptions } from "./terminal.ts";

/** One agent, by its name. Whether it exists is found out by the first call. Every method throws as `Connection.call`. */
export class AgentHandle {
  readonly name: string;
  readonly commands: AgentCommands;
  readonly files: AgentFiles;
  readonly network: AgentNetwork;
  readonly ports: AgentPorts;
  readonly secrets: AgentSecrets;
  readonly snapshots: AgentSnapshots;
  readonly ssh: AgentSsh;
  readonly #connection: Connection;
  readonly #path: { name: string };

  constructor(connection: Connection, name: string) {
    this.name = name;
    this.#connection = connection;
    this.#path = { name };
    this.commands = new AgentCommands(connection, this.#path);
    this.files = new AgentFiles(connection, name);
    this.network = new AgentNetwork(connection, this.#path);
    this.ports = new AgentPorts(connection, this.#path);
    this.secrets = new AgentSecrets(connection, this.#path);
    this.snapshots = new AgentSnapshots(connection, this.#path);
    this.ssh = new AgentSsh(connection, this.#path);
  }

  get(options: RequestOptions = {}): Promise<Agent> {
    return this.#connection.call("getAgent", { path: this.#path, ...options });
  }

  update(body: Sendable<ChangeAgent>, options: RequestOptions = {}): Promise<Agent> {
    return this.#connection.call("changeAgent", { path: this.#path, body, ...options });
  }

  /** Sends a message. Read the reply to send it. */
  chat(message: string, options: ChatOptions = {}): Reply {
    return new Reply(this.#connection, { agent: this.name, turn: { message } }, options);
  }

  /** The events of a turn that has begun, from the one after `after` on. */
  reply(turnId: string, { after = 0, ...options }: ChatOptions & { after?: number } = {}): Reply {
    return new Reply(this.#connection, { agent: this.name, turn: { id: turnId }, after }, options);
  }

  /** The newest first. */
  turns(options: RequestOptions = {}): Pages<Turn> {
    return this.#connection.pages("listTurns", { path: this.#path, ...options });
  }

  turn(turnId: string, options: RequestOptions = {}): Promise<Turn> {
    return this.#connection.call("getTurn", { path: { ...this.#path, turnId }, ...options });
  }

  /** Interrupts a turn. */
  async cancel(turnId: string, options: RequestOptions = {}): Promise<void> {
    await this.#connection.call("cancelTurn", { path: { ...this.#path, turnId }, ...options });
  }

  /** A terminal in its machine. It opens when its events are read. Needs a global `WebSocket`: a browser, Bun, Node 22. */
  terminal(options: TerminalOptions = {}): Terminal {
    return new Terminal(this.#connection, this.name, options);
  }

  /** Begins a new conversation; the files stay. */
  reset(options: RequestOptions = {}): Promise<Agent> {
    return this.#connection.call("resetConversation", { path: this.#path, ...options });
  }

  suspend(options: RequestOptions = {}): Promise<Agent> {
    return this.#connection.call("suspendAgent", { path: this.#path, ...options });
  }

  resume(query: Query<"resumeAgent"> = {}, options: RequestOptions = {}): Promise<Agent> {
    return this.#connection.call("resumeAgent", { path: this.#path, query, ...options });
  }

  restart(query: Query<"restartAgent"> = {}, options: RequestOptions = {}): Promise<Agent> {
    return this.#connection.call("restartAgent", { path: this.#path, query, ...options });
  }

  /** Boots it with the newest image, after a snapshot of what it is. One that has that image is answered as it is. */
  upgrade(query: Query<"upgradeAgent"> = {}, options: RequestOptions = {}): Promise<Agent> {
    return this.#connection.call("upgradeAgent", { path: this.#path, query, ...options });
  }

  /**
   * The agent as one archive, in the response's body. With `disk`, its whole disk is in it, too. An archive that broke off
   * cannot be imported.
   */
  export({ disk, ...options }: RequestOptions & { disk?: boolean } = {}): Promise<Response> {
    const query = disk ? { disk: "true" as const } : {};
    return this.#connection.request("exportAgent", { path: this.#path, query, ...options });
  }

  async delete(options: RequestOptions = {}): Promise<void> {
    await this.#connection.call("deleteAgent", { path: this.#path, ...options });
  }

  /** The output of its runner and runtime. */
  log({ tail }: Pick<Query<"getLog">, "tail"> = {}, options: RequestOptions = {}): Promise<AgentLog> {
    return this.#connection.call("getLog", { path: this.#path, query: { tail }, ...options });
  }

  /** The same as it comes, until its machine ends. A stream that breaks is not reopened: nothing marks the place. */
  followLog({ tail }: Pick<Query<"getLog">, "tail"> = {}, options: RequestOptions = {}): AsyncGenerator<LogEvent> {
    return this.#connection.follow("getLog", {
      path: this.#path,
      query: { tail, follow: "true" },
      isLast: (event) => "ended" in event,
      delaysMs: [],
      ...options,
    });
  }

  installStatus(options: RequestOptions = {}): Promise<InstallStatus> {
    return this.#connection.call("getInstallStatus", { path: this.#path, ...options });
  }

  /** Its status at every change, until it is installed or has failed. */
  followInstall(options: RequestOptions = {}): AsyncGenerator<InstallStatus> {
    return this.#connection.follow("getInstallStatus", {
      path: this.#path,
      isLast: ({ status }) => status === "installed" || status === "failed",
      ...options,
    });
  }
}

/** Where an agent may connect to. */
class AgentNetwork {
  readonly #connection: Connection;
  readonly #path: { name: string };

  constructor(connection: Connection, path: { name: string }) {
    this.#connection = connection;
    this.#path = path;
  }

  get(options: RequestOptions = {}): Promise<Network> {
    return this.#connection.call("getNetwork", { path: this.#path, ...options });
  }

  set(body: Sendable<ChangeNetwork>, options: RequestOptions = {}): Promise<Network> {
    return this.#connection.call("setNetwork", { path: this.#path, body, ...options });
  }

  /** Its connections, the newest first. */
  log(query: Filter<"listConnections"> = {}, options: RequestOptions = {}): Pages<NetworkLogEntry> {
    return this.#connection.pages("listConnections", { path: this.#path, query, ...options });
  }
}

/** Values that an agent can use and not read. */
class AgentSecrets {
  readonly #connection: Connection;
  readonly #path: { name: string };

  constructor(connection: Connection, path: { name: string }) {
    this.#connection = connection;
    this.#path = path;
  }

  async list(options: RequestOptions = {}): Promise<Secret[]> {
    return (await this.#connection.call("listSecrets", { path: this.#path, ...options })).data;
  }

  set(secret: string, body: Sendable<SetSecret>, options: RequestOptions = {}): Promise<Secret> {
    return this.#connection.call("setSecret", { path: { ...this.#path, secret }, body, ...options });
  }

  async remove(secret: string, options: RequestOptions = {}): Promise<void> {
    await this.#connection.call("removeSecret", { path: { ...this.#path, secret }, ...options });
  }
}
