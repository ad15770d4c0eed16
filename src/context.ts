import { Keys } from "./accounts/keys.ts";
import { Principals } from "./accounts/principals.ts";
import { Programs } from "./accounts/programs.ts";
import { Tickets } from "./accounts/tickets.ts";
import { Users } from "./accounts/users.ts";
import { Acme } from "./acme/acme.ts";
import { openTlsAlpn } from "./acme/tls-alpn.ts";
import { Agents } from "./agents/agents.ts";
import { Approvals } from "./approvals/approvals.ts";
import { Exports } from "./archives/exports.ts";
import { ImportFolders } from "./archives/import-folders.ts";
import { Imports } from "./archives/imports.ts";
import { AuditLog } from "./audit/audit-log.ts";
import { Automations } from "./automations/automations.ts";
import { Hooks } from "./automations/hooks.ts";
import { OwnSchedules } from "./automations/own-schedules.ts";
import { Scheduler } from "./automations/scheduler.ts";
import { Backups } from "./backup/backups.ts";
import { BackupStaging } from "./backup/staging.ts";
import { Billing } from "./billing/billing.ts";
import { LedgerStore } from "./billing/ledger-store.ts";
import { Commands } from "./commands/commands.ts";
import { CommandEnds } from "./commands/ends.ts";
import { ServiceAddress } from "./config/address.ts";
import type { Config } from "./config/config.ts";
import { Conversations } from "./conversations/conversations.ts";
import { ping as pingDatabase } from "./core/database/database.ts";
import { DiskReserve } from "./core/disk-reserve.ts";
import { Idempotency } from "./core/http/idempotency.ts";
import { Streams } from "./core/http/streams.ts";
import { RequestsUnderWay } from "./core/http/under-way.ts";
import { AgentEgress } from "./egress/agent-egress.ts";
import { openEgress } from "./egress/open.ts";
import { AccountEvents } from "./events/account-events.ts";
import { Files } from "./files/files.ts";
import { Foundation, type Overrides, openFoundation } from "./foundation.ts";
import { Orphans } from "./hosts/orphans.ts";
import { Passing } from "./hosts/passing/passing.ts";
import { checkReadiness, type Readiness } from "./hosts/readiness.ts";
import { ServerSeal } from "./hosts/server-seal.ts";
import { openCertificateFiles } from "./https/certificate-files.ts";
import type { CertificateSource } from "./https/certificate-source.ts";
import { openRedirect } from "./https/redirect-listener.ts";
import { SecureListener } from "./https/secure-listener.ts";
import { GuestLeases } from "./lifecycle/guest-leases.ts";
import { HungGuests } from "./lifecycle/hung-guests.ts";
import { Idleness } from "./lifecycle/idleness.ts";
import { Lifecycle, openSlots } from "./lifecycle/lifecycle.ts";
import { Reconciler } from "./lifecycle/reconciler.ts";
import { Spares } from "./lifecycle/spares.ts";
import { suspendAtStop } from "./lifecycle/stop-suspension.ts";
import { openMachines } from "./machines/open.ts";
import { ModelAccess } from "./models/access.ts";
import { ModelChoice } from "./models/choice.ts";
import { Prices } from "./models/prices.ts";
import { Notifier } from "./notifications/notifier.ts";
import { Profiles } from "./notifications/profiles.ts";
import { openOutbound } from "./outbound/open.ts";
import { Ports } from "./ports/ports.ts";
import { PreviewHosts } from "./previews/hosts.ts";
import { Previews } from "./previews/previews.ts";
import { Shares } from "./previews/shares.ts";
import { TaskNotifications } from "./protocols/a2a/notifications.ts";
import { CarriedOperations } from "./protocols/carried-operations.ts";
import { OtherAgentsServer } from "./protocols/mcp/other-agents.ts";
import { OpenAiConversations } from "./protocols/openai/bound-conversations.ts";
import { ClientChats } from "./protocols/openai/chats.ts";
import { OpenAiFiles } from "./protocols/openai/openai-files.ts";
import { Responses } from "./protocols/openai/stored-responses.ts";
import { ProviderDirectory } from "./providers/directory.ts";
import { ProviderLogins } from "./providers/logins.ts";
import { ProviderAccounts } from "./providers/provider-accounts.ts";
import { Push } from "./push/push.ts";
import { UnansweredFunctions } from "./queue/unanswered-functions.ts";
import { SearchIndexer } from "./search/indexer.ts";
import { Search } from "./search/search.ts";
import { SecretLogins } from "./secrets/logins.ts";
import { Placeholders } from "./secrets/placeholders.ts";
import { Secrets } from "./secrets/secrets.ts";
import { Vault } from "./secrets/vault.ts";
import { DashboardSessions } from "./sign-in/dashboard-sessions.ts";
import { openLocalSignIn, webProvider } from "./sign-in/open.ts";
import { Skills } from "./skills/skills.ts";
import { Forks } from "./snapshots/forks.ts";
import { Snapshots } from "./snapshots/snapshots.ts";
import { SshAuthority } from "./ssh/authority.ts";
import { Ssh } from "./ssh/ssh.ts";
import { Metrics } from "./telemetry/metrics.ts";
import { Asking } from "./turns/asking.ts";
import { Outputs } from "./turns/output.ts";
import { RunningTurns } from "./turns/running-turns.ts";
import { Steering } from "./turns/steering.ts";
import { Turns } from "./turns/turns.ts";
import { startBackground } from "./upkeep/background.ts";
import { Uploads } from "./uploads/uploads.ts";
import { Deliverer } from "./webhooks/deliverer.ts";
import { Webhooks } from "./webhooks/webhooks.ts";
import { DeletedWorkspaces } from "./workspaces/deleted.ts";
import { Workspaces } from "./workspaces/workspaces.ts";

const databaseTimeoutMs = 3_000;
/** It ends on time itself. */
const suspensionGraceMs = 1_000;

/**
 * All parts of a server, in the order in which they are made. A part gets the context and uses the others when it works;
 * its constructor uses those above it only.
 */
export class AppContext extends Foundation {
  readonly address = new ServiceAddress(this.config.publicUrl);
  /** Null: the service speaks HTTP only. */
  readonly secure = this.config.https && new SecureListener(this.config.https, this.logger);
  /** Null: the certificate is in files, or there is none. */
  readonly acme = this.config.https?.acme ? new Acme(this, this.config.https.acme, this.secure!) : null;
  /** Where the certificate is from; null without HTTPS. */
  readonly certificates: CertificateSource | null = this.acme ?? openCertificateFiles(this);
  readonly tlsAlpn = openTlsAlpn(this);
  readonly redirect = openRedirect(this);
  readonly metrics = new Metrics(this.config.serverName, this.version);
  readonly ledger = new LedgerStore(this.database, this.log);
  readonly reserve = new DiskReserve(this.config.dataFolder, this.config.diskReserveBytes);
  /** The built-in identity provider; null if another is configured. */
  readonly signIn = this.config.oidc ? null : openLocalSignIn(this);
  readonly webProvider = webProvider(this);
  readonly sshAuthority = new SshAuthority(this.secretKey);
  /** Archives that were received, until their agents have their files. */
  readonly archives = new ImportFolders(this.config.dataFolder, this.reserve);
  readonly backupFiles = new BackupStaging(this.config.dataFolder);

  /** The host's leader; null if no other server can lead: the database is in the data folder. */
  readonly leadership = this.config.databaseUrl === null ? null : this.sharing.openLeadership(this);
  /** Null: this server answers all requests itself. */
  readonly passing = this.leadership && new Passing(this.leadership, new ServerSeal(this.secretKey), this.metrics);

  readonly running = new RunningTurns();
  readonly egress = openEgress(this);
  readonly outbound = openOutbound(this, this.config.webhooksInside);
  /** Calls of workspaces' providers of models, whose answers agents read. */
  readonly providerOutbound = openOutbound(this, this.config.providersInside);
  readonly providerLogins = new ProviderLogins(this);
  /** Reads of skills from git. */
  readonly skillOutbound = openOutbound(this, this.config.skillsInside);
  readonly providers = new ProviderDirectory(this);
  readonly prices = new Prices(this.config.prices, this.config.allowUnpriced);
  readonly models = new ModelChoice(this);
  readonly modelAccess = new ModelAccess(this);
  readonly machines = openMachines(this);
  /** The slots of the machines that run. */
  readonly slots = openSlots(this);
  /** Machines that wait for new agents. */
  readonly spares = new Spares(this);
  readonly reconciler = new Reconciler(this);
  /** Finds idle agents and suspends them. */
  readonly idleness = new Idleness(this);
  /** Ends machines whose guest hangs. */
  readonly hungGuests = new HungGuests(this);
  readonly lifecycle = new Lifecycle(this);
  readonly leases = new GuestLeases(this);

  readonly agents = new Agents(this);
  readonly uploads = new Uploads(this.stores.uploads);
  readonly outputs = new Outputs();
  readonly approvals = new Approvals(this);
  readonly conversations = new Conversations(this);
  readonly searchIndexer = new SearchIndexer(this);
  readonly search = new Search(this);
  readonly turns = new Turns(this);
  readonly unansweredFunctions = new UnansweredFunctions(this);
  readonly asking = new Asking(this);
  readonly steering = new Steering(this);
  readonly otherAgents = new OtherAgentsServer(this);
  readonly snapshots = new Snapshots(this);
  readonly forks = new Forks(this);
  readonly automations = new Automations(this);
  readonly hooks = new Hooks(this);
  readonly scheduler = new Scheduler(this);
  readonly webhooks = new Webhooks(this);
  readonly push = new Push(this);
  readonly profiles = new Profiles(this);
  readonly notifier = new Notifier(this);
  readonly deliverer = new Deliverer(this);
  readonly taskNotifications = new TaskNotifications(this);
  readonly ownSchedules = new OwnSchedules(this);
  readonly exports = new Exports(this);
  readonly imports = new Imports(this);
  readonly files = new Files(this.leases, this.stores.authors);
  readonly commands = new Commands(this.leases, this.stores.authors, this.stores.commands);
  readonly commandEnds = new CommandEnds(this);
  readonly ports = new Ports(this.leases);
  readonly ssh = new Ssh(this.leases, this.sshAuthority);
  readonly placeholders = new Placeholders(this);
  readonly secrets = new Secrets(this);
  readonly providerAccounts = new ProviderAccounts(this);
  readonly secretLogins = new SecretLogins(this);
  readonly vault = new Vault(this);
  readonly skills = new Skills(this);
  readonly agentEgress = new AgentEgress(this);
  readonly openAiConversations = new OpenAiConversations(
    this.stores.openAiConversations,
    this.stores.conversations,
    this.stores.pastTurns,
  );
  readonly openAiFiles = new OpenAiFiles(this.stores.openAiFiles);
  readonly chats = new ClientChats(this.stores.chats, this.stores.pastTurns);
  readonly responses = new Responses(this.stores.responses, this.turns, this.uploads);
  readonly events = new AccountEvents(this.stores.accountEvents, this.log);

  readonly principals = new Principals(this);
  readonly users = new Users(this);
  readonly workspaces = new Workspaces(this);
  readonly deletedWorkspaces = new DeletedWorkspaces(this);
  readonly keys = new Keys(this);
  readonly programs = new Programs(this.signIn && this.stores.programs);
  readonly dashboardSessions = new DashboardSessions(this);
  readonly tickets = new Tickets(this.stores.tickets, this.principals);
  readonly shares = new Shares(this.stores.shares);
  readonly previews = new Previews(this);
  readonly previewHosts = new PreviewHosts(this.config.previewDomain, this.address);
  readonly billing = new Billing(this);

  readonly orphans = new Orphans(this);
  readonly backups = new Backups(this);
  /** The event streams that are open at this server. */
  readonly streams = new Streams(this.config, this.principals, this.stores.agents);
  readonly requests = new RequestsUnderWay();
  readonly audit = new AuditLog(this.stores.audit);
  /** Operations within requests of other protocols. */
  readonly operations = new CarriedOperations(this);
  readonly idempotency = new Idempotency(this.stores.idempotency, this.streams);

  readonly #leading = new AsyncDisposableStack();

  /** Rejects when the data folder or the database cannot be had. `cleanup` closes what is open. */
  static async open(config: Config, overrides: Overrides, cleanup: AsyncDisposableStack): Promise<AppContext> {
    const context = new AppContext(await openFoundation(config, overrides, cleanup));
    const { stops, ledger, secretLogins } = context;
    cleanup.defer(stops.of("ledger", () => ledger.close()));
    cleanup.defer(stops.of("connections for sign-ins", () => secretLogins.close()));
    cleanup.defer(() => context.endLeading());
    context.#deferStops();
    await ledger.sweep();
    return context;
  }

  /** Whether this server leads its host's agents. */
  get leads(): boolean {
    return this.leadership?.leads ?? true;
  }

  /** The term in which this server leads; 0 if it is the only one. */
  get epoch(): number {
    return this.leadership?.term?.epoch ?? 0;
  }

  /** The machines are the leader's: a server that stands by needs none. */
  readiness(): Promise<Readiness> {
    const requireDriver = async () => (this.leads ? this.machines.driver() : null);
    const ping = () => pingDatabase(this.database, databaseTimeoutMs);
    return checkReadiness(ping, requireDriver, this.certificates?.status ?? null);
  }

  /** Removes what the leader before left half made. Nothing may be received meanwhile. */
  async prepareToLead(): Promise<void> {
    await this.stores.lifecycle.claim();
    await Promise.all([this.archives.removeHalfReceived(), this.backupFiles.removeLeft()]);
  }

  /** Takes up the host's machines and turns where they are. */
  beginToLead(): void {
    this.#leading.use(startBackground(this));
  }

  /** Stops the parts that act on machines and turns, which only a host's leader runs. Machines and turns continue. */
  async endLeading(): Promise<void> {
    await this.#leading.disposeAsync();
  }

  /** They stop in the reverse order. */
  #deferStops(): void {
    const parts: [name: string, stop: () => unknown, withinMs?: number][] = [
      // After the requests that use their tokens.
      ["sign-ins to MCP servers", () => this.secretLogins.stop()],
      ["egress", () => this.egress.close()],
      ["model calls", () => this.modelAccess.close()],
      ["machines", () => this.machines.close()],
      ["agents' memories", () => suspendAtStop(this), this.config.stopSuspendMs + suspensionGraceMs],
      ["timers", () => this.timers.close()],
      ["agents' questions", () => this.otherAgents.close()],
      ["backups", () => this.backups.stop()],
      ["lifecycle", () => this.reconciler.stop()],
      ["spares", () => this.spares.stop()],
      ["search", () => this.searchIndexer.stop()],
      ["turns", () => this.turns.stop()],
      ["functions", () => this.unansweredFunctions.stop()],
      ["automations", () => this.scheduler.stop()],
      ["webhooks", () => this.deliverer.stop()],
      ["notifications", () => this.notifier.stop()],
      ["ends of commands", () => this.commandEnds.stop()],
      ["placeholders", () => this.placeholders.stop()],
      ["logins", () => this.providerLogins.stop()],
    ];
    for (const [name, stop, withinMs] of parts) this.#leading.defer(this.stops.of(name, stop, withinMs));
  }
}
