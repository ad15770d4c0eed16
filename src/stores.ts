import { KeyStore } from "./accounts/key-store.ts";
import { PeopleStore } from "./accounts/people-store.ts";
import { ProgramStore } from "./accounts/program-store.ts";
import { AccountStore } from "./accounts/store.ts";
import { TicketStore } from "./accounts/ticket-store.ts";
import { UserStore } from "./accounts/user-store.ts";
import { AcmeStore } from "./acme/store.ts";
import { AuthorStore } from "./agents/author-store.ts";
import { AgentStore } from "./agents/store.ts";
import { ApprovalStore } from "./approvals/store.ts";
import { HistoryStore } from "./archives/history-store.ts";
import { AuditStore } from "./audit/store.ts";
import { DueStore } from "./automations/due-store.ts";
import { HookDeliveryStore } from "./automations/hook-delivery-store.ts";
import { HookStore } from "./automations/hook-store.ts";
import { OwnScheduleStore } from "./automations/own-store.ts";
import { RunStore } from "./automations/run-store.ts";
import { AutomationStore } from "./automations/store.ts";
import { fromCredits } from "./billing/credits.ts";
import { MachineTime } from "./billing/machine-time-store.ts";
import { Payments } from "./billing/payment-store.ts";
import { BillingStore } from "./billing/store.ts";
import { CommandStore } from "./commands/store.ts";
import type { Config } from "./config/config.ts";
import { ConversationStore } from "./conversations/store.ts";
import type { Database } from "./core/database/database.ts";
import { openRateLimiter } from "./core/database/rate-limiter.ts";
import { IdempotencyStore } from "./core/http/idempotency-store.ts";
import type { Sealer } from "./core/sealing.ts";
import { makeAuthority } from "./egress/authority.ts";
import { EgressLogStore } from "./egress/log-store.ts";
import { EgressRuleStore } from "./egress/rule-store.ts";
import { AccountEventStore } from "./events/store.ts";
import { HostFileStore } from "./hosts/host-file-store.ts";
import { InboxStore } from "./inbox/store.ts";
import { LifecycleStore } from "./lifecycle/store.ts";
import { ProfileStore } from "./notifications/profile-store.ts";
import { NotificationQueueStore } from "./notifications/queue-store.ts";
import { ShareStore } from "./previews/share-store.ts";
import { NotificationStore } from "./protocols/a2a/notification-store.ts";
import { ChatStore } from "./protocols/openai/chat-store.ts";
import { OpenAiConversationStore } from "./protocols/openai/conversation-store.ts";
import { OpenAiFileStore } from "./protocols/openai/file-store.ts";
import { ResponseStore } from "./protocols/openai/store.ts";
import { LoginStore } from "./providers/login-store.ts";
import { ProviderStore } from "./providers/store.ts";
import { PushStore } from "./push/store.ts";
import { QueueStore } from "./queue/store.ts";
import { SearchStore } from "./search/store.ts";
import { SecretLoginStore } from "./secrets/login-store.ts";
import { SecretStore } from "./secrets/store.ts";
import { UsableSecretStore } from "./secrets/usable-store.ts";
import { VaultStore } from "./secrets/vault-store.ts";
import { DashboardSessionStore } from "./sign-in/dashboard-session-store.ts";
import { SkillStore } from "./skills/store.ts";
import { ForkStore } from "./snapshots/fork-store.ts";
import { SnapshotStore } from "./snapshots/store.ts";
import { PastTurnStore } from "./turns/past-store.ts";
import { TurnStore } from "./turns/store.ts";
import { UploadStore } from "./uploads/store.ts";
import { DeliveryStore } from "./webhooks/delivery-store.ts";
import { WebhookStore } from "./webhooks/store.ts";
import { DeletedWorkspaceStore } from "./workspaces/deleted-store.ts";
import { InvitationStore } from "./workspaces/invitation-store.ts";
import { WorkspaceStore } from "./workspaces/store.ts";

export type Stores = ReturnType<typeof openStores>;

/** The stores, by noun. `host`: the id of the data folder whose machines this server runs. */
export function openStores(database: Database, host: string, sealer: Sealer, config: Config) {
  const startingCredits = fromCredits(config.startingCredits);
  const machinePrice = fromCredits(config.machinePrice);
  const { requests, account, address, agents, keys, hooks } = config.rateLimits;
  const agentStore = new AgentStore(database, host, config.maximumAgentsPerAccount);
  const secretStore = new SecretStore(database, sealer, makeAuthority);
  const skillStore = new SkillStore(database);
  const secretLoginStore = new SecretLoginStore(database, sealer);
  const vaultStore = new VaultStore(database, sealer, secretLoginStore, host);
  const turnStore = new TurnStore(database, host);
  const hookStore = new HookStore(database, sealer);
  const webhookStore = new WebhookStore(database, sealer, config.maximumWebhooksPerAccount);
  const loginStore = new LoginStore(database, sealer);
  return {
    accountEvents: new AccountEventStore(database),
    acme: new AcmeStore(database, sealer),
    accounts: new AccountStore(database, startingCredits),
    agents: agentStore,
    approvals: new ApprovalStore(database, host),
    audit: new AuditStore(database),
    automations: new AutomationStore(database, hookStore, config.maximumAutomationsPerAccount),
    authors: new AuthorStore(database),
    billing: new BillingStore(database),
    commands: new CommandStore(database, host),
    conversations: new ConversationStore(database),
    deliveries: new DeliveryStore(database),
    dashboardSessions: new DashboardSessionStore(database),
    egressLog: new EgressLogStore(database),
    egressRules: new EgressRuleStore(database),
    due: new DueStore(database, host),
    ownSchedules: new OwnScheduleStore(database),
    forks: new ForkStore(agentStore, secretStore, vaultStore, skillStore),
    hostFiles: new HostFileStore(database, host),
    histories: new HistoryStore(database, agentStore, turnStore),
    hookDeliveries: new HookDeliveryStore(database),
    hooks: hookStore,
    idempotency: new IdempotencyStore(database, sealer),
    invitations: new InvitationStore(database),
    keys: new KeyStore(database),
    deletedWorkspaces: new DeletedWorkspaceStore(database, host, config.quarantineDays),
    lifecycle: new LifecycleStore(database, host, machinePrice),
    limiters: {
      /** Requests of a key or a signed-in user. */
      requests: openRateLimiter(database, "requests", requests),
      /** Requests of an account, with all its keys and people. */
      account: openRateLimiter(database, "account", account),
      /** Requests without a valid key or token, per address. */
      address: openRateLimiter(database, "address", address),
      /** Agents created by an account. */
      agents: openRateLimiter(database, "agents", agents),
      /** Keys created by an account. */
      keys: openRateLimiter(database, "keys", keys),
      /** Verified deliveries to a hook. */
      hooks: openRateLimiter(database, "hooks", hooks),
    },
    machineTime: new MachineTime(database, host, machinePrice),
    payments: new Payments(database),
    people: new PeopleStore(database, startingCredits),
    logins: loginStore,
    providers: new ProviderStore(database, sealer, loginStore),
    push: new PushStore(database),
    programs: new ProgramStore(database),
    inbox: new InboxStore(database),
    notificationQueue: new NotificationQueueStore(database),
    profiles: new ProfileStore(database, sealer),
    queues: new QueueStore(database, host),
    chats: new ChatStore(database),
    openAiConversations: new OpenAiConversationStore(database),
    openAiFiles: new OpenAiFileStore(database),
    responses: new ResponseStore(database),
    runs: new RunStore(database, host),
    search: new SearchStore(database),
    secrets: secretStore,
    secretLogins: secretLoginStore,
    shares: new ShareStore(database),
    snapshots: new SnapshotStore(database, host),
    taskNotifications: new NotificationStore(database, webhookStore),
    tickets: new TicketStore(database),
    skills: skillStore,
    turns: turnStore,
    pastTurns: new PastTurnStore(database),
    uploads: new UploadStore(database),
    usableSecrets: new UsableSecretStore(database, sealer),
    users: new UserStore(database, startingCredits),
    vault: vaultStore,
    webhooks: webhookStore,
    workspaces: new WorkspaceStore(database),
  };
}
