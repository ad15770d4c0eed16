import { AgentHandle } from "./agent.ts";
import {
  type Bytes,
  Connection,
  type ConnectionOptions,
  type Filter,
  type Query,
  type RequestOptions,
  type Sendable,
} from "./connection.ts";
import type {
  Account,
  AccountConnection,
  AccountCredits,
  AccountEvent,
  Agent,
  AuditEntry,
  Backup,
  Billing,
  Capacity,
  ChangeBilling,
  CreateAgent,
  CreatedKey,
  CreateKey,
  CreateTopUp,
  CreateUser,
  CreditEntry,
  CreditGrant,
  GiveBackOrphan,
  GrantCredits,
  Import,
  Key,
  Model,
  Orphan,
  Program,
  ReplaceSigningKeys,
  Runtime,
  SigningKeysReplaced,
  TopUp,
  TurnSummary,
  UsageReport,
  User,
  UserWithLink,
} from "./generated/types.gen.ts";
import type { Pages } from "./pages.ts";

/** A client for Berth. It runs wherever `fetch` does. Every method throws as `Connection.call`. */
export class Berth {
  /** Calls any operation by its name in the OpenAPI document. */
  readonly connection: Connection;
  readonly agents: Agents;
  readonly keys: Keys;
  readonly programs: Programs;
  readonly billing: BillingAccount;
  readonly admin: Admin;

  constructor(options: ConnectionOptions) {
    this.connection = new Connection(options);
    this.agents = new Agents(this.connection);
    this.keys = new Keys(this.connection);
    this.programs = new Programs(this.connection);
    this.billing = new BillingAccount(this.connection);
    this.admin = new Admin(this.connection);
  }

  /** An agent by its name. Requests nothing. */
  agent(name: string): AgentHandle {
    return new AgentHandle(this.connection, name);
  }

  models(options: RequestOptions = {}): Pages<Model> {
    return this.connection.pages("listModels", options);
  }

  async runtimes(options: RequestOptions = {}): Promise<Runtime[]> {
    return (await this.connection.call("listRuntimes", options)).data;
  }

  /** Whose credentials these are. */
  account(options: RequestOptions = {}): Promise<Account> {
    return this.connection.call("getAccount", options);
  }

  /**
   * What happens in the account from now on, or after the event whose id is `after`, until `signal` aborts or the events
   * are read no more. To miss nothing: wait for the first event, then list.
   */
  events({ after, ...options }: RequestOptions & Query<"getEvents"> = {}): AsyncGenerator<AccountEvent> {
    return this.connection.follow("getEvents", { query: { after }, isLast: () => false, ...options });
  }

  /** What all agents were asked and answered, in short, the newest first. */
  turns(query: Filter<"listAccountTurns"> = {}, options: RequestOptions = {}): Pages<TurnSummary> {
    return this.connection.pages("listAccountTurns", { query, ...options });
  }

  /** What all agents have connected to, the newest first. */
  connections(query: Filter<"listAccountConnections"> = {}, options: RequestOptions = {}): Pages<AccountConnection> {
    return this.connection.pages("listAccountConnections", { query, ...options });
  }

  /** What was changed, the newest first. */
  audit(query: Filter<"listAuditEntries"> = {}, options: RequestOptions = {}): Pages<AuditEntry> {
    return this.connection.pages("listAuditEntries", { query, ...options });
  }
}

class Agents {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  list(options: RequestOptions = {}): Pages<Agent> {
    return this.#connection.pages("listAgents", options);
  }

  /** With `wait: "ready"` it is answered when the agent is ready or has failed, or after a while. */
  create(body: Sendable<CreateAgent>, query: Query<"createAgent"> = {}, options: RequestOptions = {}): Promise<Agent> {
    return this.#connection.call("createAgent", { body, query, ...options });
  }

  /** Creates an agent from an archive of `AgentHandle.export`. A stream is sent once. */
  import(archive: Bytes, query: Query<"importAgent"> = {}, options: RequestOptions = {}): Promise<Import> {
    const headers = { "content-type": "application/x-tar", ...options.headers };
    return this.#connection.upload("importAgent", archive, { query, ...options, headers });
  }
}

class Keys {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  list(options: RequestOptions = {}): Pages<Key> {
    return this.#connection.pages("listKeys", options);
  }

  /** The answer alone has the key itself. */
  create(body: Sendable<CreateKey>, options: RequestOptions = {}): Promise<CreatedKey> {
    return this.#connection.call("createKey", { body, ...options });
  }

  async revoke(id: string, options: RequestOptions = {}): Promise<void> {
    await this.#connection.call("revokeKey", { path: { id }, ...options });
  }
}

/** Programs of others that are signed in at `/mcp`. */
class Programs {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** The last used first. */
  async list(options: RequestOptions = {}): Promise<Program[]> {
    return (await this.#connection.call("listPrograms", options)).data;
  }

  /** Ends a program's sign-ins. */
  async end(id: string, options: RequestOptions = {}): Promise<void> {
    await this.#connection.call("endProgram", { path: { id }, ...options });
  }
}

class BillingAccount {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  get(options: RequestOptions = {}): Promise<Billing> {
    return this.#connection.call("getBilling", options);
  }

  update(body: Sendable<ChangeBilling>, options: RequestOptions = {}): Promise<Billing> {
    return this.#connection.call("changeBilling", { body, ...options });
  }

  /** What was charged and granted, the newest first. */
  entries(query: Filter<"listEntries"> = {}, options: RequestOptions = {}): Pages<CreditEntry> {
    return this.#connection.pages("listEntries", { query, ...options });
  }

  usage(query: Omit<Query<"getUsage">, "format"> = {}, options: RequestOptions = {}): Promise<UsageReport> {
    return this.#connection.call("getUsage", { query, ...options });
  }

  /** Begins a payment by card. */
  topUp(body: Sendable<CreateTopUp>, options: RequestOptions = {}): Promise<TopUp> {
    return this.#connection.call("createTopUp", { body, ...options });
  }
}

/** For the operator. */
class Admin {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  users(options: RequestOptions = {}): Pages<User> {
    return this.#connection.pages("listUsers", options);
  }

  /** The answer has the one-time link with which the user sets a password. */
  createUser(body: Sendable<CreateUser>, options: RequestOptions = {}): Promise<UserWithLink> {
    return this.#connection.call("createUser", { body, ...options });
  }

  resetUser(name: string, options: RequestOptions = {}): Promise<UserWithLink> {
    return this.#connection.call("resetUser", { path: { name }, ...options });
  }

  disableUser(name: string, options: RequestOptions = {}): Promise<User> {
    return this.#connection.call("disableUser", { path: { name }, ...options });
  }

  enableUser(name: string, options: RequestOptions = {}): Promise<User> {
    return this.#connection.call("enableUser", { path: { name }, ...options });
  }

  replaceSigningKeys(body: Sendable<ReplaceSigningKeys>, options: RequestOptions = {}): Promise<SigningKeysReplaced> {
    return this.#connection.call("replaceSigningKeys", { body, ...options });
  }

  /** What the host has for machines, and what is taken of it. */
  capacity(options: RequestOptions = {}): Promise<Capacity> {
    return this.#connection.call("getCapacity", options);
  }

  /** Makes a backup of the installation, which waits to be read. It takes the place of the last one. */
  createBackup(options: RequestOptions = {}): Promise<Backup> {
    return this.#connection.call("createBackup", options);
  }

  /** A backup as a response, whose body is a tar archive. One that breaks off is read again from its beginning. */
  readBackup(id: string, options: RequestOptions = {}): Promise<Response> {
    return this.#connection.request("readBackup", { path: { id }, ...options });
  }

  async removeBackup(id: string, options: RequestOptions = {}): Promise<void> {
    await this.#connection.call("removeBackup", { path: { id }, ...options });
  }

  /** The quarantine of the server's host, the oldest first. */
  async orphans(options: RequestOptions = {}): Promise<Orphan[]> {
    return (await this.#connection.call("listOrphans", options)).data;
  }

  /** Makes an agent of a quarantined machine or snapshot. */
  giveBackOrphan(id: string, body: Sendable<GiveBackOrphan>, options: RequestOptions = {}): Promise<Agent> {
    return this.#connection.call("giveBackOrphan", { path: { id }, body, ...options });
  }

  /** Removes files from the quarantine for good. */
  async removeOrphan(id: string, options: RequestOptions = {}): Promise<void> {
    await this.#connection.call("removeOrphan", { path: { id }, ...options });
  }

  credits(options: RequestOptions = {}): Pages<AccountCredits> {
    return this.#connection.pages("listCredits", options);
  }

  grantCredits(body: Sendable<GrantCredits>, options: RequestOptions = {}): Promise<CreditGrant> {
    return this.#connection.call("grantCredits", { body, ...options });
  }
}
