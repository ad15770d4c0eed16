// Generated from docs/openapi.json by scripts/client-types.ts. Do not edit.
import type { Connection, Filter, Query, RequestOptions, Sendable } from "../connection.ts";
import type { Pages } from "../pages.ts";
import type * as types from "./types.gen.ts";

/** The account and what the service offers. Every method throws as `Connection.call`. */
export class BerthMethods {
  protected readonly connection: Connection;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  /** List the models. */
  models(options: RequestOptions = {}): Pages<types.Model> {
    return this.connection.pages("listModels", options);
  }

  /** List the runtimes and their features. */
  async runtimes(options: RequestOptions = {}): Promise<types.Runtime[]> {
    return (await this.connection.call("listRuntimes", options)).data;
  }

  /** Show the caller's account. */
  account(options: RequestOptions = {}): Promise<types.Account> {
    return this.connection.call("getAccount", options);
  }

  /** Show the person, the workspace and the role of the request. */
  me(options: RequestOptions = {}): Promise<types.Me> {
    return this.connection.call("getMe", options);
  }

  /** List the newest turns of all agents. */
  turns(query: Filter<"listAccountTurns"> = {}, options: RequestOptions = {}): Pages<types.TurnSummary> {
    return this.connection.pages("listAccountTurns", { query, ...options });
  }

  /** Search messages and replies of all agents. */
  search(query: Filter<"search">, options: RequestOptions = {}): Pages<types.SearchMatch> {
    return this.connection.pages("search", { query, ...options });
  }

  /** Read the log of all agents' connections. */
  connections(query: Filter<"listAccountConnections"> = {}, options: RequestOptions = {}): Pages<types.AccountConnection> {
    return this.connection.pages("listAccountConnections", { query, ...options });
  }

  /** Read the audit log. */
  audit(query: Filter<"listAuditEntries"> = {}, options: RequestOptions = {}): Pages<types.AuditEntry> {
    return this.connection.pages("listAuditEntries", { query, ...options });
  }
}

/** All agents. Every method throws as `Connection.call`. */
export class AgentsMethods {
  protected readonly connection: Connection;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  /** List agents. */
  list(options: RequestOptions = {}): Pages<types.Agent> {
    return this.connection.pages("listAgents", options);
  }

  /** Create an agent. */
  create(body: Sendable<types.CreateAgent>, query: Query<"createAgent"> = {}, options: RequestOptions = {}): Promise<types.Agent> {
    return this.connection.call("createAgent", { body, query, ...options });
  }
}

/** API keys. Every method throws as `Connection.call`. */
export class Keys {
  protected readonly connection: Connection;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  /** List the keys. */
  list(options: RequestOptions = {}): Pages<types.Key> {
    return this.connection.pages("listKeys", options);
  }

  /** Create a key. */
  create(body: Sendable<types.CreateKey>, options: RequestOptions = {}): Promise<types.CreatedKey> {
    return this.connection.call("createKey", { body, ...options });
  }

  /** Revoke a key immediately and permanently. */
  async revoke(id: string, options: RequestOptions = {}): Promise<void> {
    await this.connection.call("revokeKey", { path: { id }, ...options });
  }
}

/** Workspaces, by name or id, with their members and invitations. Every method throws as `Connection.call`. */
export class Workspaces {
  protected readonly connection: Connection;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  /** List the caller's workspaces. */
  async list(options: RequestOptions = {}): Promise<types.Workspace[]> {
    return (await this.connection.call("listWorkspaces", options)).data;
  }

  /** Create a workspace. */
  create(body: Sendable<types.CreateWorkspace>, options: RequestOptions = {}): Promise<types.Workspace> {
    return this.connection.call("createWorkspace", { body, ...options });
  }

  /** Rename a workspace. */
  rename(name: string, body: Sendable<types.UpdateWorkspace>, options: RequestOptions = {}): Promise<types.Workspace> {
    return this.connection.call("renameWorkspace", { path: { name }, body, ...options });
  }

  /** Delete a workspace. */
  async remove(name: string, query: Query<"deleteWorkspace"> = {}, options: RequestOptions = {}): Promise<void> {
    await this.connection.call("deleteWorkspace", { path: { name }, query, ...options });
  }

  /** List the deleted workspaces that the caller can restore. */
  async deleted(options: RequestOptions = {}): Promise<types.DeletedWorkspace[]> {
    return (await this.connection.call("listDeletedWorkspaces", options)).data;
  }

  /** Restore a deleted workspace. */
  restore(id: string, options: RequestOptions = {}): Promise<types.Workspace> {
    return this.connection.call("restoreWorkspace", { path: { id }, ...options });
  }

  /** List a workspace's members. */
  members(name: string, options: RequestOptions = {}): Pages<types.Member> {
    return this.connection.pages("listMembers", { path: { name }, ...options });
  }

  /** Change a member's role. */
  changeMember(name: string, id: string, body: Sendable<types.UpdateMember>, options: RequestOptions = {}): Promise<types.Member> {
    return this.connection.call("changeMember", { path: { name, id }, body, ...options });
  }

  /** Remove a member, or leave a workspace. */
  async removeMember(name: string, id: string, options: RequestOptions = {}): Promise<void> {
    await this.connection.call("removeMember", { path: { name, id }, ...options });
  }

  /** List a workspace's open invitations. */
  async invitations(name: string, options: RequestOptions = {}): Promise<types.Invitation[]> {
    return (await this.connection.call("listInvitations", { path: { name }, ...options })).data;
  }

  /** Invite a person to a workspace. */
  invite(name: string, body: Sendable<types.CreateInvitation>, options: RequestOptions = {}): Promise<types.CreatedInvitation> {
    return this.connection.call("createInvitation", { path: { name }, body, ...options });
  }

  /** Revoke an invitation. */
  async revokeInvitation(name: string, id: string, options: RequestOptions = {}): Promise<void> {
    await this.connection.call("revokeInvitation", { path: { name, id }, ...options });
  }

  /** Join a workspace. */
  accept(token: string, options: RequestOptions = {}): Promise<types.Workspace> {
    return this.connection.call("acceptInvitation", { path: { token }, ...options });
  }
}

/** Programs of others that are signed in at `/mcp`. Every method throws as `Connection.call`. */
export class Programs {
  protected readonly connection: Connection;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  /** List the signed-in third-party programs. */
  async list(options: RequestOptions = {}): Promise<types.Program[]> {
    return (await this.connection.call("listPrograms", options)).data;
  }

  /** Revoke a program's sign-ins immediately. */
  async end(id: string, options: RequestOptions = {}): Promise<void> {
    await this.connection.call("endProgram", { path: { id }, ...options });
  }
}

/** The account's credits. Every method throws as `Connection.call`. */
export class BillingAccount {
  protected readonly connection: Connection;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  /** Read the account's credits and usage. */
  get(options: RequestOptions = {}): Promise<types.Billing> {
    return this.connection.call("getBilling", options);
  }

  /** Set the monthly spending limit and the balance that is reported. */
  update(body: Sendable<types.ChangeBilling>, options: RequestOptions = {}): Promise<types.Billing> {
    return this.connection.call("changeBilling", { body, ...options });
  }

  /** Read the ledger: every change of the balance with its cause, newest first. */
  entries(query: Filter<"listEntries"> = {}, options: RequestOptions = {}): Pages<types.CreditEntry> {
    return this.connection.pages("listEntries", { query, ...options });
  }

  /** Summarize usage by day, agent, model or key. */
  usage(query: Query<"getUsage"> = {}, options: RequestOptions = {}): Promise<types.UsageReport> {
    return this.connection.call("getUsage", { query, ...options });
  }

  /** Buy credits. */
  topUp(body: Sendable<types.CreateTopUp>, options: RequestOptions = {}): Promise<types.TopUp> {
    return this.connection.call("createTopUp", { body, ...options });
  }
}

/** The installation, for its operator. Every method throws as `Connection.call`. */
export class Admin {
  protected readonly connection: Connection;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  /** List the users. */
  users(options: RequestOptions = {}): Pages<types.User> {
    return this.connection.pages("listUsers", options);
  }

  /** Add a user. */
  createUser(body: Sendable<types.CreateUser>, options: RequestOptions = {}): Promise<types.UserWithLink> {
    return this.connection.call("createUser", { body, ...options });
  }

  /** Reset a user's password and return a link to set a new one. */
  resetUser(name: string, options: RequestOptions = {}): Promise<types.UserWithLink> {
    return this.connection.call("resetUser", { path: { name }, ...options });
  }

  /** Disable a user and the keys of its account immediately. */
  disableUser(name: string, options: RequestOptions = {}): Promise<types.User> {
    return this.connection.call("disableUser", { path: { name }, ...options });
  }

  /** Enable a user again. */
  enableUser(name: string, options: RequestOptions = {}): Promise<types.User> {
    return this.connection.call("enableUser", { path: { name }, ...options });
  }

  /** Replace the keys that the built-in provider signs tokens with. */
  replaceSigningKeys(body: Sendable<types.ReplaceSigningKeys>, options: RequestOptions = {}): Promise<types.SigningKeysReplaced> {
    return this.connection.call("replaceSigningKeys", { body, ...options });
  }

  /** Show host capacity and usage. */
  capacity(options: RequestOptions = {}): Promise<types.Capacity> {
    return this.connection.call("getCapacity", options);
  }

  /** Show whether phones, passkeys and push messages can use the public address. */
  reachability(options: RequestOptions = {}): Promise<types.Reachability> {
    return this.connection.call("getReachability", options);
  }

  /** Make a backup of the installation. */
  createBackup(options: RequestOptions = {}): Promise<types.Backup> {
    return this.connection.call("createBackup", options);
  }

  /** Download a backup. */
  readBackup(id: string, options: RequestOptions = {}): Promise<Response> {
    return this.connection.request("readBackup", { path: { id }, ...options });
  }

  /** Delete a backup. */
  async removeBackup(id: string, options: RequestOptions = {}): Promise<void> {
    await this.connection.call("removeBackup", { path: { id }, ...options });
  }

  /** List the quarantine. */
  async orphans(options: RequestOptions = {}): Promise<types.Orphan[]> {
    return (await this.connection.call("listOrphans", options)).data;
  }

  /** Recover a quarantined machine or snapshot as an agent. */
  giveBackOrphan(id: string, body: Sendable<types.GiveBackOrphan>, options: RequestOptions = {}): Promise<types.Agent> {
    return this.connection.call("giveBackOrphan", { path: { id }, body, ...options });
  }

  /** Delete files from the quarantine permanently. */
  async removeOrphan(id: string, options: RequestOptions = {}): Promise<void> {
    await this.connection.call("removeOrphan", { path: { id }, ...options });
  }

  /** List all accounts with their credits. */
  credits(options: RequestOptions = {}): Pages<types.AccountCredits> {
    return this.connection.pages("listCredits", options);
  }

  /** Grant credits to an account, or withdraw some. */
  grantCredits(body: Sendable<types.GrantCredits>, options: RequestOptions = {}): Promise<types.CreditGrant> {
    return this.connection.call("grantCredits", { body, ...options });
  }
}

/** An agent. Every method throws as `Connection.call`. */
export class AgentMethods {
  protected readonly connection: Connection;
  protected readonly path: { name: string };

  constructor(connection: Connection, path: { name: string }) {
    this.connection = connection;
    this.path = path;
  }

  /** Read an agent. */
  get(options: RequestOptions = {}): Promise<types.Agent> {
    return this.connection.call("getAgent", { path: this.path, ...options });
  }

  /** Change an agent's settings, or its runtime. */
  update(body: Sendable<types.ChangeAgent>, query: Query<"changeAgent"> = {}, options: RequestOptions = {}): Promise<types.Agent> {
    return this.connection.call("changeAgent", { path: this.path, body, query, ...options });
  }

  /** List an agent's turns, newest first. */
  turns(query: Filter<"listTurns"> = {}, options: RequestOptions = {}): Pages<types.Turn> {
    return this.connection.pages("listTurns", { path: this.path, query, ...options });
  }

  /** Read a turn. */
  turn(turnId: string, options: RequestOptions = {}): Promise<types.Turn> {
    return this.connection.call("getTurn", { path: { ...this.path, turnId }, ...options });
  }

  /** Read the files that a turn changed, with their diffs. */
  changes(turnId: string, options: RequestOptions = {}): Promise<types.TurnChangesWithDiffs> {
    return this.connection.call("getTurnChanges", { path: { ...this.path, turnId }, ...options });
  }

  /** Take back what a turn changed in files. */
  revert(turnId: string, body: Sendable<types.RevertFiles>, options: RequestOptions = {}): Promise<types.RevertedFiles> {
    return this.connection.call("revertFiles", { path: { ...this.path, turnId }, body, ...options });
  }

  /** Read the files that changed since a snapshot or a turn. */
  changesSince(query: Query<"getChanges">, options: RequestOptions = {}): Promise<types.AgentChanges> {
    return this.connection.call("getChanges", { path: this.path, query, ...options });
  }

  /** Roll the agent back to before a turn. */
  restore(turnId: string, query: Query<"restoreTurn"> = {}, options: RequestOptions = {}): Promise<types.Agent> {
    return this.connection.call("restoreTurn", { path: { ...this.path, turnId }, query, ...options });
  }

  /** Cancel a turn. */
  async cancel(turnId: string, options: RequestOptions = {}): Promise<void> {
    await this.connection.call("cancelTurn", { path: { ...this.path, turnId }, ...options });
  }

  /** Create a conversation and make it current. */
  reset(options: RequestOptions = {}): Promise<types.Agent> {
    return this.connection.call("resetConversation", { path: this.path, ...options });
  }

  /** Suspend an agent. */
  suspend(options: RequestOptions = {}): Promise<types.Agent> {
    return this.connection.call("suspendAgent", { path: this.path, ...options });
  }

  /** Wake a suspended agent. */
  resume(query: Query<"resumeAgent"> = {}, options: RequestOptions = {}): Promise<types.Agent> {
    return this.connection.call("resumeAgent", { path: this.path, query, ...options });
  }

  /** Reboot an agent from its disk. */
  restart(query: Query<"restartAgent"> = {}, options: RequestOptions = {}): Promise<types.Agent> {
    return this.connection.call("restartAgent", { path: this.path, query, ...options });
  }

  /** Upgrade an agent to the newest image. */
  upgrade(query: Query<"upgradeAgent"> = {}, options: RequestOptions = {}): Promise<types.Agent> {
    return this.connection.call("upgradeAgent", { path: this.path, query, ...options });
  }

  /** Delete an agent. */
  async delete(options: RequestOptions = {}): Promise<void> {
    await this.connection.call("deleteAgent", { path: this.path, ...options });
  }

  /** Follow an agent's installation. */
  installStatus(options: RequestOptions = {}): Promise<types.InstallStatus> {
    return this.connection.call("getInstallStatus", { path: this.path, ...options });
  }
}

/** The hosts that an agent may connect to, and its connections. Every method throws as `Connection.call`. */
export class AgentNetwork {
  protected readonly connection: Connection;
  protected readonly path: { name: string };

  constructor(connection: Connection, path: { name: string }) {
    this.connection = connection;
    this.path = path;
  }

  /** Read where an agent's programs may connect to. */
  get(options: RequestOptions = {}): Promise<types.Network> {
    return this.connection.call("getNetwork", { path: this.path, ...options });
  }

  /** Set where an agent's programs may connect to. */
  set(body: Sendable<types.ChangeNetwork>, options: RequestOptions = {}): Promise<types.Network> {
    return this.connection.call("setNetwork", { path: this.path, body, ...options });
  }

  /** Read the log of an agent's connections. */
  log(query: Filter<"listConnections"> = {}, options: RequestOptions = {}): Pages<types.NetworkLogEntry> {
    return this.connection.pages("listConnections", { path: this.path, query, ...options });
  }
}

/** Values that an agent can use and not read. Every method throws as `Connection.call`. */
export class AgentSecrets {
  protected readonly connection: Connection;
  protected readonly path: { name: string };

  constructor(connection: Connection, path: { name: string }) {
    this.connection = connection;
    this.path = path;
  }

  /** List the secrets that an agent can use, without their values. */
  async list(options: RequestOptions = {}): Promise<types.Secret[]> {
    return (await this.connection.call("listSecrets", { path: this.path, ...options })).data;
  }

  /** Set an agent's secret. */
  set(secret: string, body: Sendable<types.SetSecret>, options: RequestOptions = {}): Promise<types.Secret> {
    return this.connection.call("setSecret", { path: { ...this.path, secret }, body, ...options });
  }

  /** Remove an agent's secret. */
  async remove(secret: string, options: RequestOptions = {}): Promise<void> {
    await this.connection.call("removeSecret", { path: { ...this.path, secret }, ...options });
  }
}

/** Values that several agents of the workspace can use and not read, by their names. Every method throws as `Connection.call`. */
export class WorkspaceSecrets {
  protected readonly connection: Connection;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  /** List the workspace's secrets, without their values. */
  async list(options: RequestOptions = {}): Promise<types.WorkspaceSecret[]> {
    return (await this.connection.call("listWorkspaceSecrets", options)).data;
  }

  /** Show a secret of the workspace, without its value. */
  get(secret: string, options: RequestOptions = {}): Promise<types.WorkspaceSecret> {
    return this.connection.call("getWorkspaceSecret", { path: { secret }, ...options });
  }

  /** Set a secret of the workspace. */
  set(secret: string, body: Sendable<types.SetWorkspaceSecret>, options: RequestOptions = {}): Promise<types.WorkspaceSecret> {
    return this.connection.call("setWorkspaceSecret", { path: { secret }, body, ...options });
  }

  /** Delete a secret of the workspace. */
  async delete(secret: string, options: RequestOptions = {}): Promise<void> {
    await this.connection.call("removeWorkspaceSecret", { path: { secret }, ...options });
  }

  /** Sign in to an MCP server, or sign in again. */
  connect(secret: string, body: Sendable<types.ConnectMcpServer>, options: RequestOptions = {}): Promise<types.McpConnection> {
    return this.connection.call("connectMcpServer", { path: { secret }, body, ...options });
  }

  /** Confirm a sign-in to an MCP server with the code that the browser shows. */
  confirm(secret: string, body: Sendable<types.ConfirmMcpServer>, options: RequestOptions = {}): Promise<types.WorkspaceSecret> {
    return this.connection.call("confirmMcpServer", { path: { secret }, body, ...options });
  }
}

/** Folders of instructions and programs that several agents of the workspace have, by their names. Every method throws as `Connection.call`. */
export class SkillsMethods {
  protected readonly connection: Connection;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  /** List the workspace's skills. */
  async list(options: RequestOptions = {}): Promise<types.SkillSummary[]> {
    return (await this.connection.call("listSkills", options)).data;
  }

  /** Show a skill with its files. */
  get(skill: string, options: RequestOptions = {}): Promise<types.Skill> {
    return this.connection.call("getSkill", { path: { skill }, ...options });
  }

  /** Add a skill from git, or change which agents have it. */
  set(skill: string, body: Sendable<types.SetSkill>, options: RequestOptions = {}): Promise<types.Skill> {
    return this.connection.call("setSkill", { path: { skill }, body, ...options });
  }

  /** Delete a skill. */
  async delete(skill: string, options: RequestOptions = {}): Promise<void> {
    await this.connection.call("removeSkill", { path: { skill }, ...options });
  }
}

/** An agent's conversations, by their numbers. Every method throws as `Connection.call`. */
export class AgentConversations {
  protected readonly connection: Connection;
  protected readonly path: { name: string };

  constructor(connection: Connection, path: { name: string }) {
    this.connection = connection;
    this.path = path;
  }

  /** List an agent's conversations, the newest activity first. */
  list(query: Filter<"listConversations"> = {}, options: RequestOptions = {}): Pages<types.Conversation> {
    return this.connection.pages("listConversations", { path: this.path, query, ...options });
  }

  /** Read a conversation's title and times. */
  get(conversation: string, options: RequestOptions = {}): Promise<types.Conversation> {
    return this.connection.call("getConversation", { path: { ...this.path, conversation }, ...options });
  }

  /** Create a conversation, empty or continued from a turn. */
  create(body: Sendable<types.CreateConversation>, options: RequestOptions = {}): Promise<types.Conversation> {
    return this.connection.call("createConversation", { path: this.path, body, ...options });
  }

  /** Rename a conversation, or make it current. */
  change(conversation: string, body: Sendable<types.ChangeConversation>, options: RequestOptions = {}): Promise<types.Conversation> {
    return this.connection.call("changeConversation", { path: { ...this.path, conversation }, body, ...options });
  }

  /** Delete a conversation with its turns. */
  async remove(conversation: string, options: RequestOptions = {}): Promise<void> {
    await this.connection.call("deleteConversation", { path: { ...this.path, conversation }, ...options });
  }
}

/** The messages that wait until an agent has answered. Every method throws as `Connection.call`. */
export class AgentQueue {
  protected readonly connection: Connection;
  protected readonly path: { name: string };

  constructor(connection: Connection, path: { name: string }) {
    this.connection = connection;
    this.path = path;
  }

  /** List the messages that wait for an agent. */
  get(options: RequestOptions = {}): Promise<types.Queue> {
    return this.connection.call("getQueue", { path: this.path, ...options });
  }

  /** Resume or discard an agent's queue. */
  act(body: Sendable<types.QueueAction>, options: RequestOptions = {}): Promise<types.Queue> {
    return this.connection.call("actOnQueue", { path: this.path, body, ...options });
  }

  /** Change the text or the place of a queued message. */
  change(turnId: string, body: Sendable<types.ChangeQueuedTurn>, options: RequestOptions = {}): Promise<types.Queue> {
    return this.connection.call("changeQueuedTurn", { path: { ...this.path, turnId }, body, ...options });
  }
}

/** Accounts at providers of models, by their names. Every method throws as `Connection.call`. */
export class Providers {
  protected readonly connection: Connection;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  /** List the providers of models that the workspace can use. */
  async list(options: RequestOptions = {}): Promise<types.Provider[]> {
    return (await this.connection.call("listProviders", options)).data;
  }

  /** Add a provider of models. */
  create(body: Sendable<types.CreateProvider>, options: RequestOptions = {}): Promise<types.Provider> {
    return this.connection.call("createProvider", { body, ...options });
  }

  /** Change a provider's address or credentials. */
  update(name: string, body: Sendable<types.ChangeProvider>, query: Query<"changeProvider"> = {}, options: RequestOptions = {}): Promise<types.Provider> {
    return this.connection.call("changeProvider", { path: { name }, body, query, ...options });
  }

  /** Delete a provider with its credentials. */
  async delete(name: string, query: Query<"deleteProvider"> = {}, options: RequestOptions = {}): Promise<void> {
    await this.connection.call("deleteProvider", { path: { name }, query, ...options });
  }

  /** Begin the login of a subscription again. */
  login(name: string, query: Query<"startProviderLogin"> = {}, options: RequestOptions = {}): Promise<types.Provider> {
    return this.connection.call("startProviderLogin", { path: { name }, query, ...options });
  }

  /** Test a provider with a call for one token. */
  test(name: string, body: Sendable<types.TestProvider>, query: Query<"testProvider"> = {}, options: RequestOptions = {}): Promise<types.ProviderTest> {
    return this.connection.call("testProvider", { path: { name }, body, query, ...options });
  }
}

/** Messages to agents on a schedule or for deliveries, by their names. Every method throws as `Connection.call`. */
export class Automations {
  protected readonly connection: Connection;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  /** List the workspace's automations. */
  list(query: Filter<"listAutomations"> = {}, options: RequestOptions = {}): Pages<types.Automation> {
    return this.connection.pages("listAutomations", { query, ...options });
  }

  /** Show an automation. */
  get(name: string, options: RequestOptions = {}): Promise<types.Automation> {
    return this.connection.call("getAutomation", { path: { name }, ...options });
  }

  /** Create an automation. */
  create(body: Sendable<types.CreateAutomation>, options: RequestOptions = {}): Promise<types.AutomationWithSecret> {
    return this.connection.call("createAutomation", { body, ...options });
  }

  /** Change an automation. */
  update(name: string, body: Sendable<types.ChangeAutomation>, options: RequestOptions = {}): Promise<types.Automation> {
    return this.connection.call("changeAutomation", { path: { name }, body, ...options });
  }

  /** Delete an automation with its runs. */
  async delete(name: string, options: RequestOptions = {}): Promise<void> {
    await this.connection.call("deleteAutomation", { path: { name }, ...options });
  }

  /** Run an automation now. */
  run(name: string, options: RequestOptions = {}): Promise<types.AutomationRun> {
    return this.connection.call("runAutomation", { path: { name }, ...options });
  }

  /** Pause an automation. */
  pause(name: string, options: RequestOptions = {}): Promise<types.Automation> {
    return this.connection.call("pauseAutomation", { path: { name }, ...options });
  }

  /** Resume a paused automation. */
  resume(name: string, options: RequestOptions = {}): Promise<types.Automation> {
    return this.connection.call("resumeAutomation", { path: { name }, ...options });
  }

  /** List an automation's runs. */
  runs(name: string, options: RequestOptions = {}): Pages<types.AutomationRun> {
    return this.connection.pages("listAutomationRuns", { path: { name }, ...options });
  }

  /** List the next times of a schedule. */
  times(query: Query<"listScheduleTimes">, options: RequestOptions = {}): Promise<types.ScheduleTimes> {
    return this.connection.call("listScheduleTimes", { query, ...options });
  }

  /** Replace the secret of an automation's hook. */
  rotateSecret(name: string, body: Sendable<types.RotateSecret>, options: RequestOptions = {}): Promise<types.AutomationWithSecret> {
    return this.connection.call("rotateAutomationSecret", { path: { name }, body, ...options });
  }

  /** List the deliveries to an automation's hook. */
  deliveries(name: string, options: RequestOptions = {}): Pages<types.HookDelivery> {
    return this.connection.pages("listHookDeliveries", { path: { name }, ...options });
  }

  /** Run an automation for an earlier delivery. */
  sendAgain(name: string, deliveryId: string, options: RequestOptions = {}): Promise<types.AutomationRun> {
    return this.connection.call("sendHookDeliveryAgain", { path: { name, deliveryId }, ...options });
  }
}

/** Addresses that are called when something happens, by their ids. Every method throws as `Connection.call`. */
export class Webhooks {
  protected readonly connection: Connection;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  /** List the workspace's webhooks. */
  list(options: RequestOptions = {}): Pages<types.Webhook> {
    return this.connection.pages("listWebhooks", options);
  }

  /** Show a webhook. */
  get(id: string, options: RequestOptions = {}): Promise<types.Webhook> {
    return this.connection.call("getWebhook", { path: { id }, ...options });
  }

  /** Create a webhook. */
  create(body: Sendable<types.CreateWebhook>, options: RequestOptions = {}): Promise<types.WebhookWithSecret> {
    return this.connection.call("createWebhook", { body, ...options });
  }

  /** Change, disable or enable a webhook. */
  update(id: string, body: Sendable<types.ChangeWebhook>, options: RequestOptions = {}): Promise<types.Webhook> {
    return this.connection.call("changeWebhook", { path: { id }, body, ...options });
  }

  /** Delete a webhook with its deliveries. */
  async delete(id: string, options: RequestOptions = {}): Promise<void> {
    await this.connection.call("deleteWebhook", { path: { id }, ...options });
  }

  /** Replace a webhook's secret. */
  rotate(id: string, options: RequestOptions = {}): Promise<types.WebhookWithSecret> {
    return this.connection.call("rotateWebhookSecret", { path: { id }, ...options });
  }

  /** Send a test event to a webhook. */
  test(id: string, options: RequestOptions = {}): Promise<types.WebhookDelivery> {
    return this.connection.call("testWebhook", { path: { id }, ...options });
  }

  /** List a webhook's deliveries. */
  deliveries(id: string, options: RequestOptions = {}): Pages<types.WebhookDelivery> {
    return this.connection.pages("listWebhookDeliveries", { path: { id }, ...options });
  }

  /** Send a delivery again. */
  redeliver(id: string, deliveryId: string, options: RequestOptions = {}): Promise<types.WebhookDelivery> {
    return this.connection.call("redeliver", { path: { id, deliveryId }, ...options });
  }
}

/** Browsers that show the person's notifications. Every method throws as `Connection.call`. */
export class PushSubscriptions {
  protected readonly connection: Connection;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  /** List the browsers that show the person's notifications. */
  list(options: RequestOptions = {}): Promise<types.PushSubscriptionList> {
    return this.connection.call("listPushSubscriptions", options);
  }

  /** Have a browser show the person's notifications. */
  create(body: Sendable<types.CreatePushSubscription>, options: RequestOptions = {}): Promise<types.PushSubscription> {
    return this.connection.call("createPushSubscription", { body, ...options });
  }

  /** Stop notifications in a browser. */
  async delete(id: string, options: RequestOptions = {}): Promise<void> {
    await this.connection.call("deletePushSubscription", { path: { id }, ...options });
  }
}

/** How the signed-in person is notified. Every method throws as `Connection.call`. */
export class ProfileMethods {
  protected readonly connection: Connection;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  /** Show how the person is notified. */
  get(options: RequestOptions = {}): Promise<types.Profile> {
    return this.connection.call("getProfile", options);
  }

  /** Change how the person is notified. */
  change(body: Sendable<types.ChangeProfile>, options: RequestOptions = {}): Promise<types.Profile> {
    return this.connection.call("changeProfile", { body, ...options });
  }

  /** Confirm an e-mail address with the token of its link. */
  verifyEmail(body: Sendable<types.VerifyEmail>, options: RequestOptions = {}): Promise<types.Profile> {
    return this.connection.call("verifyEmail", { body, ...options });
  }

  /** Send a test notification over all channels. */
  test(options: RequestOptions = {}): Promise<types.NotificationTest> {
    return this.connection.call("testNotifications", options);
  }

  /** List the person's choices for single agents of the workspace. */
  agents(options: RequestOptions = {}): Pages<types.AgentNotify> {
    return this.connection.pages("listAgentNotify", options);
  }

  /** Choose what the person hears of an agent. */
  setAgent(name: string, body: Sendable<types.SetAgentNotify>, options: RequestOptions = {}): Promise<types.AgentNotify> {
    return this.connection.call("setAgentNotify", { path: { name }, body, ...options });
  }

  /** Return to the person's default for an agent. */
  async removeAgent(name: string, options: RequestOptions = {}): Promise<void> {
    await this.connection.call("deleteAgentNotify", { path: { name }, ...options });
  }
}

/** Items that wait for the signed-in person in the workspace. Every method throws as `Connection.call`. */
export class Inbox {
  protected readonly connection: Connection;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  /** List what needs the person's attention. */
  list(query: Filter<"listInbox"> = {}, options: RequestOptions = {}): Pages<types.InboxItem> {
    return this.connection.pages("listInbox", { query, ...options });
  }

  /** Count the unread inbox items of each kind. */
  unread(options: RequestOptions = {}): Promise<types.InboxUnread> {
    return this.connection.call("countInbox", options);
  }

  /** Mark inbox items as read. */
  read(body: Sendable<types.InboxSelection>, options: RequestOptions = {}): Promise<types.InboxChanged> {
    return this.connection.call("readInbox", { body, ...options });
  }

  /** Remove inbox items. */
  dismiss(body: Sendable<types.InboxSelection>, options: RequestOptions = {}): Promise<types.InboxChanged> {
    return this.connection.call("dismissInbox", { body, ...options });
  }

  /** Remove an inbox item. */
  async remove(id: string, options: RequestOptions = {}): Promise<void> {
    await this.connection.call("dismissInboxItem", { path: { id }, ...options });
  }
}

/** Uses of tools that wait for an answer. Every method throws as `Connection.call`. */
export class Approvals {
  protected readonly connection: Connection;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  /** List the approvals that wait for an answer. */
  list(query: Filter<"listOpenApprovals"> = {}, options: RequestOptions = {}): Pages<types.Approval> {
    return this.connection.pages("listOpenApprovals", { query, ...options });
  }
}

/** The approvals of an agent's turns. Every method throws as `Connection.call`. */
export class AgentApprovals {
  protected readonly connection: Connection;
  protected readonly path: { name: string };

  constructor(connection: Connection, path: { name: string }) {
    this.connection = connection;
    this.path = path;
  }

  /** List a turn's approvals. */
  list(turnId: string, options: RequestOptions = {}): Pages<types.Approval> {
    return this.connection.pages("listApprovals", { path: { ...this.path, turnId }, ...options });
  }

  /** Allow or deny the use of a tool. */
  answer(turnId: string, approvalId: string, body: Sendable<types.AnswerApproval>, options: RequestOptions = {}): Promise<types.Approval> {
    return this.connection.call("answerApproval", { path: { ...this.path, turnId, approvalId }, body, ...options });
  }
}

/** Images and files for messages to an agent. Every method throws as `Connection.call`. */
export class UploadsMethods {
  protected readonly connection: Connection;
  protected readonly path: { name: string };

  constructor(connection: Connection, path: { name: string }) {
    this.connection = connection;
    this.path = path;
  }

  /** List an agent's uploads, newest first. */
  list(options: RequestOptions = {}): Pages<types.Upload> {
    return this.connection.pages("listUploads", { path: this.path, ...options });
  }

  /** Read an upload's record. */
  get(uploadId: string, options: RequestOptions = {}): Promise<types.Upload> {
    return this.connection.call("getUpload", { path: { ...this.path, uploadId }, ...options });
  }

  /** Delete an upload. */
  async remove(uploadId: string, options: RequestOptions = {}): Promise<void> {
    await this.connection.call("removeUpload", { path: { ...this.path, uploadId }, ...options });
  }
}

/** Snapshots of an agent. Every method throws as `Connection.call`. */
export class SnapshotsMethods {
  protected readonly connection: Connection;
  protected readonly path: { name: string };

  constructor(connection: Connection, path: { name: string }) {
    this.connection = connection;
    this.path = path;
  }

  /** List an agent's snapshots. */
  async list(options: RequestOptions = {}): Promise<types.Snapshot[]> {
    return (await this.connection.call("listSnapshots", { path: this.path, ...options })).data;
  }

  /** Remove a snapshot. */
  async remove(snapshot: string, options: RequestOptions = {}): Promise<void> {
    await this.connection.call("removeSnapshot", { path: { ...this.path, snapshot }, ...options });
  }
}

/** The listening ports of an agent's machine, and their public links. Every method throws as `Connection.call`. */
export class PortsMethods {
  protected readonly connection: Connection;
  protected readonly path: { name: string };

  constructor(connection: Connection, path: { name: string }) {
    this.connection = connection;
    this.path = path;
  }

  /** List the listening TCP ports of an agent's machine. */
  async list(options: RequestOptions = {}): Promise<types.ListeningPort[]> {
    return (await this.connection.call("listPorts", { path: this.path, ...options })).data;
  }

  /** List the public links to an agent's ports. */
  async shares(options: RequestOptions = {}): Promise<types.ShareRecord[]> {
    return (await this.connection.call("listShares", { path: this.path, ...options })).data;
  }

  /** Remove a public link. */
  async removeShare(shareId: string, options: RequestOptions = {}): Promise<void> {
    await this.connection.call("removeShare", { path: { ...this.path, shareId }, ...options });
  }
}

/** Commands in an agent's machine. Every method throws as `Connection.call`. */
export class CommandsMethods {
  protected readonly connection: Connection;
  protected readonly path: { name: string };

  constructor(connection: Connection, path: { name: string }) {
    this.connection = connection;
    this.path = path;
  }

  /** List the commands of an agent's machine. */
  async list(options: RequestOptions = {}): Promise<types.Command[]> {
    return (await this.connection.call("listCommands", { path: this.path, ...options })).data;
  }

  /** Read a command. */
  get(commandId: string, options: RequestOptions = {}): Promise<types.Command> {
    return this.connection.call("getCommand", { path: { ...this.path, commandId }, ...options });
  }
}
