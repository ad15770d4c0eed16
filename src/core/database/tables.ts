import type { ColumnType, Generated, JSONColumnType } from "kysely";
import type { StoredAdmission } from "../../accounts/tickets.ts";
import type { DesiredState } from "../../agents/agent.ts";
import type { ImportDetail } from "../../archives/imports.ts";
import type { AutomationSource } from "../../automations/automation.ts";
import type { TokenCounts } from "../../billing/ledger.ts";
import type { UsageState } from "../../billing/usage.ts";
import type { AcmeConfig } from "../../config/config.ts";
import type {
  AgentStatus,
  Fault,
  ForkedFrom,
  ImportedFrom,
  InstallStep,
  QueueHeld,
  Resources,
} from "../../contract/agents.ts";
import type { Decision } from "../../contract/approval-fields.ts";
import type { FilterResult, Verdict } from "../../contract/automation-hooks.ts";
import type { Automation, AutomationRun, RunReason, RunStatus, Trigger } from "../../contract/automations.ts";
import type { EntryKind } from "../../contract/billing.ts";
import type { OnAsk, TurnEvent, TurnStatus } from "../../contract/chat.ts";
import type { EgressOutcome, EgressRefusal } from "../../contract/egress.ts";
import type { ClientFunction } from "../../contract/functions.ts";
import type { Credential } from "../../contract/keys.ts";
import type { AskedLimits } from "../../contract/limits.ts";
import type { McpServers } from "../../contract/mcp-servers.ts";
import type { ChannelFailures, ChannelName, Notify } from "../../contract/notifications.ts";
import type { OutputSchema } from "../../contract/output.ts";
import type { Permissions } from "../../contract/permissions.ts";
import type { Schedules } from "../../contract/schedules.ts";
import type { Attachment } from "../../contract/uploads.ts";
import type { DeliveryStatus, DisabledReason } from "../../contract/webhooks.ts";
import type { Role } from "../../contract/workspaces.ts";
import type { EventFacts, NotifiedEvent } from "../../notifications/events.ts";
import type { KeptItem } from "../../protocols/openai/conversation-items.ts";
import type { ResponseRequest } from "../../protocols/openai/stored-responses.ts";

/** The tables after all migrations. */
export interface Tables {
  accounts: {
    id: string;
    name: string;
    created_at: Generated<Date>;
    operator: Generated<boolean>;
    disabled_at: Date | null;
    deleted_at: Date | null;
    /** Null for a personal workspace. */
    name_key: string | null;
    /** Micro-credits, as bigints, which the driver returns as text. */
    balance: Generated<string>;
    held: Generated<string>;
    entries: Generated<string>;
    monthly_limit: string | null;
    month: Generated<Date | null>;
    month_spent: Generated<string>;
    /** In micro-credits, as text. */
    low_credits: string | null;
  };
  people: {
    id: string;
    issuer: string;
    subject: string;
    /** The personal workspace. */
    account_id: string;
    name: string;
    email: string | null;
    email_verified: Generated<boolean>;
    time_zone: string | null;
    disabled_at: Date | null;
    tokens_from: Date | null;
    created_at: Generated<Date>;
    last_seen_at: Date | null;
  };
  push_subscriptions: {
    id: string;
    person_id: string;
    endpoint: string;
    p256dh: string;
    auth: string;
    server_key: string;
    name: string | null;
    created_at: Generated<Date>;
    sent_at: Date | null;
    error: string | null;
  };
  /** How people are notified. */
  profiles: {
    person_id: string;
    email: string | null;
    pending_email: string | null;
    pending_token_hash: Buffer | null;
    pending_until: Date | null;
    email_notifications: Generated<boolean>;
    time_zone: string | null;
    quiet_from: string | null;
    quiet_to: string | null;
    notify: Generated<Notify>;
    ntfy_url: string | null;
    ntfy_token: Buffer | null;
    failures: ColumnType<ChannelFailures, string | undefined, string>;
  };
  agent_notify: { person_id: string; account_id: string; agent_id: string; notify: Notify };
  memberships: { person_id: string; account_id: string; role: Role; created_at: Generated<Date> };
  invitations: {
    id: string;
    account_id: string;
    token_hash: Buffer;
    role: Role;
    email: string | null;
    person_id: string | null;
    created_at: Generated<Date>;
    expires_at: Date;
    accepted_at: Date | null;
    revoked_at: Date | null;
  };
  api_keys: {
    id: string;
    account_id: string;
    /** Its maker; null: the operator's first key, and older keys of the operator. */
    person_id: string | null;
    role: Generated<Role>;
    name: string | null;
    kind: "full" | "agent";
    prefix: string;
    hash: Buffer;
    /** A bigint, which comes as text. */
    credit_limit: string | null;
    spent: Generated<string>;
    held: Generated<string>;
    last_used_at: Date | null;
    created_at: Generated<Date>;
    expires_at: Date | null;
    revoked_at: Date | null;
  };
  rate_limits: { key: string; points: number; expire: string | null };
  key_agents: { key_id: string; agent_id: string };
  idempotency_keys: {
    owner: string;
    account_id: string;
    key_id: string | null;
    /** Null for a key. */
    person_id: string | null;
    key: string;
    fingerprint: Buffer;
    resource_id: string;
    leased_until: Date;
    status: number | null;
    headers: JSONColumnType<Record<string, string>> | null;
    body: Buffer | null;
    created_at: Generated<Date>;
  };
  audit_entries: {
    id: string;
    account_id: string;
    at: Date;
    credential: Credential | null;
    key_id: string | null;
    person_id: string | null;
    address: string;
    operation: string;
    agent_id: string | null;
    agent_name: string | null;
    resource: string | null;
    status: number;
    code: string | null;
    request_id: string;
  };
  agents: {
    id: string;
    account_id: string;
    name: string;
    runtime: string;
    model: string | null;
    instructions: string | null;
    mcp_servers: ColumnType<McpServers, string | undefined, string>;
    agents: ColumnType<string[], string | undefined, string>;
    auto_snapshot: Generated<number>;
    permissions: ColumnType<Permissions, string | undefined, string>;
    schedules: JSONColumnType<Schedules> | null;
    max_credits: string | null;
    max_minutes: number | null;
    max_tool_calls: number | null;
    retold: string | null;
    conversation: Generated<number>;
    last_conversation: Generated<number>;
    resources: JSONColumnType<Resources>;
    image: string | null;
    /** The id of the data folder with its machine. */
    host: string | null;
    /** Its maker; null: unknown, or a key without a maker. */
    person_id: string | null;
    private: Generated<boolean>;
    has_machine: Generated<boolean>;
    desired: DesiredState;
    status: AgentStatus;
    generation: Generated<number>;
    restores: Generated<number>;
    snapshot: string | null;
    forked_from: JSONColumnType<ForkedFrom> | null;
    imported: JSONColumnType<ImportedFrom> | null;
    /** Large, so no look-up reads it (`agentColumns` of `agents.ts`). */
    import_detail: JSONColumnType<ImportDetail> | null;
    importing: Generated<boolean>;
    restarts: Generated<number>;
    error: JSONColumnType<Fault> | null;
    install_steps: JSONColumnType<InstallStep[]>;
    queue_length: Generated<number>;
    queue_held: QueueHeld;
    created_at: Generated<Date>;
    last_active_at: Generated<Date>;
    metered_until: Generated<Date | null>;
    /** A bigint, which comes as text; in micro-credits. */
    machine_price: Generated<string>;
  };
  /** Names that are hidden from others than `person_id`, in a period. */
  private_names: {
    agent_id: string;
    account_id: string;
    name: string;
    person_id: string | null;
    since: Date;
    until: Date | null;
  };
  /** Requests that have started a restart, a rollback or a conversation. */
  begun_requests: {
    id: string;
    agent_id: string;
    at: Generated<Date>;
  };
  /** Written only by functions of the database. */
  credit_entries: {
    account_id: string;
    number: string;
    at: Date;
    kind: EntryKind;
    amount: string;
    balance_after: string;
    agent_id: string | null;
    agent_name: string | null;
    turn_id: string | null;
    key_id: string | null;
    model: string | null;
    tokens: JSONColumnType<TokenCounts> | null;
    seconds: string | null;
    memory_mib: number | null;
    note: string | null;
    reference: string | null;
  };
  credit_holds: {
    id: string;
    account_id: string;
    key_id: string | null;
    agent_id: string;
    agent_name: string;
    turn_id: string | null;
    model: string;
    amount: string;
    leased_until: Date;
  };
  turns: {
    id: string;
    agent_id: string;
    key_id: string | null;
    person_id: string | null;
    conversation: number;
    names_conversation: Generated<boolean>;
    message: string;
    instructions: string | null;
    functions: JSONColumnType<ClientFunction[]> | null;
    model: string | null;
    status: TurnStatus;
    usage: JSONColumnType<UsageState>;
    asked_by: string | null;
    undone: Generated<boolean>;
    first_turn: string | null;
    depth: number | null;
    created_at: Generated<Date>;
    finished_at: Date | null;
    on_ask: Generated<OnAsk>;
    limits: JSONColumnType<AskedLimits> | null;
    output_schema: JSONColumnType<OutputSchema> | null;
    waiting: Generated<boolean>;
    place: number | null;
    interrupts: Generated<boolean>;
    queued_at: Date | null;
    attachments: ColumnType<Attachment[], string | undefined, string>;
    /** Measured by the clean-up, some time after the end. */
    bytes: Generated<string | null>;
  };
  uploads: {
    id: string;
    agent_id: string;
    key_id: string | null;
    person_id: string | null;
    name: string;
    media_type: string;
    /** A bigint, which the driver returns as text. */
    size: ColumnType<string, number, number>;
    sha256: Buffer | null;
    used: Generated<boolean>;
    created_at: Generated<Date>;
    expires_at: Date;
  };
  openai_files: {
    id: string;
    account_id: string;
    key_id: string | null;
    person_id: string | null;
    is_of_agent_key: boolean;
    name: string;
    media_type: string;
    purpose: string;
    /** A bigint, which the driver returns as text. */
    size: ColumnType<string, number, number>;
    created_at: Generated<Date>;
    expires_at: Date;
  };
  openai_file_chunks: { file_id: string; number: number; bytes: Buffer };
  upload_chunks: { upload_id: string; number: number; bytes: Buffer };
  search_texts: {
    turn_id: string;
    kind: "message" | "reply";
    agent_id: string;
    created_at: Date;
    text: string;
    /** A tsvector. */
    words: string;
  };
  search_queue: { turn_id: string; number: Generated<string> };
  conversations: {
    agent_id: string;
    number: number;
    title: string | null;
    runtime: string | null;
    retold: string | null;
    forked_from: string | null;
    beginning: string | null;
    key_id: string | null;
    person_id: string | null;
    request_id: string | null;
    created_at: Generated<Date>;
    last_turn_at: Date | null;
  };
  webhooks: {
    id: string;
    account_id: string;
    url: string;
    events: JSONColumnType<string[]> | null;
    agent_name: string | null;
    include: JSONColumnType<"content"[]>;
    secret: Buffer;
    old_secret: Buffer | null;
    old_secret_until: Date | null;
    disabled: Generated<boolean>;
    disabled_reason: JSONColumnType<DisabledReason> | null;
    /** A bigint, which comes as text. */
    dropped: Generated<string>;
    delivered_at: Date | null;
    /** Null: a webhook of the workspace. */
    turn_id: string | null;
    push_id: string | null;
    key_id: string | null;
    person_id: string | null;
    created_at: Generated<Date>;
  };
  notifications: {
    id: Generated<string>;
    number: Generated<string>;
    person_id: string;
    account_id: string;
    agent_id: string | null;
    event: JSONColumnType<EventFacts>;
    created_at: Generated<Date>;
    due_at: Generated<Date>;
    held: Generated<boolean>;
  };
  notification_sends: {
    id: Generated<string>;
    number: Generated<string>;
    person_id: string;
    channel: ChannelName;
    events: JSONColumnType<NotifiedEvent[]>;
    created_at: Generated<Date>;
    attempts: Generated<number>;
    next_try_at: Generated<Date>;
  };
  webhook_deliveries: {
    id: Generated<string>;
    number: Generated<string>;
    webhook_id: string;
    type: string;
    lane: string;
    data: JSONColumnType<Record<string, unknown>>;
    created_at: Generated<Date>;
    status: Generated<DeliveryStatus>;
    attempts: Generated<number>;
    next_try_at: Generated<Date>;
    attempted_at: Date | null;
    answer_status: number | null;
    error: string | null;
    finished_at: Date | null;
  };
  automations: {
    id: string;
    account_id: string;
    name: string;
    agent_id: string | null;
    agent_name: string;
    source: JSONColumnType<AutomationSource> | null;
    keep_hours: number;
    message: string;
    trigger: JSONColumnType<Trigger>;
    conversation: Automation["conversation"];
    overlap: Automation["overlap"];
    missed: Automation["missed"];
    max_credits: string | null;
    timeout_minutes: number;
    paused: boolean;
    pause_reason: JSONColumnType<RunReason> | null;
    next_base_at: Date | null;
    next_run_at: Date | null;
    scheduled_at: Generated<Date>;
    failures: Generated<number>;
    conversation_number: number | null;
    by_agent: Generated<boolean>;
    key_id: string | null;
    person_id: string | null;
    created_at: Generated<Date>;
    deleted_at: Date | null;
  };
  automation_runs: {
    id: string;
    automation_id: string;
    agent_id: string;
    source: JSONColumnType<AutomationSource> | null;
    trigger: AutomationRun["trigger"];
    status: RunStatus;
    reason: JSONColumnType<RunReason> | null;
    message: string;
    reply: Generated<string>;
    reply_truncated: Generated<boolean>;
    /** A bigint, which comes as text. */
    credits: string | null;
    agent_name: string | null;
    conversation: number | null;
    replaced: Generated<boolean>;
    due_at: Date;
    created_at: Generated<Date>;
    started_at: Date | null;
    finished_at: Date | null;
    deadline_at: Date;
    agent_until: Date | null;
  };
  automation_hooks: {
    automation_id: string;
    secret: Buffer;
    hint: string;
    earlier_secret: Buffer | null;
    earlier_until: Date | null;
    rotated_by: string | null;
  };
  automation_deliveries: {
    id: string;
    automation_id: string;
    verified: boolean;
    verdict: Verdict;
    reason: string | null;
    filter: JSONColumnType<FilterResult> | null;
    delivery_id: string | null;
    event: string | null;
    headers: JSONColumnType<Record<string, string>>;
    body: Buffer | null;
    body_bytes: number;
    run_id: string | null;
    created_at: Generated<Date>;
  };
  automation_delivery_ids: {
    automation_id: string;
    delivery_id: string;
    run_id: string;
    created_at: Generated<Date>;
  };
  approvals: {
    turn_id: string;
    id: string;
    seq: number;
    requested_at: Generated<Date>;
    expires_at: Date;
    decision: Decision | null;
    message: string | null;
    decided_at: Date | null;
    key_id: string | null;
    person_id: string | null;
  };
  snapshots: {
    id: string;
    agent_id: string;
    name: string;
    reason: string;
    runtime: string;
    conversation: number;
    retold: string | null;
    has_memory: boolean;
    bytes: number;
    turn_id: string | null;
    undone: string[];
    person_id: string | null;
    key_id: string | null;
    created_at: Generated<Date>;
  };
  retold_conversations: { id: string; text: string; created_at: Generated<Date> };
  responses: {
    id: string;
    turn_id: string;
    agent_id: string;
    after_seq: number;
    previous_id: string | null;
    request: JSONColumnType<ResponseRequest>;
    input: JSONColumnType<unknown[]>;
    created_at: Generated<Date>;
  };
  openai_conversations: {
    id: string;
    account_id: string;
    key_id: string | null;
    person_id: string | null;
    metadata: JSONColumnType<Record<string, string>>;
    items: JSONColumnType<KeptItem[]>;
    agent_id: string | null;
    conversation: number | null;
    created_at: Generated<Date>;
    used_at: Generated<Date>;
  };
  client_chats: {
    agent_id: string;
    conversation: number;
    key_id: string | null;
    person_id: string | null;
    chat: string | null;
    depth: number;
    digest: Buffer;
    used_at: Generated<Date>;
  };
  port_shares: {
    id: string;
    agent_id: string;
    port: number;
    secret_hash: Buffer;
    person_id: string | null;
    key_id: string | null;
    created_at: Generated<Date>;
    expires_at: Date | null;
  };
  dashboard_sessions: {
    id_hash: Buffer;
    account_id: string;
    tokens: Buffer;
    renewing_until: Date | null;
    created_at: Generated<Date>;
    expires_at: Date;
  };
  acme_accounts: { directory: string; key: Buffer; url: string | null; email: string | null };
  acme_certificates: {
    directory: string;
    name: string;
    pair: Buffer | null;
    failures: Generated<number>;
    error: string | null;
    next_order_at: Date | null;
    limited: Generated<boolean>;
    lease: string | null;
    leased_until: Date | null;
  };
  acme_challenges: {
    token: string;
    name: string;
    type: AcmeConfig["challenge"];
    key_authorization: string;
    expires_at: Date;
  };
  agent_secrets: {
    agent_id: string;
    name: string;
    hosts: JSONColumnType<string[]>;
    headers: JSONColumnType<string[]>;
    placeholder: string;
    value: Buffer;
    person_id: string | null;
    key_id: string | null;
    created_at: Generated<Date>;
    updated_at: Generated<Date>;
  };
  agent_authorities: { agent_id: string; certificate: string; key: Buffer };
  users: {
    id: string;
    account_id: string;
    name: string;
    name_key: string;
    password_hash: string | null;
    disabled_at: Date | null;
    created_at: Generated<Date>;
  };
  user_links: { token_hash: Buffer; user_id: string | null; expires_at: Date; used_at: Date | null };
  oidc_records: {
    model: string;
    id_hash: Buffer;
    payload: JSONColumnType<object>;
    account_id: string | null;
    grant_id: string | null;
    uid: string | null;
    user_code_hash: Buffer | null;
    consumed_at: Date | null;
    expires_at: Date | null;
  };
  provider_keys: {
    id: string;
    purpose: "tokens" | "cookies" | "push";
    value: JSONColumnType<object>;
    created_at: Generated<Date>;
    retires_at: Generated<Date | null>;
  };
  network_rules: {
    agent_id: string;
    allow: JSONColumnType<string[]>;
    deny: JSONColumnType<string[]>;
    ask: Generated<boolean>;
    person_id: string | null;
    key_id: string | null;
  };
  network_log: {
    id: string;
    agent_id: string;
    started_at: Date;
    finished_at: Date;
    reason: EgressRefusal | null;
    outcome: EgressOutcome | null;
    host: string;
    port: number | null;
    address: string | null;
    /** Bigints, which come as text. */
    bytes_sent: string;
    bytes_received: string;
    count: number;
  };
  machine_authors: {
    agent_id: string;
    kind: "command" | "file" | "message";
    ref: string;
    person_id: string | null;
    key_id: string | null;
    open: Generated<boolean>;
    created_at: Generated<Date>;
  };
  turn_diffs: { turn_id: string; diffs: JSONColumnType<(string | null)[]> };
  turn_events: { turn_id: string; seq: number; event: JSONColumnType<TurnEvent> };
  host_leases: {
    host: string;
    server: string;
    url: string;
    /** A bigint, which comes as text. */
    epoch: Generated<string>;
    renewed_at: Generated<Date>;
    expires_at: Date;
  };
  tickets: { hash: string; admission: JSONColumnType<StoredAdmission>; expires_at: Date };
  hosts: { id: string; known_since: Generated<Date> };
  removals: { id: string; removed_at: Generated<Date> };
  accepted_orphans: { id: string; accepted_at: Generated<Date> };
}
