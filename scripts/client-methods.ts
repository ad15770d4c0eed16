/** An operation of the OpenAPI document, as far as a method of the client depends on it. */
export interface Operation {
  operationId: string;
  summary: string;
  parameters?: { name: string; in: string; required?: boolean }[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { content?: Record<string, Media> }>;
}

interface Media {
  schema?: Schema;
}

interface Schema {
  $ref?: string;
  format?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
}

export interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

/** A class of the client, and the operation of each of its methods. */
interface ClassRow {
  name: string;
  doc: string;
  /** Its operations are of one agent, whose name the class has. */
  isOfAgent?: true;
  methods: Readonly<Record<string, string>>;
}

/** Methods that do more than call one operation are in the subclasses of these, which are written by hand. */
const classes: readonly ClassRow[] = [
  {
    name: "BerthMethods",
    doc: "The account and what the service offers.",
    methods: {
      models: "listModels",
      runtimes: "listRuntimes",
      account: "getAccount",
      me: "getMe",
      turns: "listAccountTurns",
      search: "search",
      connections: "listAccountConnections",
      audit: "listAuditEntries",
    },
  },
  { name: "AgentsMethods", doc: "All agents.", methods: { list: "listAgents", create: "createAgent" } },
  { name: "Keys", doc: "API keys.", methods: { list: "listKeys", create: "createKey", revoke: "revokeKey" } },
  {
    name: "Workspaces",
    doc: "Workspaces, by name or id, with their members and invitations.",
    methods: {
      list: "listWorkspaces",
      create: "createWorkspace",
      rename: "renameWorkspace",
      remove: "deleteWorkspace",
      deleted: "listDeletedWorkspaces",
      restore: "restoreWorkspace",
      members: "listMembers",
      changeMember: "changeMember",
      removeMember: "removeMember",
      invitations: "listInvitations",
      invite: "createInvitation",
      revokeInvitation: "revokeInvitation",
      accept: "acceptInvitation",
    },
  },
  {
    name: "Programs",
    doc: "Programs of others that are signed in at `/mcp`.",
    methods: { list: "listPrograms", end: "endProgram" },
  },
  {
    name: "BillingAccount",
    doc: "The account's credits.",
    methods: {
      get: "getBilling",
      update: "changeBilling",
      entries: "listEntries",
      usage: "getUsage",
      topUp: "createTopUp",
    },
  },
  {
    name: "Admin",
    doc: "The installation, for its operator.",
    methods: {
      users: "listUsers",
      createUser: "createUser",
      resetUser: "resetUser",
      disableUser: "disableUser",
      enableUser: "enableUser",
      replaceSigningKeys: "replaceSigningKeys",
      capacity: "getCapacity",
      reachability: "getReachability",
      createBackup: "createBackup",
      readBackup: "readBackup",
      removeBackup: "removeBackup",
      orphans: "listOrphans",
      giveBackOrphan: "giveBackOrphan",
      removeOrphan: "removeOrphan",
      credits: "listCredits",
      grantCredits: "grantCredits",
    },
  },
  {
    name: "AgentMethods",
    doc: "An agent.",
    isOfAgent: true,
    methods: {
      get: "getAgent",
      update: "changeAgent",
      turns: "listTurns",
      turn: "getTurn",
      changes: "getTurnChanges",
      revert: "revertFiles",
      changesSince: "getChanges",
      restore: "restoreTurn",
      cancel: "cancelTurn",
      reset: "resetConversation",
      suspend: "suspendAgent",
      resume: "resumeAgent",
      restart: "restartAgent",
      upgrade: "upgradeAgent",
      delete: "deleteAgent",
      installStatus: "getInstallStatus",
    },
  },
  {
    name: "AgentNetwork",
    doc: "The hosts that an agent may connect to, and its connections.",
    isOfAgent: true,
    methods: { get: "getNetwork", set: "setNetwork", log: "listConnections" },
  },
  {
    name: "AgentSecrets",
    doc: "Values that an agent can use and not read.",
    isOfAgent: true,
    methods: { list: "listSecrets", set: "setSecret", remove: "removeSecret" },
  },
  {
    name: "WorkspaceSecrets",
    doc: "Values that several agents of the workspace can use and not read, by their names.",
    methods: {
      list: "listWorkspaceSecrets",
      get: "getWorkspaceSecret",
      set: "setWorkspaceSecret",
      delete: "removeWorkspaceSecret",
      connect: "connectMcpServer",
      confirm: "confirmMcpServer",
    },
  },
  {
    name: "SkillsMethods",
    doc: "Folders of instructions and programs that several agents of the workspace have, by their names.",
    methods: { list: "listSkills", get: "getSkill", set: "setSkill", delete: "removeSkill" },
  },
  {
    name: "AgentConversations",
    doc: "An agent's conversations, by their numbers.",
    isOfAgent: true,
    methods: {
      list: "listConversations",
      get: "getConversation",
      create: "createConversation",
      change: "changeConversation",
      remove: "deleteConversation",
    },
  },
  {
    name: "AgentQueue",
    doc: "The messages that wait until an agent has answered.",
    isOfAgent: true,
    methods: { get: "getQueue", act: "actOnQueue", change: "changeQueuedTurn" },
  },
  {
    name: "Providers",
    doc: "Accounts at providers of models, by their names.",
    methods: {
      list: "listProviders",
      create: "createProvider",
      update: "changeProvider",
      delete: "deleteProvider",
      login: "startProviderLogin",
      test: "testProvider",
    },
  },
  {
    name: "Automations",
    doc: "Messages to agents on a schedule or for deliveries, by their names.",
    methods: {
      list: "listAutomations",
      get: "getAutomation",
      create: "createAutomation",
      update: "changeAutomation",
      delete: "deleteAutomation",
      run: "runAutomation",
      pause: "pauseAutomation",
      resume: "resumeAutomation",
      runs: "listAutomationRuns",
      times: "listScheduleTimes",
      rotateSecret: "rotateAutomationSecret",
      deliveries: "listHookDeliveries",
      sendAgain: "sendHookDeliveryAgain",
    },
  },
  {
    name: "Webhooks",
    doc: "Addresses that are called when something happens, by their ids.",
    methods: {
      list: "listWebhooks",
      get: "getWebhook",
      create: "createWebhook",
      update: "changeWebhook",
      delete: "deleteWebhook",
      rotate: "rotateWebhookSecret",
      test: "testWebhook",
      deliveries: "listWebhookDeliveries",
      redeliver: "redeliver",
    },
  },
  {
    name: "PushSubscriptions",
    doc: "Browsers that show the person's notifications.",
    methods: { list: "listPushSubscriptions", create: "createPushSubscription", delete: "deletePushSubscription" },
  },
  {
    name: "ProfileMethods",
    doc: "How the signed-in person is notified.",
    methods: {
      get: "getProfile",
      change: "changeProfile",
      verifyEmail: "verifyEmail",
      test: "testNotifications",
      agents: "listAgentNotify",
      setAgent: "setAgentNotify",
      removeAgent: "deleteAgentNotify",
    },
  },
  {
    name: "Inbox",
    doc: "Items that wait for the signed-in person in the workspace.",
    methods: {
      list: "listInbox",
      unread: "countInbox",
      read: "readInbox",
      dismiss: "dismissInbox",
      remove: "dismissInboxItem",
    },
  },
  { name: "Approvals", doc: "Uses of tools that wait for an answer.", methods: { list: "listOpenApprovals" } },
  {
    name: "AgentApprovals",
    doc: "The approvals of an agent's turns.",
    isOfAgent: true,
    methods: { list: "listApprovals", answer: "answerApproval" },
  },
  {
    name: "UploadsMethods",
    doc: "Images and files for messages to an agent.",
    isOfAgent: true,
    methods: { list: "listUploads", get: "getUpload", remove: "removeUpload" },
  },
  {
    name: "SnapshotsMethods",
    doc: "Snapshots of an agent.",
    isOfAgent: true,
    methods: { list: "listSnapshots", remove: "removeSnapshot" },
  },
  {
    name: "PortsMethods",
    doc: "The listening ports of an agent's machine, and their public links.",
    isOfAgent: true,
    methods: { list: "listPorts", shares: "listShares", removeShare: "removeShare" },
  },
  {
    name: "CommandsMethods",
    doc: "Commands in an agent's machine.",
    isOfAgent: true,
    methods: { list: "listCommands", get: "getCommand" },
  },
];

/** The client's classes whose methods call one operation each. */
export function methodsText(document: Document): string {
  const operations = new Map(
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.values(methods).map((operation) => [operation.operationId, { path, operation }] as const),
    ),
  );
  const texts = classes.map(({ name, doc, isOfAgent, methods }) => {
    const texts = Object.entries(methods).map(([method, id]) => {
      const { path, operation } = operations.get(id)!;
      return methodText(method, path, operation, document, isOfAgent ?? false);
    });
    return `/** ${doc} Every method throws as \`Connection.call\`. */\nexport class ${name} {\n${isOfAgent ? agentHead : head}\n${texts.join("\n")}}\n`;
  });
  return `${imports}\n${texts.join("\n")}`;
}

const imports = `import type { Connection, Filter, Query, RequestOptions, Sendable } from "../connection.ts";
import type { Pages } from "../pages.ts";
import type * as types from "./types.gen.ts";
`;

const head = `  protected readonly connection: Connection;

  constructor(connection: Connection) {
    this.connection = connection;
  }
`;

const agentHead = `  protected readonly connection: Connection;
  protected readonly path: { name: string };

  constructor(connection: Connection, path: { name: string }) {
    this.connection = connection;
    this.path = path;
  }
`;

function methodText(
  method: string,
  path: string,
  operation: Operation,
  document: Document,
  isOfAgent: boolean,
): string {
  const { operationId: id, summary, parameters = [], requestBody } = operation;
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const own = isOfAgent ? names.slice(1) : names;
  const inQuery = parameters.filter((each) => each.in === "query");
  const query = inQuery.map(({ name }) => name);
  const isRequired = inQuery.some(({ required }) => required);
  const isPaged = query.includes("cursor");
  const hasQuery = query.some((name) => !["limit", "cursor", "format"].includes(name));
  const body = Object.values(requestBody?.content ?? {})[0]?.schema?.$ref;
  const taken = [
    ...own.map((name) => `${name}: string`),
    ...(body ? [`body: Sendable<types.${nameOf(body)}>`] : []),
    ...(hasQuery ? [`query: ${isPaged ? "Filter" : "Query"}<"${id}">${isRequired ? "" : " = {}"}`] : []),
    "options: RequestOptions = {}",
  ];
  const paths = [...(isOfAgent ? ["...this.path"] : []), ...own].join(", ");
  const inPath = isOfAgent && own.length === 0 ? ["path: this.path"] : paths ? [`path: { ${paths} }`] : [];
  const given = [...inPath, ...(body ? ["body"] : []), ...(hasQuery ? ["query"] : []), "...options"].join(", ");
  const passed = given === "...options" ? "options" : `{ ${given} }`;
  const { head: start, type, expression } = callOf(operation, document, `("${id}", ${passed})`, isPaged);
  return `  /** ${summary}. */\n  ${start}${method}(${taken.join(", ")}): ${type} {\n    ${expression};\n  }\n`;
}

/** How a method calls its operation, by the kind of its answer: pages, a list, bytes, nothing or an object. */
function callOf({ responses }: Operation, { components }: Document, call: string, isPaged: boolean) {
  const content = Object.entries(responses).find(([status]) => status.startsWith("2"))![1].content ?? {};
  const reference = content["application/json"]?.schema?.$ref;
  if (Object.values(content).some(({ schema }) => schema?.format === "binary")) {
    return { head: "", type: "Promise<Response>", expression: `return this.connection.request${call}` };
  }
  if (!reference) return { head: "async ", type: "Promise<void>", expression: `await this.connection.call${call}` };
  const answer = nameOf(reference);
  const { data, nextCursor: _, ...others } = components.schemas[answer]?.properties ?? {};
  if (!data || Object.keys(others).length > 0) {
    return { head: "", type: `Promise<types.${answer}>`, expression: `return this.connection.call${call}` };
  }
  const item = data.items?.$ref ? `types.${nameOf(data.items.$ref)}` : `types.${answer}["data"][number]`;
  if (isPaged) return { head: "", type: `Pages<${item}>`, expression: `return this.connection.pages${call}` };
  const expression = `return (await this.connection.call${call}).data`;
  return { head: "async ", type: `Promise<${item}[]>`, expression };
}

function nameOf(reference: string): string {
  return reference.split("/").at(-1)!;
}
