import { AgentHandle } from "./agent.ts";
import { type Bytes, Connection, type ConnectionOptions, type Query, type RequestOptions } from "./connection.ts";
import {
  Admin,
  AgentsMethods,
  Approvals,
  Automations,
  BerthMethods,
  BillingAccount,
  Inbox,
  Keys,
  ProfileMethods,
  Programs,
  Providers,
  PushSubscriptions,
  Webhooks,
  WorkspaceSecrets,
  Workspaces,
} from "./generated/methods.gen.ts";
import type { AccountEvent, Import } from "./generated/types.gen.ts";
import { Skills } from "./skills.ts";

/** A client for Berth. It runs wherever `fetch` does. Every method throws as `Connection.call`. */
export class Berth extends BerthMethods {
  /** Calls any operation by its name in the OpenAPI document. */
  declare readonly connection: Connection;
  readonly agents: Agents;
  readonly approvals: Approvals;
  readonly automations: Automations;
  /** Items that wait for the signed-in person in the workspace. */
  readonly inbox: Inbox;
  readonly keys: Keys;
  /** How the signed-in person is notified. */
  readonly profile: ProfileMethods;
  readonly programs: Programs;
  readonly providers: Providers;
  /** Secrets of the workspace. An agent's own: `agent(name).secrets`. */
  readonly secrets: WorkspaceSecrets;
  readonly skills: Skills;
  readonly webhooks: Webhooks;
  readonly pushSubscriptions: PushSubscriptions;
  readonly workspaces: Workspaces;
  readonly billing: BillingAccount;
  readonly admin: Admin;

  constructor(options: ConnectionOptions) {
    super(new Connection(options));
    this.agents = new Agents(this.connection);
    this.approvals = new Approvals(this.connection);
    this.automations = new Automations(this.connection);
    this.inbox = new Inbox(this.connection);
    this.keys = new Keys(this.connection);
    this.profile = new ProfileMethods(this.connection);
    this.programs = new Programs(this.connection);
    this.providers = new Providers(this.connection);
    this.secrets = new WorkspaceSecrets(this.connection);
    this.skills = new Skills(this.connection);
    this.webhooks = new Webhooks(this.connection);
    this.pushSubscriptions = new PushSubscriptions(this.connection);
    this.workspaces = new Workspaces(this.connection);
    this.billing = new BillingAccount(this.connection);
    this.admin = new Admin(this.connection);
  }

  /** An agent by its name. Requests nothing. */
  agent(name: string): AgentHandle {
    return new AgentHandle(this.connection, name);
  }

  /**
   * The account's events from now on, or after the event whose id is `after`, until `signal` aborts or the reader stops.
   * To miss nothing: wait for the first event, then list.
   */
  events({ after, ...options }: RequestOptions & Query<"getEvents"> = {}): AsyncGenerator<AccountEvent> {
    return this.connection.follow("getEvents", { query: { after }, isLast: () => false, ...options });
  }
}

class Agents extends AgentsMethods {
  /** Creates an agent from an archive of `AgentHandle.export`. A stream is sent once. */
  import(archive: Bytes, query: Query<"importAgent"> = {}, options: RequestOptions = {}): Promise<Import> {
    const headers = { "content-type": "application/x-tar", ...options.headers };
    return this.connection.upload("importAgent", archive, { query, ...options, headers });
  }
}
