// Generated from docs/openapi.json by scripts/client-types.ts. Do not edit.
export type ClientOptions = {
    baseUrl: `${string}://${string}` | (string & {});
};

export type Webhooks = PostTurnCompletedWebhookRequest | PostTurnFailedWebhookRequest | PostTurnCancelledWebhookRequest | PostTurnWaitingWebhookRequest | PostTurnHeldWebhookRequest | PostAgentReadyWebhookRequest | PostAgentFailedWebhookRequest | PostAgentSuspendedWebhookRequest | PostAgentDeletedWebhookRequest | PostCommandExitedWebhookRequest | PostAutomationPausedWebhookRequest | PostRunCompletedWebhookRequest | PostRunFailedWebhookRequest | PostCreditsLowWebhookRequest | PostCreditsExhaustedWebhookRequest | PostNetworkRefusedWebhookRequest | PostSnapshotCreatedWebhookRequest | PostSecretCreatedWebhookRequest | PostSecretChangedWebhookRequest | PostSecretDeletedWebhookRequest | PostSecretLoginFailedWebhookRequest | PostSkillCreatedWebhookRequest | PostSkillChangedWebhookRequest | PostSkillDeletedWebhookRequest | PostProviderLoginFailedWebhookRequest | PostWebhookTestWebhookRequest;

export type Account = {
    id: string;
    name: string;
    /**
     * Whether the caller administers the installation.
     */
    operator: boolean;
    /**
     * The kind of credential: a key, or a token of the identity provider.
     */
    credential: 'full' | 'token';
};

export type AccountConnection = {
    id: string;
    startedAt: string;
    finishedAt: string;
    verdict: 'allowed' | 'refused';
    /**
     * The reason of a refusal.
     */
    reason: 'destination_invalid' | 'inside' | 'port_refused' | 'denied_by_operator' | 'not_allowed_by_operator' | 'denied' | 'not_allowed' | 'asked' | 'too_many' | null;
    /**
     * The outcome of an allowed connection.
     */
    outcome: 'closed' | 'reset' | 'unresolved' | 'unreachable' | 'timeout' | 'idle' | 'cut' | null;
    /**
     * As requested; `*` for refusals of many hosts together.
     */
    host: string;
    port: number | null;
    /**
     * The IP address of the destination.
     */
    address: string | null;
    /**
     * Bytes sent by the agent.
     */
    bytesSent: number;
    /**
     * Bytes received by the agent.
     */
    bytesReceived: number;
    /**
     * The number of connections; more than one for grouped refusals.
     */
    count: number;
    /**
     * The agent's name.
     */
    agent: string;
};

/**
 * As NetworkLog, for all the account's agents.
 */
export type AccountConnectionList = {
    data: Array<AccountConnection>;
    nextCursor: string | null;
};

export type AccountCredits = {
    accountId: string;
    name: string;
    balance: string;
    held: string;
    spentThisMonth: string;
    monthlyLimit: string | null;
};

/**
 * All accounts, oldest first.
 */
export type AccountCreditsList = {
    data: Array<AccountCredits>;
    nextCursor: string | null;
};

export type AccountEvent = {
    type: 'events.opened';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
} | {
    type: 'events.dropped';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
} | {
    type: 'agent.created';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    /**
     * The agent's name.
     */
    agent: string;
    runtime: string;
    model: string | null;
    /**
     * The state of the agent's machine.
     */
    status: 'provisioning' | 'ready' | 'suspended' | 'failed' | 'deleting';
    /**
     * The requested state of the agent: `running` while it is `suspended` is a wake.
     */
    desired: 'running' | 'suspended' | 'deleted';
    conversation: number;
    error: Fault | null;
} | {
    type: 'agent.changed';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    /**
     * The agent's name.
     */
    agent: string;
    runtime: string;
    model: string | null;
    /**
     * The state of the agent's machine.
     */
    status: 'provisioning' | 'ready' | 'suspended' | 'failed' | 'deleting';
    /**
     * The requested state of the agent: `running` while it is `suspended` is a wake.
     */
    desired: 'running' | 'suspended' | 'deleted';
    conversation: number;
    error: Fault | null;
} | {
    type: 'agent.deleted';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    /**
     * The agent's name.
     */
    agent: string;
} | {
    type: 'turn.started';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    /**
     * The agent's name.
     */
    agent: string;
    turnId: string;
    /**
     * The first 200 characters.
     */
    message: string;
} | {
    type: 'turn.ended';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    /**
     * The agent's name.
     */
    agent: string;
    turnId: string;
    status: 'completed' | 'failed' | 'cancelled';
    /**
     * Set when the status is `failed`.
     */
    error: Fault | null;
} | {
    type: 'conversation.created';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    /**
     * The agent's name.
     */
    agent: string;
    conversation: number;
    title: string | null;
} | {
    type: 'conversation.changed';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    /**
     * The agent's name.
     */
    agent: string;
    conversation: number;
    title: string | null;
} | {
    type: 'conversation.deleted';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    /**
     * The agent's name.
     */
    agent: string;
    conversation: number;
} | {
    type: 'approval.requested';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    /**
     * The agent's name.
     */
    agent: string;
    turnId: string;
    approvalId: string;
} | {
    type: 'approval.answered';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    /**
     * The agent's name.
     */
    agent: string;
    turnId: string;
    approvalId: string;
    decision: 'allow' | 'allow-always' | 'deny';
} | {
    type: 'run.completed';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    /**
     * The automation's name.
     */
    automation: string;
    /**
     * The agent's name.
     */
    agent: string;
    runId: string;
    turnId: string | null;
} | {
    type: 'run.failed';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    /**
     * The automation's name.
     */
    automation: string;
    /**
     * The agent's name.
     */
    agent: string;
    runId: string;
    turnId: string | null;
    reason: RunReason;
} | {
    type: 'automation.paused';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    /**
     * The automation's name.
     */
    automation: string;
    /**
     * The agent's name.
     */
    agent: string;
    /**
     * Why it paused itself. Null: a person paused it.
     */
    reason: RunReason | null;
} | {
    type: 'turn.held';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    /**
     * The agent's name.
     */
    agent: string;
    /**
     * The first turn that waits.
     */
    turnId: string | null;
    /**
     * How the turn before it ended.
     */
    reason: 'cancelled' | 'failed';
} | {
    type: 'command.exited';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    /**
     * The agent's name.
     */
    agent: string;
    commandId: string;
    exitCode: number | null;
    /**
     * The signal that ended it, such as `SIGKILL`.
     */
    signal: string | null;
    timedOut: boolean;
    /**
     * Its machine or its supervisor stopped before the command ended.
     */
    lost: boolean;
} | {
    type: 'snapshot.created';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    /**
     * The agent's name.
     */
    agent: string;
    snapshotId: string;
    name: string;
} | {
    type: 'credits.low';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    balance: string;
} | {
    type: 'credits.exhausted';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    balance: string;
} | {
    type: 'webhook.disabled';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    webhookId: string;
    /**
     * Why the server disabled it. Null: a person did.
     */
    reason: WebhookDisabledReason | null;
} | {
    type: 'provider.created';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    /**
     * The provider's name.
     */
    provider: string;
    kind: 'anthropic' | 'openai' | 'openai-compatible' | 'google' | 'azure' | 'bedrock' | 'vertex' | 'claude' | 'chatgpt';
    /**
     * The person that it is for, to whom alone this is reported.
     */
    ownerId?: string;
} | {
    type: 'provider.changed';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    /**
     * The provider's name.
     */
    provider: string;
    kind: 'anthropic' | 'openai' | 'openai-compatible' | 'google' | 'azure' | 'bedrock' | 'vertex' | 'claude' | 'chatgpt';
    /**
     * The person that it is for, to whom alone this is reported.
     */
    ownerId?: string;
} | {
    type: 'provider.deleted';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    /**
     * The provider's name.
     */
    provider: string;
    kind: 'anthropic' | 'openai' | 'openai-compatible' | 'google' | 'azure' | 'bedrock' | 'vertex' | 'claude' | 'chatgpt';
    /**
     * The person that it is for, to whom alone this is reported.
     */
    ownerId?: string;
} | {
    type: 'provider.login_started';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    /**
     * The provider's name.
     */
    provider: string;
    kind: 'anthropic' | 'openai' | 'openai-compatible' | 'google' | 'azure' | 'bedrock' | 'vertex' | 'claude' | 'chatgpt';
    /**
     * The person that it is for, to whom alone this is reported.
     */
    ownerId?: string;
} | {
    type: 'provider.login_connected';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    /**
     * The provider's name.
     */
    provider: string;
    kind: 'anthropic' | 'openai' | 'openai-compatible' | 'google' | 'azure' | 'bedrock' | 'vertex' | 'claude' | 'chatgpt';
    /**
     * The person that it is for, to whom alone this is reported.
     */
    ownerId?: string;
} | {
    type: 'provider.login_failed';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    /**
     * The provider's name.
     */
    provider: string;
    kind: 'anthropic' | 'openai' | 'openai-compatible' | 'google' | 'azure' | 'bedrock' | 'vertex' | 'claude' | 'chatgpt';
    /**
     * The person that it is for, to whom alone this is reported.
     */
    ownerId?: string;
    reason: string | null;
} | {
    type: 'queue.changed';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    /**
     * The agent's name.
     */
    agent: string;
    /**
     * The number of messages that wait.
     */
    length: number;
    /**
     * Why the queue does not continue: how the turn before it ended. Null: the next message begins when the agent has answered.
     */
    held: 'cancelled' | 'failed' | null;
} | {
    type: 'credits.changed';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    balance: string;
} | {
    type: 'host.refused';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    /**
     * The agent's name.
     */
    agent: string;
    /**
     * `*` for a group of refused hosts.
     */
    host: string;
    port: number | null;
    reason: 'destination_invalid' | 'inside' | 'port_refused' | 'denied_by_operator' | 'not_allowed_by_operator' | 'denied' | 'not_allowed' | 'asked' | 'too_many';
    /**
     * The number of connections.
     */
    count: number;
} | {
    type: 'secret.created';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    /**
     * The name of a secret of the workspace.
     */
    secret: string;
} | {
    type: 'secret.changed';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    /**
     * The name of a secret of the workspace.
     */
    secret: string;
} | {
    type: 'secret.deleted';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    /**
     * The name of a secret of the workspace.
     */
    secret: string;
} | {
    type: 'secret.login_connected';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    /**
     * The name of a secret of the workspace.
     */
    secret: string;
    url: string;
} | {
    type: 'secret.login_failed';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    /**
     * The name of a secret of the workspace.
     */
    secret: string;
    url: string;
    reason: string | null;
} | {
    type: 'skill.created';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    /**
     * The name of a skill of the workspace.
     */
    skill: string;
} | {
    type: 'skill.changed';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    /**
     * The name of a skill of the workspace.
     */
    skill: string;
} | {
    type: 'skill.deleted';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    /**
     * The name of a skill of the workspace.
     */
    skill: string;
} | {
    type: 'key.created';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    keyId: string;
    name: string | null;
    kind: 'full' | 'agent';
} | {
    type: 'key.revoked';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    keyId: string;
    name: string | null;
    kind: 'full' | 'agent';
} | {
    type: 'member.joined';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    personId: string;
    name: string;
    role: Role;
} | {
    type: 'member.changed';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    personId: string;
    name: string;
    role: Role;
} | {
    type: 'member.removed';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    personId: string;
    name: string;
    role: Role;
} | {
    type: 'invitation.created';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    invitationId: string;
    role: Role;
    /**
     * The address that it is for; null: anyone.
     */
    email: string | null;
} | {
    type: 'invitation.accepted';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    invitationId: string;
    role: Role;
    /**
     * The address that it is for; null: anyone.
     */
    email: string | null;
} | {
    type: 'invitation.revoked';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    invitationId: string;
    role: Role;
    /**
     * The address that it is for; null: anyone.
     */
    email: string | null;
} | {
    type: 'inbox.changed';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    ownerId: string;
} | {
    type: 'workspace.renamed';
    /**
     * The event's position in the stream, for resuming later. It increases, with gaps.
     */
    id: number;
    at: string;
    name: string;
};

/**
 * Turns of all the account's agents, newest first.
 */
export type AccountTurnList = {
    data: Array<TurnSummary>;
    nextCursor: string | null;
};

/**
 * For the runtime `acp`: the program in the machine that speaks the Agent Client Protocol on its standard input and output. Null with other runtimes.
 */
export type AcpProgram = {
    /**
     * A program's name or path in the machine.
     */
    command: string;
    /**
     * Its arguments.
     */
    args: Array<string>;
};

export type AddItems = {
    /**
     * Messages from before the first response; the agent gets them as an earlier conversation.
     */
    items: Array<{
        type?: 'message';
        role: 'user' | 'assistant' | 'system' | 'developer';
        content: string | Array<{
            type: string;
            [key: string]: unknown;
        }>;
        [key: string]: unknown;
    }>;
    [key: string]: unknown;
};

export type Agent = {
    name: string;
    /**
     * The person who made it. Null: unknown, or a key without a maker.
     */
    maker: {
        id: string;
        name: string;
    } | null;
    /**
     * The program that the agent is built on; `GET /runtimes` lists them.
     */
    runtime: string;
    /**
     * Null: the runtime's default.
     */
    model: string | null;
    /**
     * How much the model reasons before it answers. Where a model lacks the level, the nearest lower one that it has counts, else its lowest. Null: the runtime's or the model's default.
     */
    effort: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max' | null;
    instructions: string | null;
    acp: AcpProgram | null;
    mcpServers: McpServers;
    /**
     * The names of agents in the account that this agent may call as tools.
     */
    agents: Array<string>;
    /**
     * Up to 5 ids of models that answer, in order, where the agent's model is overloaded, limited or out of reach. Providers that speak another API than the call are left out. An empty list: none.
     */
    fallbackModels: Array<string>;
    /**
     * How many automatic snapshots to keep, one of the files before each turn, 0 to 20. 0 turns them off. The default is 5.
     */
    autoSnapshot: number;
    permissions: Permissions;
    /**
     * Whether the agent may schedule messages to itself, as a tool, and how many. Null, the default: it may not.
     */
    schedules: {
        /**
         * How many it may have at a time, 1 to 20.
         */
        max: number;
        /**
         * The minutes between two of its runs, at least 5.
         */
        everyMinutes: number;
        /**
         * The credits that the model calls of one run may cost.
         */
        maxCredits: string;
    } | null;
    /**
     * The credits that a turn's model calls may cost. Null: no limit.
     */
    maxCredits: string | null;
    /**
     * How many minutes a turn may run, 1 to 10080. The time that it waits for approvals does not count. Null: no limit.
     */
    maxMinutes: number | null;
    /**
     * How many tool calls a turn may make, 1 to 100000. Null: no limit.
     */
    maxToolCalls: number | null;
    /**
     * Whether only its maker sees and uses it.
     */
    private: boolean;
    /**
     * The state of the agent's machine.
     */
    status: 'provisioning' | 'ready' | 'suspended' | 'failed' | 'deleting';
    /**
     * ISO 8601 in UTC, with milliseconds.
     */
    createdAt: string;
    /**
     * ISO 8601 in UTC, with milliseconds.
     */
    lastActiveAt: string;
    /**
     * The number of its current conversation. A reset creates the next.
     */
    conversation: number;
    /**
     * Set when the status is `failed`.
     */
    error: Fault | null;
    /**
     * The fork's source. Null: the agent is not a fork, or its source is another person's private agent.
     */
    forkedFrom: {
        /**
         * The source agent's name at that time.
         */
        agent: string;
        /**
         * The source snapshot's name. Null: the agent's state at that time.
         */
        snapshot: string | null;
    } | null;
    /**
     * The import's source. Null: the agent was not imported.
     */
    importedFrom: {
        /**
         * The name of the agent that was exported.
         */
        agent: string;
        /**
         * ISO 8601 in UTC, with milliseconds.
         */
        exportedAt: string;
    } | null;
    /**
     * Its position in the queue for a slot; 1 is next. Null: it is not queued.
     */
    queuePosition: number | null;
    /**
     * The number of messages that wait until it has answered.
     */
    queueLength: number;
    queue: {
        /**
         * Why the queue does not continue: how the turn before it ended. Null: the next message begins when the agent has answered.
         */
        held: 'cancelled' | 'failed' | null;
    };
    resources: {
        cpus: number;
        memoryMiB: number;
        diskGiB: number;
    };
    /**
     * Null until the machine exists.
     */
    image: AgentImage | null;
};

export type AgentChanges = {
    created: number;
    changed: number;
    deleted: number;
    files: Array<{
        /**
         * The path, from the agent's home.
         */
        name: string;
        change: 'created' | 'changed' | 'deleted';
        /**
         * In bytes, after the turn; null for a deleted file.
         */
        size: number | null;
        /**
         * SHA-256 of the file after the turn, in hexadecimal; null for a deleted or a very large file.
         */
        hash: string | null;
        /**
         * The hunks of a unified diff over all the turns.
         */
        diff: string | null;
        /**
         * Why there is no diff. `no_diff`: a turn has none for the file. `changed_between`: the file was also changed between turns. `too_large`: the diffs exceed 1 MiB together.
         */
        reason: 'no_diff' | 'changed_between' | 'too_large' | null;
    }>;
    /**
     * Whether `files` lacks some of the files.
     */
    cut: boolean;
    /**
     * Changes by all programs and people during the turn are included, not only the agent's.
     */
    writers: 'all';
    /**
     * The turns' ids, oldest first.
     */
    turns: Array<string>;
    /**
     * Those of the turns whose changes are not known, or whose list of files is cut.
     */
    unknown: Array<string>;
};

/**
 * An agent was deleted.
 */
export type AgentDeletedEvent = {
    type: 'agent.deleted';
    /**
     * When it happened, also at later tries.
     */
    timestamp: string;
    data: {
        /**
         * The agent's name.
         */
        agent: string;
    };
};

/**
 * An agent failed. On /events: `agent.changed`.
 */
export type AgentFailedEvent = {
    type: 'agent.failed';
    /**
     * When it happened, also at later tries.
     */
    timestamp: string;
    data: {
        /**
         * The agent's name.
         */
        agent: string;
        /**
         * The error's code.
         */
        reason: string | null;
    };
};

export type AgentImage = {
    /**
     * The image that the agent's runtimes come from.
     */
    id: string;
    /**
     * Whether a newer image is available. An upgrade or a restart moves the agent to it.
     */
    upgradeAvailable: boolean;
};

/**
 * The caller's agents, by name.
 */
export type AgentList = {
    data: Array<Agent>;
    nextCursor: string | null;
};

export type AgentLog = {
    lines: Array<string>;
};

export type AgentNotify = {
    /**
     * The agent's name in its account, 3 to 30 characters: lowercase letters a-z, digits and hyphens, starting with a letter and not ending with a hyphen.
     */
    agent: string;
    notify: Notify;
};

/**
 * By the agent's name.
 */
export type AgentNotifyList = {
    data: Array<AgentNotify>;
    nextCursor: string | null;
};

/**
 * An agent's machine runs. On /events: `agent.changed`.
 */
export type AgentReadyEvent = {
    type: 'agent.ready';
    /**
     * When it happened, also at later tries.
     */
    timestamp: string;
    data: {
        /**
         * The agent's name.
         */
        agent: string;
    };
};

/**
 * An agent's machine was suspended. On /events: `agent.changed`.
 */
export type AgentSuspendedEvent = {
    type: 'agent.suspended';
    /**
     * When it happened, also at later tries.
     */
    timestamp: string;
    data: {
        /**
         * The agent's name.
         */
        agent: string;
    };
};

export type AguiRun = {
    threadId: string;
    runId: string;
    /**
     * The last message must be the user's: a text, or parts with texts and bytes.
     */
    messages: Array<{
        role: string;
        content?: unknown;
        [key: string]: unknown;
    }>;
    /**
     * Must be empty: an agent uses its own.
     */
    tools?: Array<unknown>;
    [key: string]: unknown;
};

export type AnswerApproval = {
    /**
     * `allow-always` also adds a rule to the agent's permissions that allows exactly this command, path, host or tool.
     */
    decision: 'allow' | 'allow-always' | 'deny';
    /**
     * A reason for the agent, for `deny`.
     */
    message?: string;
};

export type Approval = {
    id: string;
    /**
     * The agent's name.
     */
    agent: string;
    turnId: string;
    kind: 'read' | 'edit' | 'execute' | 'fetch' | 'mcp' | 'other';
    title: string;
    /**
     * The command, path, host or tool that rules are compared with; null: none.
     */
    subject: string | null;
    /**
     * The tool's name in the runtime.
     */
    tool: string | null;
    /**
     * The tool's input.
     */
    input: unknown;
    /**
     * The changes of files, where the runtime shows them; null: none, or more than 128 KiB.
     */
    diff: Array<Diff> | null;
    /**
     * `open`: the turn waits for the answer. `closed`: the turn ended without one.
     */
    status: 'open' | 'answered' | 'closed';
    decision: 'allow' | 'allow-always' | 'deny' | null;
    /**
     * The reason that the agent was given.
     */
    message: string | null;
    /**
     * Null: nobody, or it was denied because nobody answered in time.
     */
    decidedBy: Author | null;
    decidedAt: string | null;
    requestedAt: string;
    /**
     * When it is denied if nobody has answered.
     */
    expiresAt: string;
};

/**
 * Oldest first.
 */
export type ApprovalList = {
    data: Array<Approval>;
    nextCursor: string | null;
};

/**
 * Makes the turn end with a JSON object that matches the schema.
 */
export type AskedOutput = {
    /**
     * A JSON Schema whose `type` is `object`.
     */
    schema: {
        [key: string]: unknown;
    };
};

export type Attachment = {
    /**
     * The id of its upload, which is kept for seven days after the message.
     */
    id: string;
    kind: 'image' | 'file';
    name: string;
    mediaType: string;
    /**
     * In bytes.
     */
    size: number;
};

export type AuditEntry = {
    id: string;
    at: string;
    /**
     * The credential used; null for a sign-in.
     */
    credential: 'full' | 'agent' | 'token' | null;
    keyId: string | null;
    createdBy: Author | null;
    /**
     * The client's IP address, as seen by the service.
     */
    address: string;
    /**
     * Method and path, or the name of the action.
     */
    operation: string;
    /**
     * The agent's name.
     */
    agent: string | null;
    /**
     * Distinguishes agents that had the same name. Null: no agent.
     */
    agentId: string | null;
    /**
     * The name or id of what the request was about within the agent or the account, such as an automation, a key or a secret. Null: none, or the request was refused, or it concerns another person's private agent.
     */
    resource: string | null;
    /**
     * The response's HTTP status.
     */
    status: number;
    /**
     * The error code of a refusal.
     */
    code: string | null;
    /**
     * The response's `x-request-id`.
     */
    requestId: string;
};

/**
 * The account's audit log, newest first.
 */
export type AuditList = {
    data: Array<AuditEntry>;
    nextCursor: string | null;
};

/**
 * A signed-in person, a key, or an agent that asked another.
 */
export type Author = {
    kind: 'person' | 'key' | 'automation';
    /**
     * The id of the person, of the key, or of the agent that asked another.
     */
    id: string;
    /**
     * Its name; null: a key without a name, one that is gone, or a private agent.
     */
    name: string | null;
    /**
     * The person's name; for a key its maker's, for an agent that of whoever started it. Null: unknown.
     */
    person: string | null;
};

export type Automation = {
    name: string;
    /**
     * Null: with `from`, or it was deleted.
     */
    agent: string | null;
    from: ForkSource | null;
    message: string;
    trigger: {
        type: 'schedule';
        /**
         * Minute, hour, day of month, month, day of week. If both days are restricted, one of them has to match. Requires `timeZone`.
         */
        cron?: string;
        /**
         * A time zone of the IANA database.
         */
        timeZone?: string;
        /**
         * Seconds by which a run of `cron` may be late, 0 to 3600: each automation has its own delay. Less than the time between two runs. Default: 0.
         */
        jitter?: number;
        /**
         * The time of the only run, in place of `cron`.
         */
        at?: string;
    } | {
        type: 'hook';
        /**
         * How the sender proves the secret. `standard-webhooks`: a signature of [Standard Webhooks](https://www.standardwebhooks.com). `github`: `x-hub-signature-256`. `gitlab`: `x-gitlab-token`. `slack`: `x-slack-signature`. `bearer`: `authorization: Bearer SECRET`.
         */
        verify: 'standard-webhooks' | 'github' | 'gitlab' | 'slack' | 'bearer';
        /**
         * All have to match. Other deliveries start no run.
         */
        filters?: Array<HookFilter>;
    };
    /**
     * Null: its trigger is a schedule.
     */
    hook: AutomationHook | null;
    /**
     * `new`: each run has a conversation of its own. `continue`: all runs share one; with `from`, each run continues its source's.
     */
    conversation: 'new' | 'continue';
    /**
     * The treatment of a run that is due while an earlier one has not ended. `skip`: it is left out. `queue`: it waits, up to 10 of them. `cancel-previous`: the earlier one is cancelled.
     */
    overlap: 'skip' | 'queue' | 'cancel-previous';
    /**
     * The treatment of times at which no server ran. `once`: one run for those of the last 24 hours. `skip`: none.
     */
    missed: 'once' | 'skip';
    maxCredits: string | null;
    timeout: number;
    keep: number;
    paused: boolean;
    /**
     * Why it paused itself: `failures` or `agent_deleted`. Null: a person did, or it is not paused.
     */
    pausedReason: RunReason | null;
    /**
     * Null: it is paused, its last time has passed, or its trigger is a hook.
     */
    nextRunAt: string | null;
    lastRun: {
        id: string;
        /**
         * `skipped`: it never began. `replaced`: a later run cancelled it. Both count as no failure.
         */
        status: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled' | 'skipped' | 'replaced';
        /**
         * Null: it has not ended, or it completed.
         */
        reason: RunReason | null;
        /**
         * The time for which it was scheduled, or of the request.
         */
        dueAt: string;
        finishedAt: string | null;
    } | null;
    /**
     * Whether the agent made it. `createdBy` is then the author of the message that led to it.
     */
    byAgent: boolean;
    createdBy: Author | null;
    createdAt: string;
};

export type AutomationHook = {
    /**
     * The address for deliveries.
     */
    url: string;
    /**
     * The last four characters of the secret.
     */
    secretHint: string;
    /**
     * Until when the secret before the last rotation is valid, 24 hours after it. Null: there is none.
     */
    earlierSecretUntil: string | null;
};

/**
 * By name.
 */
export type AutomationList = {
    data: Array<Automation>;
    nextCursor: string | null;
};

/**
 * An automation was paused.
 */
export type AutomationPausedEvent = {
    type: 'automation.paused';
    /**
     * When it happened, also at later tries.
     */
    timestamp: string;
    data: {
        automation: string;
        /**
         * The agent's name.
         */
        agent: string;
        /**
         * Why it paused itself. Null: a person paused it.
         */
        reason: string | null;
    };
};

export type AutomationRun = {
    id: string;
    trigger: 'schedule' | 'manual' | 'hook';
    /**
     * `skipped`: it never began. `replaced`: a later run cancelled it. Both count as no failure.
     */
    status: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled' | 'skipped' | 'replaced';
    /**
     * Null: it has not ended, or it completed.
     */
    reason: RunReason | null;
    /**
     * The name of the agent that got the message. Null: none did.
     */
    agent: string | null;
    conversation: number | null;
    /**
     * Null: it has not begun.
     */
    turnId: string | null;
    message: string;
    /**
     * The reply's text, up to 64 KiB; empty until the run ends.
     */
    reply: string;
    replyTruncated: boolean;
    /**
     * The cost of its model calls; null where it is unknown.
     */
    credits: string | null;
    /**
     * The time for which it was scheduled, or of the request.
     */
    dueAt: string;
    /**
     * When the agent got the message.
     */
    startedAt: string | null;
    finishedAt: string | null;
    createdAt: string;
};

/**
 * Newest first. An automation keeps its last 100 runs.
 */
export type AutomationRunList = {
    data: Array<AutomationRun>;
    nextCursor: string | null;
};

export type AutomationWithSecret = {
    name: string;
    /**
     * Null: with `from`, or it was deleted.
     */
    agent: string | null;
    from: ForkSource | null;
    message: string;
    trigger: {
        type: 'schedule';
        /**
         * Minute, hour, day of month, month, day of week. If both days are restricted, one of them has to match. Requires `timeZone`.
         */
        cron?: string;
        /**
         * A time zone of the IANA database.
         */
        timeZone?: string;
        /**
         * Seconds by which a run of `cron` may be late, 0 to 3600: each automation has its own delay. Less than the time between two runs. Default: 0.
         */
        jitter?: number;
        /**
         * The time of the only run, in place of `cron`.
         */
        at?: string;
    } | {
        type: 'hook';
        /**
         * How the sender proves the secret. `standard-webhooks`: a signature of [Standard Webhooks](https://www.standardwebhooks.com). `github`: `x-hub-signature-256`. `gitlab`: `x-gitlab-token`. `slack`: `x-slack-signature`. `bearer`: `authorization: Bearer SECRET`.
         */
        verify: 'standard-webhooks' | 'github' | 'gitlab' | 'slack' | 'bearer';
        /**
         * All have to match. Other deliveries start no run.
         */
        filters?: Array<HookFilter>;
    };
    /**
     * Null: its trigger is a schedule.
     */
    hook: AutomationHook | null;
    /**
     * `new`: each run has a conversation of its own. `continue`: all runs share one; with `from`, each run continues its source's.
     */
    conversation: 'new' | 'continue';
    /**
     * The treatment of a run that is due while an earlier one has not ended. `skip`: it is left out. `queue`: it waits, up to 10 of them. `cancel-previous`: the earlier one is cancelled.
     */
    overlap: 'skip' | 'queue' | 'cancel-previous';
    /**
     * The treatment of times at which no server ran. `once`: one run for those of the last 24 hours. `skip`: none.
     */
    missed: 'once' | 'skip';
    maxCredits: string | null;
    timeout: number;
    keep: number;
    paused: boolean;
    /**
     * Why it paused itself: `failures` or `agent_deleted`. Null: a person did, or it is not paused.
     */
    pausedReason: RunReason | null;
    /**
     * Null: it is paused, its last time has passed, or its trigger is a hook.
     */
    nextRunAt: string | null;
    lastRun: {
        id: string;
        /**
         * `skipped`: it never began. `replaced`: a later run cancelled it. Both count as no failure.
         */
        status: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled' | 'skipped' | 'replaced';
        /**
         * Null: it has not ended, or it completed.
         */
        reason: RunReason | null;
        /**
         * The time for which it was scheduled, or of the request.
         */
        dueAt: string;
        finishedAt: string | null;
    } | null;
    /**
     * Whether the agent made it. `createdBy` is then the author of the message that led to it.
     */
    byAgent: boolean;
    createdBy: Author | null;
    createdAt: string;
    /**
     * The secret of the hook, which later answers leave out. Null: its trigger is a schedule.
     */
    secret: string | null;
};

export type Backup = {
    id: string;
    createdAt: string;
    /**
     * The number of agents whose machines are included.
     */
    agents: number;
    /**
     * The download's maximum size.
     */
    bytes: number;
    /**
     * Agents whose records are included without their machines.
     */
    leftOut: Array<LeftOutOfBackup>;
};

/**
 * The account's credits. Model prices are in `GET /models`.
 */
export type Billing = {
    /**
     * Credits; one credit is one US cent.
     */
    balance: string;
    /**
     * The part of the balance reserved for running model calls.
     */
    held: string;
    /**
     * In the current calendar month, UTC.
     */
    spentThisMonth: string;
    /**
     * The monthly spending limit; null: only the balance limits spending.
     */
    monthlyLimit: string | null;
    /**
     * The balance at which the event `credits.low` is sent; null: none.
     */
    lowCredits: string | null;
    plan: 'prepaid';
    /**
     * Whether credits can be purchased: see `POST /billing/top-ups`.
     */
    canTopUp: boolean;
    prices: {
        machine: {
            /**
             * Price of one hour of a `ready` machine with 1 GiB of memory.
             */
            perGiBHour: string;
        };
    };
    /**
     * This month's usage, newest day first; up to 500 rows.
     */
    usage: Array<UsageByDay>;
};

/**
 * The host of the server that responds.
 */
export type Capacity = {
    /**
     * Running machines, and the maximum (`BERTH_MAX_AGENTS`).
     */
    machines: {
        used: number;
        limit: number;
    };
    /**
     * Memory of running machines, and the maximum (`BERTH_MEMORY_MIB`).
     */
    memoryMiB: {
        used: number;
        limit: number;
    };
    /**
     * Spares among the running machines, and the maximum (`BERTH_SPARES`).
     */
    spares: {
        used: number;
        limit: number;
        /**
         * Why there are fewer than the maximum.
         */
        reason: string | null;
    };
    /**
     * Agents queued for a slot, and the maximum (`BERTH_MAX_WAITING`).
     */
    queue: {
        used: number;
        limit: number;
    };
};

/**
 * Omitted settings do not change. A change applies from the next turn; the runtime cannot be changed while a turn is running.
 */
export type ChangeAgent = {
    /**
     * The new runtime. The machine reboots with it and the conversation's messages and replies are replayed to it. Files are kept.
     */
    runtime?: string;
    /**
     * A model id from `GET /models`. Null: the runtime's default.
     */
    model?: string | null;
    /**
     * How much the model reasons before it answers. Where a model lacks the level, the nearest lower one that it has counts, else its lowest. Null: the runtime's or the model's default.
     */
    effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max' | null;
    /**
     * Instructions for every turn, up to 64 KiB. Null or empty: none.
     */
    instructions?: string | null;
    /**
     * For the runtime `acp`: the program in the machine that speaks the Agent Client Protocol on its standard input and output. Null with other runtimes.
     */
    acp?: {
        /**
         * A program's name or path in the machine.
         */
        command: string;
        /**
         * Its arguments.
         */
        args?: Array<string>;
    } | null;
    /**
     * The complete list: other agents are removed from it.
     */
    mcpServers?: McpServers;
    /**
     * The complete list of up to 16 agents in the account that this agent may call, by name.
     */
    agents?: Array<string>;
    /**
     * Up to 5 ids of models that answer, in order, where the agent's model is overloaded, limited or out of reach. Providers that speak another API than the call are left out. An empty list: none.
     */
    fallbackModels?: Array<string>;
    /**
     * How many automatic snapshots to keep, one of the files before each turn, 0 to 20. 0 turns them off. The default is 5.
     */
    autoSnapshot?: number;
    permissions?: PermissionsInput;
    /**
     * Whether the agent may schedule messages to itself, as a tool, and how many. Null, the default: it may not.
     */
    schedules?: {
        /**
         * How many it may have at a time, 1 to 20.
         */
        max?: number;
        /**
         * The minutes between two of its runs, at least 5.
         */
        everyMinutes?: number;
        /**
         * The credits that the model calls of one run may cost.
         */
        maxCredits?: string;
    } | null;
    /**
     * The credits that a turn's model calls may cost. Null: no limit.
     */
    maxCredits?: string | null;
    /**
     * How many minutes a turn may run, 1 to 10080. The time that it waits for approvals does not count. Null: no limit.
     */
    maxMinutes?: number | null;
    /**
     * How many tool calls a turn may make, 1 to 100000. Null: no limit.
     */
    maxToolCalls?: number | null;
    /**
     * Whether only its maker sees and uses the agent. Owners and admins of the workspace see its name, status and cost, and may suspend and delete it. Only its maker changes this; a fork of a private agent is private.
     */
    private?: boolean;
};

export type ChangeAutomation = {
    /**
     * The agent that gets the message.
     */
    agent?: string;
    /**
     * A fresh agent for each run starts from this one's current or saved state, and is deleted afterwards.
     */
    from?: ForkSourceInput;
    /**
     * The text for the agent. With a hook, a template of up to 32 KiB: `{{body.title}}` and `{{headers.x-github-event}}` are values of the delivery, as mustache without HTML escaping, partials and lambdas. Texts from the delivery are fenced.
     */
    message?: string;
    trigger?: Trigger;
    /**
     * `new`: each run has a conversation of its own. `continue`: all runs share one; with `from`, each run continues its source's.
     */
    conversation?: 'new' | 'continue';
    /**
     * The treatment of a run that is due while an earlier one has not ended. `skip`: it is left out. `queue`: it waits, up to 10 of them. `cancel-previous`: the earlier one is cancelled.
     */
    overlap?: 'skip' | 'queue' | 'cancel-previous';
    /**
     * The treatment of times at which no server ran. `once`: one run for those of the last 24 hours. `skip`: none.
     */
    missed?: 'once' | 'skip';
    /**
     * The credits that the model calls of one run may cost. Null: no limit but the agent's.
     */
    maxCredits?: string | null;
    /**
     * How many minutes after its time a run is cancelled, 1 to 10080. The time that it waits counts.
     */
    timeout?: number;
    /**
     * With `from`: for how many hours the agent of a run is kept afterwards, 0 to 168.
     */
    keep?: number;
};

export type ChangeBilling = {
    /**
     * The spending limit per calendar month, UTC; null: no limit.
     */
    monthlyLimit?: string | null;
    /**
     * The balance at which the event `credits.low` is sent; null: none.
     */
    lowCredits?: string | null;
};

export type ChangeConversation = {
    /**
     * Its title, 1 to 200 characters without line breaks.
     */
    title?: string;
    /**
     * Make it the agent's current conversation. Refused during a turn.
     */
    current?: true;
};

/**
 * Replaces both lists. Applies to new connections.
 */
export type ChangeNetwork = {
    /**
     * The allowed destinations of the agent's programs; `["*"]` for any.
     */
    allow: Array<string>;
    /**
     * The denied destinations; takes precedence over `allow`.
     */
    deny: Array<string>;
    /**
     * Whether a person is asked about destinations that are on neither list. They are refused as `asked` until one of the lists has them. Omitted: unchanged; at first, false.
     */
    ask?: boolean;
};

export type ChangeOpenAiConversation = {
    metadata: {
        [key: string]: string;
    } | null;
    [key: string]: unknown;
};

export type ChangeProfile = {
    /**
     * The address for mail. Another one than the verified one gets a link that confirms it. Null: the address of the sign-in.
     */
    email?: string | null;
    /**
     * Whether notifications are sent by mail.
     */
    emailNotifications?: boolean;
    /**
     * Null: the one of the sign-in.
     */
    timeZone?: string | null;
    quietHours?: QuietHours | null;
    /**
     * For agents without a choice of their own, and for the workspace.
     */
    notify?: Notify;
    /**
     * A topic of an ntfy server. Null: none.
     */
    ntfy?: {
        url: string;
        /**
         * An access token. Null: none. Without it, the token of the same address stays.
         */
        token?: string | null;
    } | null;
};

export type ChangeProvider = {
    /**
     * In place of `apiKey`: the name of a secret of the workspace, whose hosts must include the provider's. The provider then has the secret's value of the time of each call.
     */
    secret?: string;
    /**
     * The API key; for `claude`, the token of `claude setup-token`. It is never returned.
     */
    apiKey?: string;
    /**
     * For `bedrock`. It is never returned.
     */
    accessKeyId?: string;
    /**
     * For `bedrock`. It is never returned.
     */
    secretAccessKey?: string;
    /**
     * For `bedrock`: of temporary credentials. It is never returned.
     */
    sessionToken?: string;
    serviceAccount?: ServiceAccount;
    baseUrl?: string | null;
    /**
     * For `bedrock` and `vertex`.
     */
    region?: string | null;
    /**
     * For `vertex`.
     */
    project?: string | null;
    /**
     * The names of its models. Null: those that it lists; a provider that lists none takes any name (`azure`, `bedrock`, `vertex`).
     */
    models?: Array<string> | null;
};

export type ChangeQueuedTurn = {
    /**
     * Its new text. Its images and files stay.
     */
    message?: string;
    /**
     * Its new place in the queue; 1 is next. A number beyond the end is the end.
     */
    position?: number;
};

export type ChangeWebhook = {
    /**
     * An https address on the public internet, without a user name, a password or a fragment. http and inner hosts are for those that the operator has listed.
     */
    url?: string;
    /**
     * The types of events that are sent. Null: all, also those of later versions.
     */
    events?: Array<'turn.completed' | 'turn.failed' | 'turn.cancelled' | 'turn.waiting' | 'turn.held' | 'agent.ready' | 'agent.failed' | 'agent.suspended' | 'agent.deleted' | 'command.exited' | 'automation.paused' | 'run.completed' | 'run.failed' | 'credits.low' | 'credits.exhausted' | 'network.refused' | 'snapshot.created' | 'secret.created' | 'secret.changed' | 'secret.deleted' | 'secret.login_failed' | 'skill.created' | 'skill.changed' | 'skill.deleted' | 'provider.login_failed'> | null;
    /**
     * Only events of the agent of this name. Null: of all agents.
     */
    agent?: string | null;
    /**
     * `content`: events of turns and runs have the reply's text.
     */
    include?: Array<'content'>;
    /**
     * Nothing is sent, and events of that time are not sent later.
     */
    disabled?: boolean;
};

/**
 * A response of OpenAI's Chat Completions API.
 */
export type ChatCompletion = {
    object: 'chat.completion';
    [key: string]: unknown;
};

/**
 * A chunk of a streamed answer of Chat Completions.
 */
export type ChatCompletionChunk = {
    id: string;
    object: 'chat.completion.chunk';
    created: number;
    model: string;
    choices: Array<{
        index: number;
        delta: {
            role?: string;
            content?: string | null;
            reasoning_content?: string;
            tool_calls?: Array<{
                index: number;
                [key: string]: unknown;
            }>;
            [key: string]: unknown;
        };
        finish_reason: string | null;
        [key: string]: unknown;
    }>;
    [key: string]: unknown;
};

export type ChatRequest = {
    /**
     * The text for the agent.
     */
    message?: string;
    /**
     * The message as texts, images and files, instead of `message`. Up to 20 images and files.
     */
    content?: Array<ContentPart>;
    /**
     * Event types to add to the reply's text and its end.
     */
    include?: Array<'status' | 'reasoning' | 'tools' | 'usage' | 'approvals'>;
    /**
     * The number of the conversation that the message is for. Default: the current one; for a queued message, the one that is current when it begins.
     */
    conversation?: number;
    /**
     * The treatment of the message while the agent answers another one. `reject`: 409. `queue`: wait behind the messages that wait. `interrupt`: cancel the running turn and begin next. `steer`: reach the running turn where the runtime can, otherwise as `queue`. The header `x-berth-placed` says what was done.
     */
    whenBusy?: 'reject' | 'queue' | 'steer' | 'interrupt';
    /**
     * The treatment of tools that the agent's permissions ask about. `wait`: the turn waits for an approval. `deny`: the tool is denied.
     */
    onAsk?: 'wait' | 'deny';
    /**
     * Makes the turn end with a JSON object that matches a schema.
     */
    output?: AskedOutput;
    /**
     * How much the model reasons before it answers this message. Default: the agent's `effort`.
     */
    effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';
    /**
     * The credits that a turn's model calls may cost. Null: no limit.
     */
    maxCredits?: string | null;
    /**
     * How many minutes a turn may run, 1 to 10080. The time that it waits for approvals does not count. Null: no limit.
     */
    maxMinutes?: number | null;
    /**
     * How many tool calls a turn may make, 1 to 100000. Null: no limit.
     */
    maxToolCalls?: number | null;
};

export type Command = {
    id: string;
    command: string | Array<string>;
    cwd: string;
    user: 'agent' | 'root';
    detached: boolean;
    terminal: boolean;
    status: 'running' | 'exited';
    startedAt: string;
    exitedAt: string | null;
    exitCode: number | null;
    /**
     * The signal that ended it, such as `SIGKILL`.
     */
    signal: string | null;
    timedOut: boolean;
    /**
     * Its machine or its supervisor stopped before the command ended.
     */
    lost: boolean;
    /**
     * The amount of output, including dropped output.
     */
    outputBytes: number;
    createdBy: Author | null;
};

export type CommandEvent = {
    type: 'command.stdout';
    text?: string;
    base64?: string;
} | {
    type: 'command.stderr';
    text?: string;
    base64?: string;
} | {
    type: 'command.output_dropped';
    bytes: number;
} | {
    type: 'command.exited';
    exitCode: number | null;
    /**
     * The signal that ended it, such as `SIGKILL`.
     */
    signal: string | null;
    timedOut: boolean;
    /**
     * Its machine or its supervisor stopped before the command ended.
     */
    lost: boolean;
};

/**
 * A command ended in an agent's machine.
 */
export type CommandExitedEvent = {
    type: 'command.exited';
    /**
     * When it happened, also at later tries.
     */
    timestamp: string;
    data: {
        /**
         * The agent's name.
         */
        agent: string;
        commandId: string;
        exitCode: number | null;
        /**
         * The signal that ended it, such as `SIGKILL`.
         */
        signal: string | null;
        timedOut: boolean;
        /**
         * Its machine or its supervisor stopped before the command ended.
         */
        lost: boolean;
    };
};

/**
 * Running commands and the last 100 finished ones, newest first.
 */
export type CommandList = {
    data: Array<Command>;
    nextCursor: string | null;
};

/**
 * Invalid UTF-8 is replaced; `…/events` has the exact bytes.
 */
export type CommandResult = {
    id: string;
    exitCode: number | null;
    /**
     * The signal that ended it, such as `SIGKILL`.
     */
    signal: string | null;
    timedOut: boolean;
    /**
     * Its machine or its supervisor stopped before the command ended.
     */
    lost: boolean;
    stdout: string;
    stderr: string;
    /**
     * Whether the output was truncated to the response's limit of 1 MiB per stream. `…/events` has up to 16 MiB.
     */
    truncated: boolean;
};

/**
 * A request of OpenAI's Responses API. Other parameters are accepted, without effect, and named in the header x-berth-ignored-parameters.
 */
export type CompactResponse = {
    /**
     * The agent's name.
     */
    model: string;
    /**
     * The messages to compact. Their texts are kept.
     */
    input?: string | Array<{
        type?: string;
        [key: string]: unknown;
    }> | null;
    /**
     * A stored response: its conversation up to it is compacted, before the input.
     */
    previous_response_id?: string | null;
    /**
     * Accepted, without effect, and named in x-berth-ignored-parameters.
     */
    instructions?: unknown;
    /**
     * Accepted, without effect, and named in x-berth-ignored-parameters.
     */
    prompt_cache_key?: unknown;
    [key: string]: unknown;
};

/**
 * The compacted form of a conversation, to send as `input`.
 */
export type CompactedResponse = {
    object: 'response.compaction';
    id: string;
    created_at: number;
    output: Array<{
        type: string;
        [key: string]: unknown;
    }>;
    usage: {
        input_tokens: number;
        output_tokens: number;
        total_tokens: number;
        [key: string]: unknown;
    };
    [key: string]: unknown;
};

export type ConfirmMcpServer = {
    /**
     * The code that the browser shows at the end.
     */
    code: string;
};

export type ConnectMcpServer = {
    /**
     * The MCP server's address. http and inner hosts are for those that the operator has listed. Without it, the address of before.
     */
    url?: string;
    /**
     * As for other secrets. Null: all agents.
     */
    agents?: Array<string> | null;
    /**
     * A client that you have registered at the authorization server. Without it, the server registers itself.
     */
    clientId?: string;
    /**
     * The client's secret, if it has one. Never returned.
     */
    clientSecret?: string;
    /**
     * The scopes to ask for. Without it, those that the MCP server names.
     */
    scopes?: Array<string>;
};

/**
 * A text, an image or a file of a message.
 */
export type ContentPart = {
    type: 'text';
    text: string;
} | {
    type: 'image';
    /**
     * The bytes in base64.
     */
    data?: string;
    /**
     * The id of an upload, instead of `data`.
     */
    fileId?: string;
    /**
     * The file's name. Default: the upload's, or one by its type.
     */
    name?: string;
    /**
     * Default: the upload's, or one by the bytes or the name.
     */
    mediaType?: string;
} | {
    type: 'file';
    /**
     * The bytes in base64.
     */
    data?: string;
    /**
     * The id of an upload, instead of `data`.
     */
    fileId?: string;
    /**
     * The file's name. Default: the upload's, or one by its type.
     */
    name?: string;
    /**
     * Default: the upload's, or one by the bytes or the name.
     */
    mediaType?: string;
};

export type Conversation = {
    /**
     * Its number: 1, 2, …, in the order of creation.
     */
    id: number;
    /**
     * The first 60 characters of its first message, or what was set. Null: it is empty.
     */
    title: string | null;
    /**
     * Whether messages that name no conversation go to it.
     */
    current: boolean;
    /**
     * The turn that it continues from. Null: it began empty, or that turn was deleted.
     */
    forkedFrom: {
        conversation: number;
        turnId: string;
    } | null;
    createdBy: Author | null;
    createdAt: string;
    /**
     * When its last turn began.
     */
    lastTurnAt: string | null;
};

/**
 * The agent's conversations, the newest activity first.
 */
export type ConversationList = {
    data: Array<Conversation>;
    nextCursor: string | null;
};

export type CreateAgent = {
    /**
     * The agent's name in its account, 3 to 30 characters: lowercase letters a-z, digits and hyphens, starting with a letter and not ending with a hyphen.
     */
    name: string;
    /**
     * Default: claude-code, or the source's runtime for a fork.
     */
    runtime?: string;
    /**
     * A model id from `GET /models`. Null: the runtime's default.
     */
    model?: string | null;
    /**
     * How much the model reasons before it answers. Where a model lacks the level, the nearest lower one that it has counts, else its lowest. Null: the runtime's or the model's default.
     */
    effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max' | null;
    /**
     * Instructions for every turn, up to 64 KiB. Null or empty: none.
     */
    instructions?: string | null;
    /**
     * For the runtime `acp`: the program in the machine that speaks the Agent Client Protocol on its standard input and output. Null with other runtimes.
     */
    acp?: {
        /**
         * A program's name or path in the machine.
         */
        command: string;
        /**
         * Its arguments.
         */
        args?: Array<string>;
    } | null;
    mcpServers?: McpServers;
    /**
     * Names of up to 16 agents in the account that this agent may call as tools.
     */
    agents?: Array<string>;
    /**
     * Up to 5 ids of models that answer, in order, where the agent's model is overloaded, limited or out of reach. Providers that speak another API than the call are left out. An empty list: none.
     */
    fallbackModels?: Array<string>;
    /**
     * How many automatic snapshots to keep, one of the files before each turn, 0 to 20. 0 turns them off. The default is 5.
     */
    autoSnapshot?: number;
    permissions?: PermissionsInput;
    /**
     * Whether the agent may schedule messages to itself, as a tool, and how many. Null, the default: it may not.
     */
    schedules?: {
        /**
         * How many it may have at a time, 1 to 20.
         */
        max?: number;
        /**
         * The minutes between two of its runs, at least 5.
         */
        everyMinutes?: number;
        /**
         * The credits that the model calls of one run may cost.
         */
        maxCredits?: string;
    } | null;
    /**
     * The credits that a turn's model calls may cost. Null: no limit.
     */
    maxCredits?: string | null;
    /**
     * How many minutes a turn may run, 1 to 10080. The time that it waits for approvals does not count. Null: no limit.
     */
    maxMinutes?: number | null;
    /**
     * How many tool calls a turn may make, 1 to 100000. Null: no limit.
     */
    maxToolCalls?: number | null;
    /**
     * Whether only its maker sees and uses the agent. Owners and admins of the workspace see its name, status and cost, and may suspend and delete it. Only its maker changes this; a fork of a private agent is private.
     */
    private?: boolean;
    /**
     * The machine's size. Only the default size starts within a second; other sizes boot from disk.
     */
    resources?: {
        /**
         * Virtual processors. Default: 2.
         */
        cpus?: number;
        /**
         * Memory in MiB. Default: what the runtime needs.
         */
        memoryMiB?: number;
        /**
         * Maximum disk size in GiB; only what is used takes space. Default: 10.
         */
        diskGiB?: number;
    };
    /**
     * Start from another agent's current or saved state: its files, running programs and conversation. Omitted settings are copied too.
     */
    from?: ForkSourceInput;
    /**
     * With `from`: create this many forks, named NAME-1, NAME-2, …; up to 20. The response is the first.
     */
    count?: number;
};

export type CreateAutomation = {
    /**
     * The automation's name in its workspace, 1 to 60 characters: lowercase letters a-z, digits and hyphens, starting with a letter and not ending with a hyphen.
     */
    name: string;
    /**
     * The agent that gets the message.
     */
    agent?: string;
    /**
     * A fresh agent for each run starts from this one's current or saved state, and is deleted afterwards.
     */
    from?: ForkSourceInput;
    /**
     * The text for the agent. With a hook, a template of up to 32 KiB: `{{body.title}}` and `{{headers.x-github-event}}` are values of the delivery, as mustache without HTML escaping, partials and lambdas. Texts from the delivery are fenced.
     */
    message: string;
    trigger: Trigger;
    /**
     * `new`: each run has a conversation of its own. `continue`: all runs share one; with `from`, each run continues its source's.
     */
    conversation?: 'new' | 'continue';
    /**
     * The treatment of a run that is due while an earlier one has not ended. `skip`: it is left out. `queue`: it waits, up to 10 of them. `cancel-previous`: the earlier one is cancelled.
     */
    overlap?: 'skip' | 'queue' | 'cancel-previous';
    /**
     * The treatment of times at which no server ran. `once`: one run for those of the last 24 hours. `skip`: none.
     */
    missed?: 'once' | 'skip';
    /**
     * The credits that the model calls of one run may cost. Null: no limit but the agent's.
     */
    maxCredits?: string | null;
    /**
     * How many minutes after its time a run is cancelled, 1 to 10080. The time that it waits counts.
     */
    timeout?: number;
    /**
     * With `from`: for how many hours the agent of a run is kept afterwards, 0 to 168.
     */
    keep?: number;
    paused?: boolean;
    /**
     * The secret of the hook, where the sender chooses it. Required with `slack`, which is the signing secret of the app. Default: a random one.
     */
    secret?: string;
};

/**
 * A request of OpenAI's Chat Completions API. Other parameters are accepted, without effect, and named in the header x-berth-ignored-parameters.
 */
export type CreateChatCompletion = {
    /**
     * The agent's name.
     */
    model: string;
    /**
     * The last user message becomes the agent's message. It continues the conversation that has the messages before it, or begins one with a record of them.
     */
    messages: Array<{
        role: string;
        content?: string | Array<{
            type?: string;
            [key: string]: unknown;
        }> | null;
        tool_calls?: Array<{
            id: string;
            function?: {
                name: string;
                arguments: string;
                [key: string]: unknown;
            };
            [key: string]: unknown;
        }> | null;
        tool_call_id?: string | null;
        [key: string]: unknown;
    }>;
    stream?: boolean | null;
    stream_options?: {
        include_usage?: boolean | null;
        include_obfuscation?: boolean | null;
        [key: string]: unknown;
    } | null;
    metadata?: {
        [key: string]: string;
    } | null;
    /**
     * Only "auto" or "none".
     */
    tool_choice?: unknown;
    /**
     * Only 0.
     */
    top_logprobs?: unknown;
    /**
     * Accepted, without effect, and named in x-berth-ignored-parameters.
     */
    temperature?: unknown;
    /**
     * Accepted, without effect, and named in x-berth-ignored-parameters.
     */
    top_p?: unknown;
    /**
     * Accepted, without effect, and named in x-berth-ignored-parameters.
     */
    presence_penalty?: unknown;
    /**
     * Accepted, without effect, and named in x-berth-ignored-parameters.
     */
    frequency_penalty?: unknown;
    /**
     * Accepted, without effect, and named in x-berth-ignored-parameters.
     */
    service_tier?: unknown;
    /**
     * Accepted, without effect, and named in x-berth-ignored-parameters.
     */
    parallel_tool_calls?: unknown;
    /**
     * Accepted, without effect, and named in x-berth-ignored-parameters.
     */
    prompt_cache_key?: unknown;
    /**
     * Accepted, without effect, and named in x-berth-ignored-parameters.
     */
    prompt_cache_retention?: unknown;
    /**
     * Accepted, without effect, and named in x-berth-ignored-parameters.
     */
    safety_identifier?: unknown;
    /**
     * Accepted, without effect, and named in x-berth-ignored-parameters.
     */
    user?: unknown;
    tools?: Array<{
        type: 'function';
        function: {
            name: string;
            description?: string | null;
            /**
             * JSON Schema of its arguments.
             */
            parameters?: {
                [key: string]: unknown;
            } | null;
            [key: string]: unknown;
        };
        [key: string]: unknown;
    }> | null;
    /**
     * Only 1.
     */
    n?: unknown;
    /**
     * Accepted, without effect, and named in x-berth-ignored-parameters.
     */
    max_tokens?: unknown;
    /**
     * Accepted, without effect, and named in x-berth-ignored-parameters.
     */
    max_completion_tokens?: unknown;
    /**
     * Only false.
     */
    logprobs?: unknown;
    /**
     * Accepted, without effect, and named in x-berth-ignored-parameters.
     */
    logit_bias?: unknown;
    /**
     * Accepted, without effect, and named in x-berth-ignored-parameters.
     */
    stop?: unknown;
    /**
     * Accepted, without effect, and named in x-berth-ignored-parameters.
     */
    seed?: unknown;
    modalities?: Array<'text'> | null;
    /**
     * Not supported.
     */
    audio?: unknown;
    /**
     * Only empty.
     */
    functions?: unknown;
    /**
     * Only "auto" or "none".
     */
    function_call?: unknown;
    /**
     * Not supported.
     */
    web_search_options?: unknown;
    response_format?: {
        type: 'text' | 'json_schema';
        json_schema?: {
            name?: string;
            description?: string | null;
            /**
             * A JSON Schema whose `type` is `object`.
             */
            schema?: {
                [key: string]: unknown;
            };
            /**
             * Accepted, without effect: an answer always matches the schema.
             */
            strict?: boolean | null;
            [key: string]: unknown;
        };
        [key: string]: unknown;
    } | null;
    /**
     * How much the model reasons, where the agent's runtime can choose.
     */
    reasoning_effort?: unknown;
    /**
     * Accepted, without effect, and named in x-berth-ignored-parameters.
     */
    store?: unknown;
    /**
     * Accepted, without effect, and named in x-berth-ignored-parameters.
     */
    verbosity?: unknown;
    [key: string]: unknown;
};

export type CreateConversation = {
    /**
     * Its title, 1 to 200 characters without line breaks.
     */
    title?: string;
    /**
     * Whether it becomes the agent's current conversation.
     */
    current?: boolean;
    /**
     * Continue from a turn of the agent, in whatever conversation: its messages and replies up to this turn are replayed to the runtime, as text. Default: begin empty.
     */
    from?: {
        turn: string;
    };
};

export type CreateInvitation = {
    role?: Role;
    /**
     * Only a person with this verified address can accept it; null: anyone with the link.
     */
    email?: string | null;
};

export type CreateKey = {
    /**
     * A label for the owner, up to 100 characters.
     */
    name?: string | null;
    kind?: 'full' | 'agent';
    /**
     * The key's role in the workspace; by default its maker's.
     */
    role?: Role;
    /**
     * The agents that a key of kind `agent` may use, by name.
     */
    agents?: Array<string>;
    /**
     * The total credits that turns started with this key may cost; null: no limit.
     */
    creditLimit?: string | null;
    /**
     * When the key expires; null: never. Not in the past.
     */
    expiresAt?: string | null;
};

/**
 * A request of OpenAI's Conversations API.
 */
export type CreateOpenAiConversation = {
    items?: Array<{
        type?: 'message';
        role: 'user' | 'assistant' | 'system' | 'developer';
        content: string | Array<{
            type: string;
            [key: string]: unknown;
        }>;
        [key: string]: unknown;
    }> | null;
    metadata?: {
        [key: string]: string;
    } | null;
    [key: string]: unknown;
} | null;

export type CreateProvider = {
    /**
     * The first part of its models' ids.
     */
    name: string;
    kind: 'anthropic' | 'openai' | 'openai-compatible' | 'google' | 'azure' | 'bedrock' | 'vertex' | 'claude' | 'chatgpt';
    /**
     * `person`: a subscription for you alone, and your private agents; it goes with your membership. `workspace`: for this workspace, which pays the provider itself. `installation`: for all workspaces, which pay with credits; only the operator can set it.
     */
    scope?: 'person' | 'workspace' | 'installation';
    /**
     * In place of `apiKey`: the name of a secret of the workspace, whose hosts must include the provider's. The provider then has the secret's value of the time of each call.
     */
    secret?: string;
    /**
     * The API key; for `claude`, the token of `claude setup-token`. It is never returned.
     */
    apiKey?: string;
    /**
     * For `bedrock`. It is never returned.
     */
    accessKeyId?: string;
    /**
     * For `bedrock`. It is never returned.
     */
    secretAccessKey?: string;
    /**
     * For `bedrock`: of temporary credentials. It is never returned.
     */
    sessionToken?: string;
    serviceAccount?: ServiceAccount;
    baseUrl?: string | null;
    /**
     * For `bedrock` and `vertex`.
     */
    region?: string | null;
    /**
     * For `vertex`.
     */
    project?: string | null;
    /**
     * The names of its models. Null: those that it lists; a provider that lists none takes any name (`azure`, `bedrock`, `vertex`).
     */
    models?: Array<string> | null;
};

/**
 * A browser's `PushSubscription` as JSON, and a name.
 */
export type CreatePushSubscription = {
    /**
     * An https address on the public internet.
     */
    endpoint: string;
    keys: {
        p256dh: string;
        auth: string;
    };
    /**
     * Ignored: the push service says it at a send.
     */
    expirationTime?: number | null;
    /**
     * How lists name the browser.
     */
    name?: string;
};

/**
 * A request of OpenAI's Responses API. Other parameters are accepted, without effect, and named in the header x-berth-ignored-parameters.
 */
export type CreateResponse = {
    /**
     * The agent's name.
     */
    model: string;
    /**
     * A text, or items. The texts of the last user message become the agent's message, and its images and files are stored in the agent's machine; later function outputs go to the turn that is waiting for them.
     */
    input: string | Array<{
        type?: string;
        [key: string]: unknown;
    }>;
    stream?: boolean | null;
    stream_options?: {
        include_obfuscation?: boolean;
        [key: string]: unknown;
    } | null;
    background?: boolean | null;
    /**
     * False: the response cannot be read by its id, nor continued, except on its own WebSocket.
     */
    store?: boolean | null;
    previous_response_id?: string | null;
    /**
     * A conversation: `conv_…` of `/v1/conversations`, or one of the agent's as `conversation-N`. Default: the one that has the messages before the last user message, or another. Not with `previous_response_id`.
     */
    conversation?: string | {
        id: string;
    } | null;
    /**
     * For this turn, appended to the agent's own instructions.
     */
    instructions?: string | null;
    metadata?: {
        [key: string]: string;
    } | null;
    /**
     * Only "auto" or "none".
     */
    tool_choice?: unknown;
    /**
     * Only 0.
     */
    top_logprobs?: unknown;
    /**
     * Accepted, without effect, and named in x-berth-ignored-parameters.
     */
    temperature?: unknown;
    /**
     * Accepted, without effect, and named in x-berth-ignored-parameters.
     */
    top_p?: unknown;
    /**
     * Accepted, without effect, and named in x-berth-ignored-parameters.
     */
    presence_penalty?: unknown;
    /**
     * Accepted, without effect, and named in x-berth-ignored-parameters.
     */
    frequency_penalty?: unknown;
    /**
     * Accepted, without effect, and named in x-berth-ignored-parameters.
     */
    service_tier?: unknown;
    /**
     * Accepted, without effect, and named in x-berth-ignored-parameters.
     */
    parallel_tool_calls?: unknown;
    /**
     * Accepted, without effect, and named in x-berth-ignored-parameters.
     */
    prompt_cache_key?: unknown;
    /**
     * Accepted, without effect, and named in x-berth-ignored-parameters.
     */
    prompt_cache_retention?: unknown;
    /**
     * Accepted, without effect, and named in x-berth-ignored-parameters.
     */
    safety_identifier?: unknown;
    /**
     * Accepted, without effect, and named in x-berth-ignored-parameters.
     */
    user?: unknown;
    tools?: Array<{
        name: string;
        description?: string | null;
        /**
         * JSON Schema of its arguments.
         */
        parameters?: {
            [key: string]: unknown;
        } | null;
        type: 'function';
        /**
         * Accepted, without effect.
         */
        strict?: boolean | null;
        [key: string]: unknown;
    }> | null;
    /**
     * Accepted, without effect, and named in x-berth-ignored-parameters.
     */
    max_output_tokens?: unknown;
    /**
     * Not supported.
     */
    max_tool_calls?: unknown;
    /**
     * Not supported.
     */
    prompt?: unknown;
    /**
     * Accepted, without effect, and named in x-berth-ignored-parameters.
     */
    truncation?: unknown;
    /**
     * `effort`: how much the model reasons, where the agent's runtime can choose. The rest is accepted, without effect.
     */
    reasoning?: unknown;
    text?: {
        format?: {
            type: 'text' | 'json_schema';
            name?: string;
            description?: string | null;
            /**
             * A JSON Schema whose `type` is `object`.
             */
            schema?: {
                [key: string]: unknown;
            };
            /**
             * Accepted, without effect: an answer always matches the schema.
             */
            strict?: boolean | null;
            [key: string]: unknown;
        } | null;
        /**
         * Accepted, without effect.
         */
        verbosity?: unknown;
        [key: string]: unknown;
    } | null;
    /**
     * Accepted, without effect, and named in x-berth-ignored-parameters.
     */
    include?: unknown;
    /**
     * Accepted, without effect, and named in x-berth-ignored-parameters.
     */
    prompt_cache_options?: unknown;
    /**
     * Accepted, without effect, and named in x-berth-ignored-parameters.
     */
    client_metadata?: unknown;
    /**
     * Only true.
     */
    generate?: unknown;
    [key: string]: unknown;
};

export type CreateShare = {
    /**
     * Always true: anyone with the link can use it.
     */
    public: true;
    /**
     * When the share expires. Default: never.
     */
    expiresAt?: string;
};

export type CreateSnapshot = {
    /**
     * The snapshot's name, 1 to 100 characters without line breaks, and not an id. Default: the time.
     */
    name?: string;
    /**
     * Include memory, with the running programs. Without it, forks and rollbacks boot from the disk.
     */
    memory?: boolean;
};

export type CreateTopUp = {
    /**
     * The number of credits to buy; one costs a US cent.
     */
    credits: string;
    /**
     * Where the payment page returns to. Default: the service's own address.
     */
    returnUrl?: string;
};

export type CreateUser = {
    /**
     * A name must have 1 to 64 letters, digits, signs and single spaces, and not only dots.
     */
    name: string;
};

export type CreateWebhook = {
    /**
     * An https address on the public internet, without a user name, a password or a fragment. http and inner hosts are for those that the operator has listed.
     */
    url: string;
    /**
     * The types of events that are sent. Null: all, also those of later versions.
     */
    events?: Array<'turn.completed' | 'turn.failed' | 'turn.cancelled' | 'turn.waiting' | 'turn.held' | 'agent.ready' | 'agent.failed' | 'agent.suspended' | 'agent.deleted' | 'command.exited' | 'automation.paused' | 'run.completed' | 'run.failed' | 'credits.low' | 'credits.exhausted' | 'network.refused' | 'snapshot.created' | 'secret.created' | 'secret.changed' | 'secret.deleted' | 'secret.login_failed' | 'skill.created' | 'skill.changed' | 'skill.deleted' | 'provider.login_failed'> | null;
    /**
     * Only events of the agent of this name. Null: of all agents.
     */
    agent?: string | null;
    /**
     * `content`: events of turns and runs have the reply's text.
     */
    include?: Array<'content'>;
    /**
     * Nothing is sent, and events of that time are not sent later.
     */
    disabled?: boolean;
};

export type CreateWorkspace = {
    /**
     * 1 to 64 letters, digits, signs and single spaces. Names that differ only in case are the same.
     */
    name: string;
};

export type CreatedInvitation = {
    id: string;
    role: Role;
    email: string | null;
    createdAt: string;
    expiresAt: string;
    /**
     * For `POST /invitations/{token}/accept`, once. It is shown once.
     */
    token: string;
    /**
     * A page of the dashboard that accepts the invitation.
     */
    link: string;
};

export type CreatedKey = {
    id: string;
    name: string | null;
    kind: 'full' | 'agent';
    role: Role;
    /**
     * Null for a full key.
     */
    agents: Array<string> | null;
    creditLimit: string | null;
    /**
     * The first 12 characters.
     */
    keyPrefix: string;
    createdAt: string;
    /**
     * Accurate to a minute.
     */
    lastUsedAt: string | null;
    expiresAt: string | null;
    /**
     * The key itself. It is shown once and not stored.
     */
    key: string;
};

export type CreditEntry = {
    /**
     * 1, 2, … in each account, without gaps.
     */
    number: number;
    at: string;
    kind: 'starting' | 'grant' | 'top_up' | 'refund' | 'model' | 'machine';
    /**
     * The change of the balance; negative: spent.
     */
    credits: string;
    /**
     * The balance after this entry.
     */
    balance: string;
    /**
     * The agent's name at that time.
     */
    agent: string | null;
    agentId: string | null;
    turnId: string | null;
    /**
     * The key that started the turn.
     */
    keyId: string | null;
    model: string | null;
    tokens: {
        /**
         * Cached tokens included.
         */
        inputTokens: number;
        /**
         * Reasoning tokens included.
         */
        outputTokens: number;
        cacheReadTokens: number;
        cacheWriteTokens: number;
        reasoningTokens: number;
    } | null;
    machineSeconds: number | null;
    memoryMiB: number | null;
    note: string | null;
    /**
     * The list price of a call with the workspace's own provider, which counts for limits; null: it was paid with `credits`.
     */
    listPrice: string | null;
};

/**
 * The account's ledger, newest first.
 */
export type CreditEntryList = {
    data: Array<CreditEntry>;
    nextCursor: string | null;
};

/**
 * The account after the grant, and the ledger entry.
 */
export type CreditGrant = {
    account: AccountCredits;
    entry: CreditEntry;
};

/**
 * The balance fell to 0 or below.
 */
export type CreditsExhaustedEvent = {
    type: 'credits.exhausted';
    /**
     * When it happened, also at later tries.
     */
    timestamp: string;
    data: {
        /**
         * The balance, in credits.
         */
        balance: string;
    };
};

/**
 * The balance fell to the account's `lowCredits` or below.
 */
export type CreditsLowEvent = {
    type: 'credits.low';
    /**
     * When it happened, also at later tries.
     */
    timestamp: string;
    data: {
        /**
         * The balance, in credits.
         */
        balance: string;
    };
};

export type DeletedWorkspace = {
    id: string;
    name: string;
    deletedAt: string;
    /**
     * It can be restored until then.
     */
    removedAt: string;
};

/**
 * The workspaces that were deleted with their agents, the newest first.
 */
export type DeletedWorkspaceList = {
    data: Array<DeletedWorkspace>;
};

export type Diff = {
    path: string;
    /**
     * Null: a new file.
     */
    oldText: string | null;
    newText: string;
};

export type Error = {
    statusCode: number;
    message: string;
    /**
     * The HTTP status as text.
     */
    error: string;
    /**
     * A stable code.
     */
    code: 'request_invalid' | 'agent_name_invalid' | 'model_not_available' | 'runtime_not_available' | 'permissions_not_supported' | 'command_not_runnable' | 'credentials_missing' | 'credentials_invalid' | 'file_name_too_long' | 'archive_invalid' | 'previous_response_not_found' | 'websocket_connection_limit_reached' | 'archive_unsupported' | 'skill_invalid' | 'insufficient_credits' | 'forbidden' | 'permission_denied' | 'asking_refused' | 'scheduling_refused' | 'agent_private' | 'path_not_found' | 'agent_not_found' | 'key_not_found' | 'program_not_found' | 'turn_not_found' | 'conversation_not_found' | 'approval_not_found' | 'automation_not_found' | 'webhook_not_found' | 'provider_not_found' | 'hook_not_found' | 'delivery_not_found' | 'push_subscription_not_found' | 'inbox_item_not_found' | 'response_not_found' | 'user_not_found' | 'workspace_not_found' | 'member_not_found' | 'invitation_not_found' | 'secret_not_found' | 'skill_not_found' | 'account_not_found' | 'command_not_found' | 'share_not_found' | 'snapshot_not_found' | 'changes_unknown' | 'backup_not_found' | 'orphan_not_found' | 'file_not_found' | 'upload_not_found' | 'method_not_allowed' | 'agent_exists' | 'agent_deleting' | 'agent_deleted' | 'agent_failed' | 'agent_restarted' | 'turn_in_progress' | 'turn_finished' | 'turn_not_queued' | 'queue_full' | 'conversation_in_use' | 'too_many_conversations' | 'turn_cancelled' | 'response_not_last' | 'function_not_waiting' | 'approval_not_waiting' | 'approval_answered' | 'command_exited' | 'command_input_full' | 'request_timeout' | 'idempotency_key_reused' | 'idempotency_key_in_use' | 'idempotency_answer_unreadable' | 'snapshot_exists' | 'backup_in_progress' | 'too_many_snapshots' | 'too_many_agents' | 'automation_exists' | 'too_many_automations' | 'too_many_webhooks' | 'provider_exists' | 'too_many_providers' | 'provider_unreachable' | 'mcp_sign_in_failed' | 'too_many_secrets' | 'too_many_skills' | 'skills_full' | 'skill_changed' | 'webhook_disabled' | 'run_in_progress' | 'delivery_not_kept' | 'user_exists' | 'workspace_exists' | 'workspace_not_empty' | 'workspace_is_personal' | 'too_many_workspaces' | 'too_many_members' | 'too_many_invitations' | 'member_exists' | 'last_owner' | 'invitation_ended' | 'email_link_ended' | 'email_not_configured' | 'email_not_sent' | 'operator_not_disabled' | 'users_managed_elsewhere' | 'upload_in_use' | 'uploads_full' | 'file_exists' | 'file_not_regular' | 'file_changed' | 'diff_unknown' | 'rolled_back' | 'too_many_turns' | 'not_a_folder' | 'is_a_folder' | 'folder_not_empty' | 'link_loop' | 'precondition_failed' | 'payments_not_configured' | 'body_too_large' | 'content_type_unsupported' | 'range_not_satisfiable' | 'rate_limited' | 'too_many_streams' | 'too_many_commands' | 'too_many_requests' | 'upgrade_required' | 'headers_too_large' | 'internal' | 'machine_failed' | 'machine_lost' | 'runtime_failed' | 'turn_too_large' | 'limit_reached' | 'output_invalid' | 'git_failed' | 'output_missing' | 'runtime_stalled' | 'template_failed' | 'port_not_listening' | 'model_failed' | 'model_request_refused' | 'model_credentials_refused' | 'model_unpaid' | 'model_rate_limited' | 'model_overloaded' | 'model_unreachable' | 'model_interrupted' | 'model_stalled' | 'search_timeout' | 'image_missing' | 'image_invalid' | 'qemu_missing' | 'accelerator_unavailable' | 'privilege_missing' | 'disk_full' | 'machine_disk_full' | 'not_supported_here' | 'no_capacity' | 'agent_elsewhere' | 'database_unavailable' | 'identity_provider_unavailable' | 'payments_unavailable' | 'shutting_down';
    details?: unknown;
};

export type Fault = {
    /**
     * A stable code.
     */
    code: 'request_invalid' | 'agent_name_invalid' | 'model_not_available' | 'runtime_not_available' | 'permissions_not_supported' | 'command_not_runnable' | 'credentials_missing' | 'credentials_invalid' | 'file_name_too_long' | 'archive_invalid' | 'previous_response_not_found' | 'websocket_connection_limit_reached' | 'archive_unsupported' | 'skill_invalid' | 'insufficient_credits' | 'forbidden' | 'permission_denied' | 'asking_refused' | 'scheduling_refused' | 'agent_private' | 'path_not_found' | 'agent_not_found' | 'key_not_found' | 'program_not_found' | 'turn_not_found' | 'conversation_not_found' | 'approval_not_found' | 'automation_not_found' | 'webhook_not_found' | 'provider_not_found' | 'hook_not_found' | 'delivery_not_found' | 'push_subscription_not_found' | 'inbox_item_not_found' | 'response_not_found' | 'user_not_found' | 'workspace_not_found' | 'member_not_found' | 'invitation_not_found' | 'secret_not_found' | 'skill_not_found' | 'account_not_found' | 'command_not_found' | 'share_not_found' | 'snapshot_not_found' | 'changes_unknown' | 'backup_not_found' | 'orphan_not_found' | 'file_not_found' | 'upload_not_found' | 'method_not_allowed' | 'agent_exists' | 'agent_deleting' | 'agent_deleted' | 'agent_failed' | 'agent_restarted' | 'turn_in_progress' | 'turn_finished' | 'turn_not_queued' | 'queue_full' | 'conversation_in_use' | 'too_many_conversations' | 'turn_cancelled' | 'response_not_last' | 'function_not_waiting' | 'approval_not_waiting' | 'approval_answered' | 'command_exited' | 'command_input_full' | 'request_timeout' | 'idempotency_key_reused' | 'idempotency_key_in_use' | 'idempotency_answer_unreadable' | 'snapshot_exists' | 'backup_in_progress' | 'too_many_snapshots' | 'too_many_agents' | 'automation_exists' | 'too_many_automations' | 'too_many_webhooks' | 'provider_exists' | 'too_many_providers' | 'provider_unreachable' | 'mcp_sign_in_failed' | 'too_many_secrets' | 'too_many_skills' | 'skills_full' | 'skill_changed' | 'webhook_disabled' | 'run_in_progress' | 'delivery_not_kept' | 'user_exists' | 'workspace_exists' | 'workspace_not_empty' | 'workspace_is_personal' | 'too_many_workspaces' | 'too_many_members' | 'too_many_invitations' | 'member_exists' | 'last_owner' | 'invitation_ended' | 'email_link_ended' | 'email_not_configured' | 'email_not_sent' | 'operator_not_disabled' | 'users_managed_elsewhere' | 'upload_in_use' | 'uploads_full' | 'file_exists' | 'file_not_regular' | 'file_changed' | 'diff_unknown' | 'rolled_back' | 'too_many_turns' | 'not_a_folder' | 'is_a_folder' | 'folder_not_empty' | 'link_loop' | 'precondition_failed' | 'payments_not_configured' | 'body_too_large' | 'content_type_unsupported' | 'range_not_satisfiable' | 'rate_limited' | 'too_many_streams' | 'too_many_commands' | 'too_many_requests' | 'upgrade_required' | 'headers_too_large' | 'internal' | 'machine_failed' | 'machine_lost' | 'runtime_failed' | 'turn_too_large' | 'limit_reached' | 'output_invalid' | 'git_failed' | 'output_missing' | 'runtime_stalled' | 'template_failed' | 'port_not_listening' | 'model_failed' | 'model_request_refused' | 'model_credentials_refused' | 'model_unpaid' | 'model_rate_limited' | 'model_overloaded' | 'model_unreachable' | 'model_interrupted' | 'model_stalled' | 'search_timeout' | 'image_missing' | 'image_invalid' | 'qemu_missing' | 'accelerator_unavailable' | 'privilege_missing' | 'disk_full' | 'machine_disk_full' | 'not_supported_here' | 'no_capacity' | 'agent_elsewhere' | 'database_unavailable' | 'identity_provider_unavailable' | 'payments_unavailable' | 'shutting_down';
    /**
     * The reason, as a sentence.
     */
    message: string;
    /**
     * Set when a limit or an invalid output is the reason.
     */
    details?: {
        reason: 'balance' | 'monthly_limit' | 'key_limit' | 'turn_limit' | 'caused_limit' | 'minutes_limit' | 'tool_calls_limit';
        /**
         * Credits as a decimal string, minutes, or tool calls.
         */
        limit?: string | number;
    } | {
        issues: Array<{
            /**
             * A JSON pointer to the value, such as `/items/0`.
             */
            field: string;
            message: string;
        }>;
    };
};

export type FileChange = {
    /**
     * The path, from the agent's home.
     */
    name: string;
    change: 'created' | 'changed' | 'deleted';
    /**
     * In bytes, after the turn; null for a deleted file.
     */
    size: number | null;
    /**
     * SHA-256 of the file after the turn, in hexadecimal; null for a deleted or a very large file.
     */
    hash: string | null;
};

export type FileEntry = {
    /**
     * Its last part. Invalid UTF-8 is replaced.
     */
    name: string;
    /**
     * Relative to the listed folder; otherwise absolute.
     */
    path: string;
    type: 'file' | 'folder' | 'link' | 'fifo' | 'socket' | 'device';
    /**
     * Bytes.
     */
    size: number;
    /**
     * Octal digits, such as 0644.
     */
    mode: string;
    /**
     * The user's name, or its number if it has no name.
     */
    owner: string;
    modifiedAt: string;
    /**
     * A link's target, as stored.
     */
    target: string | null;
    /**
     * The author of the bytes. Null for folders, and for files that a program in the machine wrote.
     */
    createdBy: Author | null;
};

export type FileEvent = {
    /**
     * `watching` comes first. `overflow`: changes were lost.
     */
    type: 'watching' | 'created' | 'changed' | 'deleted' | 'moved' | 'overflow';
    /**
     * Absolute.
     */
    path: string;
    /**
     * With `moved`: the former path, if it was watched.
     */
    from: string | null;
};

export type FileOrFolder = FolderPage | FileEntry;

export type FilterResult = {
    matched: boolean;
    /**
     * The filter that did not match, and the value.
     */
    message: string | null;
};

/**
 * A folder's entries, sorted by the bytes of their names.
 */
export type FolderPage = {
    data: Array<FileEntry>;
    nextCursor: string | null;
};

export type ForkSource = {
    /**
     * The source agent.
     */
    agent: string;
    /**
     * A snapshot of the source agent, by name or id. Default: its current state.
     */
    snapshot?: string;
    /**
     * Whether to copy the agent's secrets.
     */
    secrets: boolean;
};

export type ForkSourceInput = {
    /**
     * The source agent.
     */
    agent: string;
    /**
     * A snapshot of the source agent, by name or id. Default: its current state.
     */
    snapshot?: string;
    /**
     * Whether to copy the agent's secrets.
     */
    secrets?: boolean;
};

export type GiveBackOrphan = {
    /**
     * The name of the new agent.
     */
    name: string;
    /**
     * The id of the account that gets the agent. Default: your own.
     */
    account?: string;
    /**
     * Or the name of a user in the account that gets it.
     */
    user?: string;
    /**
     * Whether only one person sees the agent: its maker if the database knows that it was private, otherwise the account's only member, or the person whose personal workspace it is. False shows its files to all members. Default: true, or false in an account without members. Required if there is no such person.
     */
    private?: boolean;
};

export type GrantCredits = {
    /**
     * The account's id.
     */
    account?: string;
    /**
     * Or the name of a user in the account.
     */
    user?: string;
    /**
     * Negative: withdraw credits, up to the balance.
     */
    credits: string;
    /**
     * The reason, shown to the account's owner; up to 500 characters.
     */
    note?: string;
};

export type HookAnswer = {
    /**
     * The verdict, or `repeated`: a delivery with this id was taken before.
     */
    result: 'run' | 'skipped' | 'filtered' | 'paused' | 'answered' | 'repeated';
    /**
     * Null: it started no run.
     */
    runId: string | null;
};

export type HookDelivery = {
    id: string;
    receivedAt: string;
    /**
     * `run`: it started a run. `skipped`: its run was left out, as `overlap` says. `filtered`: a filter did not match. `paused`: the automation was paused. `answered`: it was the sender's test of the address. `failed`: its body or the template could not be used. `refused`: it was not verified.
     */
    verdict: 'run' | 'skipped' | 'filtered' | 'paused' | 'answered' | 'failed' | 'refused';
    /**
     * Why it started no run. Null: it did.
     */
    reason: string | null;
    /**
     * Null: there were no filters, or they were not tried.
     */
    filter: FilterResult | null;
    /**
     * The sender's id of the delivery.
     */
    deliveryId: string | null;
    /**
     * The sender's name of the event.
     */
    event: string | null;
    runId: string | null;
    /**
     * The body's first 16 KiB. Null: it was not verified.
     */
    body: string | null;
    /**
     * The size of the body.
     */
    bodyBytes: number;
};

/**
 * Newest first: the last 100 that were verified, and the last 20 that were not.
 */
export type HookDeliveryList = {
    data: Array<HookDelivery>;
    nextCursor: string | null;
};

/**
 * A condition that a delivery has to meet.
 */
export type HookFilter = {
    /**
     * A value of the body: JSONPath with names, indices and `*`. Of several values, one of the first 100 has to match.
     */
    path?: string;
    /**
     * In place of `path`: the name of a header.
     */
    header?: string;
    /**
     * The value is this one. Those of headers are strings.
     */
    equals?: string | number | boolean | null;
    /**
     * The value is a string of up to 1024 characters, or a number, that matches: `*` is any text, `?` is one character.
     */
    glob?: string;
    /**
     * Whether there is such a value.
     */
    exists?: boolean;
};

/**
 * An automation runs for each delivery to its address.
 */
export type HookTrigger = {
    type: 'hook';
    /**
     * How the sender proves the secret. `standard-webhooks`: a signature of [Standard Webhooks](https://www.standardwebhooks.com). `github`: `x-hub-signature-256`. `gitlab`: `x-gitlab-token`. `slack`: `x-slack-signature`. `bearer`: `authorization: Bearer SECRET`.
     */
    verify: 'standard-webhooks' | 'github' | 'gitlab' | 'slack' | 'bearer';
    /**
     * All have to match. Other deliveries start no run.
     */
    filters?: Array<HookFilter>;
};

export type Import = {
    agent: Agent;
    /**
     * Packages that were installed in its machine. The new machine does not have them.
     */
    installed: InstalledPackages;
    /**
     * Secrets that it had. An archive contains no values: set them again.
     */
    secrets: Array<{
        name: string;
        hosts: Array<string>;
        headers: Array<string>;
    }>;
    /**
     * Agents that it could call and that do not exist in this account.
     */
    agents: Array<string>;
    /**
     * Whether the archive has a disk image, which an import does not use.
     */
    hadDisk: boolean;
};

export type InboxChanged = {
    /**
     * The number of items that were changed.
     */
    changed: number;
    unread: InboxUnread;
};

export type InboxItem = {
    id: string;
    /**
     * The place in the list, which increases. `upTo` of `POST /inbox/read` leaves later items unread.
     */
    position: number;
    kind: InboxKind;
    /**
     * The event, such as `turn.failed`.
     */
    type: string;
    /**
     * The agent's name. Null: it is about the workspace.
     */
    agent: string | null;
    turnId: string | null;
    conversation: number | null;
    approvalId: string | null;
    /**
     * The automation's name.
     */
    automation: string | null;
    runId: string | null;
    /**
     * The host that was refused; `*` for many.
     */
    host: string | null;
    port: number | null;
    /**
     * The provider whose login failed.
     */
    provider: string | null;
    /**
     * The secret whose sign-in failed.
     */
    secret: string | null;
    webhookId: string | null;
    /**
     * The first 200 characters of the turn's message.
     */
    message: string | null;
    /**
     * The first 300 characters of the turn's reply, where it completed.
     */
    reply: string | null;
    /**
     * The code of the error or the refusal.
     */
    code: string | null;
    /**
     * Why it failed.
     */
    reason: string | null;
    /**
     * How often it happened.
     */
    count: number;
    /**
     * When it last happened.
     */
    at: string;
    read: boolean;
};

/**
 * `asks`: an approval or held messages wait. `failed`: a turn, an automation, a sign-in, a webhook or an agent failed. `done`: a turn or a run completed. `costs`: credits or a limit. `blocked`: a host was refused.
 */
export type InboxKind = 'asks' | 'failed' | 'done' | 'costs' | 'blocked';

/**
 * Newest first.
 */
export type InboxList = {
    data: Array<InboxItem>;
    nextCursor: string | null;
};

export type InboxSelection = {
    ids?: Array<string>;
    /**
     * All items of this agent.
     */
    agent?: string;
    /**
     * Only of this conversation of the agent, which the person has opened. Its `done` items are removed.
     */
    conversation?: number;
    /**
     * Only of this turn of the agent, whose end the person has seen. It makes no `done` item, also later, and others are read.
     */
    turnId?: string;
    /**
     * Only items up to this `position`; without `agent`, those of all agents.
     */
    upTo?: number;
};

/**
 * The number of unread items of each kind.
 */
export type InboxUnread = {
    asks: number;
    failed: number;
    done: number;
    costs: number;
    blocked: number;
};

export type InstallStatus = {
    status: 'pending' | 'installing' | 'installed' | 'failed';
    /**
     * Completed steps, as a fraction of all.
     */
    progress: number;
    /**
     * The steps that this agent needs; a restart, for example, needs neither template nor disk.
     */
    steps: Array<{
        name: 'template' | 'disk' | 'machine' | 'runtime';
        status: 'pending' | 'running' | 'done' | 'failed';
        startedAt: string | null;
        finishedAt: string | null;
    }>;
    error: Fault | null;
};

export type InstalledPackages = {
    /**
     * Debian packages that were installed explicitly.
     */
    apt: Array<{
        name: string;
        version: string;
    }>;
    /**
     * npm packages that were installed with `-g`.
     */
    npm: Array<{
        name: string;
        version: string;
    }>;
};

export type Invitation = {
    id: string;
    role: Role;
    email: string | null;
    createdAt: string;
    expiresAt: string;
};

/**
 * The open invitations, the newest first.
 */
export type InvitationList = {
    data: Array<Invitation>;
};

export type Key = {
    id: string;
    name: string | null;
    kind: 'full' | 'agent';
    role: Role;
    /**
     * Null for a full key.
     */
    agents: Array<string> | null;
    creditLimit: string | null;
    /**
     * The first 12 characters.
     */
    keyPrefix: string;
    createdAt: string;
    /**
     * Accurate to a minute.
     */
    lastUsedAt: string | null;
    expiresAt: string | null;
};

/**
 * The account's active keys, newest first.
 */
export type KeyList = {
    data: Array<Key>;
    nextCursor: string | null;
};

export type LeftOutOfBackup = {
    /**
     * Its name.
     */
    agent: string;
    reason: string;
};

export type ListeningPort = {
    port: number;
    /**
     * The address it listens on: `0.0.0.0` or `::` for all.
     */
    address: string;
    /**
     * The name of the process; null if unknown.
     */
    program: string | null;
    pid: number | null;
    /**
     * When the process started, by the machine's clock, which stands still while the machine sleeps.
     */
    since: string | null;
};

export type LogEvent = {
    line: string;
} | {
    ended: true;
};

/**
 * A client ID metadata document.
 */
export type McpClient = {
    client_id: string;
    client_name: string;
    redirect_uris: Array<string>;
    grant_types: Array<string>;
    response_types: Array<string>;
    token_endpoint_auth_method: string;
    application_type: 'web' | 'native';
};

export type McpConnection = {
    /**
     * The page of the authorization server, for the browser of the person who connects.
     */
    authorizationUrl: string;
    /**
     * Until when the person can finish it.
     */
    expiresAt: string;
};

/**
 * MCP servers whose tools the agent has, by name.
 */
export type McpServers = {
    [key: string]: {
        /**
         * Its address, over streamable HTTP. The agent's egress policy must allow its host.
         */
        url: string;
        /**
         * `${NAME}` stands for the secret NAME of the agent or its workspace, which is inserted outside of the machine.
         */
        headers?: {
            [key: string]: string;
        };
    } | {
        /**
         * A program in the agent's machine.
         */
        command: string;
        args?: Array<string>;
        /**
         * `${NAME}` stands for the secret NAME of the agent or its workspace.
         */
        env?: {
            [key: string]: string;
        };
    };
};

export type Me = {
    /**
     * Null for a key without a maker.
     */
    person: Person | null;
    /**
     * The workspace that the request is for.
     */
    workspace: Workspace;
    /**
     * All workspaces that this credential can choose.
     */
    memberships: Array<Workspace>;
};

export type Member = {
    /**
     * The person's id.
     */
    id: string;
    name: string;
    email: string | null;
    role: Role;
    joinedAt: string;
    lastSeenAt: string | null;
};

/**
 * The workspace's members, oldest first.
 */
export type MemberList = {
    data: Array<Member>;
    nextCursor: string | null;
};

export type Model = {
    /**
     * `provider/name`, the value of an agent's `model`.
     */
    id: string;
    /**
     * The name of its provider; `demo` is built in.
     */
    provider: string;
    /**
     * The runtimes that can use it.
     */
    runtimes: Array<string>;
    /**
     * Credits per million tokens; null if unknown.
     */
    inputPrice: string | null;
    /**
     * Credits per million tokens; null if unknown.
     */
    outputPrice: string | null;
};

/**
 * The available models, by id.
 */
export type ModelList = {
    data: Array<Model>;
    nextCursor: string | null;
};

/**
 * Where an agent's programs may connect to. `deny` takes precedence over `allow`.
 */
export type Network = {
    allow: Array<string>;
    deny: Array<string>;
    /**
     * Whether a person is asked about destinations that are on neither list.
     */
    ask: boolean;
    /**
     * The author of the lists; null also while they are the default.
     */
    createdBy: Author | null;
    /**
     * The installation's own lists, which override every agent's.
     */
    operator: {
        allow: Array<string>;
        deny: Array<string>;
    };
};

/**
 * The agent's closed connections, by start time, newest first.
 */
export type NetworkLog = {
    data: Array<NetworkLogEntry>;
    nextCursor: string | null;
};

export type NetworkLogEntry = {
    id: string;
    startedAt: string;
    finishedAt: string;
    verdict: 'allowed' | 'refused';
    /**
     * The reason of a refusal.
     */
    reason: 'destination_invalid' | 'inside' | 'port_refused' | 'denied_by_operator' | 'not_allowed_by_operator' | 'denied' | 'not_allowed' | 'asked' | 'too_many' | null;
    /**
     * The outcome of an allowed connection.
     */
    outcome: 'closed' | 'reset' | 'unresolved' | 'unreachable' | 'timeout' | 'idle' | 'cut' | null;
    /**
     * As requested; `*` for refusals of many hosts together.
     */
    host: string;
    port: number | null;
    /**
     * The IP address of the destination.
     */
    address: string | null;
    /**
     * Bytes sent by the agent.
     */
    bytesSent: number;
    /**
     * Bytes received by the agent.
     */
    bytesReceived: number;
    /**
     * The number of connections; more than one for grouped refusals.
     */
    count: number;
};

/**
 * Connections of an agent were refused. On /events: `host.refused`.
 */
export type NetworkRefusedEvent = {
    type: 'network.refused';
    /**
     * When it happened, also at later tries.
     */
    timestamp: string;
    data: {
        /**
         * The agent's name.
         */
        agent: string;
        /**
         * `*` for a group of refused hosts.
         */
        host: string;
        port: number | null;
        reason: 'destination_invalid' | 'inside' | 'port_refused' | 'denied_by_operator' | 'not_allowed_by_operator' | 'denied' | 'not_allowed' | 'asked' | 'too_many';
        /**
         * The number of connections.
         */
        count: number;
    };
};

export type NotificationChannel = {
    channel: 'push' | 'email' | 'ntfy';
    /**
     * Whether notifications are sent over it.
     */
    ready: boolean;
    /**
     * Why it is not ready, and what to do. Null: it is.
     */
    missing: string | null;
    /**
     * Why the last notification was refused for good. Null: none was, or a later one arrived.
     */
    failure: {
        message: string;
        at: string;
    } | null;
};

export type NotificationTest = {
    channels: Array<{
        channel: 'push' | 'email' | 'ntfy';
        sent: boolean;
        /**
         * Why it was not sent. Null: it was.
         */
        error: string | null;
    }>;
};

/**
 * `needs-me`: what waits for the person or failed. `all`: also what completed, and what waits for others. `none`: nothing.
 */
export type Notify = 'all' | 'needs-me' | 'none';

/**
 * A conversation of OpenAI's Conversations API.
 */
export type OpenAiConversation = {
    id: string;
    object: 'conversation';
    created_at: number;
    metadata: {
        [key: string]: string;
    };
    [key: string]: unknown;
};

/**
 * A file of OpenAI's Files API.
 */
export type OpenAiFile = {
    id: string;
    object: 'file';
    bytes: number;
    created_at: number;
    expires_at: number;
    filename: string;
    purpose: string;
    status: 'processed';
    [key: string]: unknown;
};

/**
 * An item of a response's output.
 */
export type OpenAiOutputItem = {
    type: 'message';
    id: string;
    status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
    role: 'assistant';
    content: Array<{
        type: 'output_text';
        text: string;
        annotations: Array<unknown>;
        [key: string]: unknown;
    }>;
    [key: string]: unknown;
} | {
    type: 'reasoning';
    id: string;
    summary: Array<unknown>;
    content: Array<{
        type: 'reasoning_text';
        text: string;
        [key: string]: unknown;
    }>;
    [key: string]: unknown;
} | {
    type: 'function_call';
    id: string;
    status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
    call_id: string;
    name: string;
    arguments: string;
    [key: string]: unknown;
} | {
    type: 'mcp_call';
    id: string;
    status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
    server_label: string;
    name: string;
    arguments: string;
    output: string | null;
    error: string | null;
    [key: string]: unknown;
};

/**
 * A response of OpenAI's Responses API.
 */
export type OpenAiResponse = {
    id: string;
    object: 'response';
    created_at: number;
    completed_at: number | null;
    status: 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled';
    background: boolean;
    error: {
        code: string;
        message: string;
        [key: string]: unknown;
    } | null;
    incomplete_details: {
        reason: string;
        [key: string]: unknown;
    } | null;
    instructions: string | null;
    metadata: {
        [key: string]: string;
    };
    /**
     * The agent's name.
     */
    model: string;
    output: Array<OpenAiOutputItem>;
    previous_response_id: string | null;
    store: boolean;
    tools: Array<{
        type: string;
        strict: boolean | null;
        [key: string]: unknown;
    }>;
    tool_choice: 'auto' | 'none';
    text: {
        format: {
            type: string;
            [key: string]: unknown;
        };
        [key: string]: unknown;
    };
    usage: {
        input_tokens: number;
        input_tokens_details: {
            cached_tokens: number;
            [key: string]: unknown;
        };
        output_tokens: number;
        output_tokens_details: {
            reasoning_tokens: number;
            [key: string]: unknown;
        };
        total_tokens: number;
        [key: string]: unknown;
    } | null;
    frequency_penalty: number;
    max_output_tokens: number | null;
    max_tool_calls: number | null;
    parallel_tool_calls: boolean;
    presence_penalty: number;
    prompt_cache_key: string | null;
    reasoning: {
        effort: string | null;
        summary: string | null;
        [key: string]: unknown;
    };
    safety_identifier: string | null;
    service_tier: string;
    temperature: number;
    top_logprobs: number;
    top_p: number;
    truncation: 'auto' | 'disabled';
    [key: string]: unknown;
};

/**
 * An event of a response's stream.
 */
export type OpenAiResponseEvent = {
    type: 'response.created';
    sequence_number: number;
    response: OpenAiResponse;
    [key: string]: unknown;
} | {
    type: 'response.in_progress';
    sequence_number: number;
    response: OpenAiResponse;
    [key: string]: unknown;
} | {
    type: 'response.completed';
    sequence_number: number;
    response: OpenAiResponse;
    [key: string]: unknown;
} | {
    type: 'response.failed';
    sequence_number: number;
    response: OpenAiResponse;
    [key: string]: unknown;
} | {
    type: 'response.incomplete';
    sequence_number: number;
    response: OpenAiResponse;
    [key: string]: unknown;
} | {
    type: 'response.output_item.added';
    sequence_number: number;
    output_index: number;
    item: OpenAiOutputItem;
    [key: string]: unknown;
} | {
    type: 'response.output_item.done';
    sequence_number: number;
    output_index: number;
    item: OpenAiOutputItem;
    [key: string]: unknown;
} | {
    type: 'response.content_part.added';
    sequence_number: number;
    item_id: string;
    output_index: number;
    content_index: number;
    part: {
        type: 'output_text';
        text: string;
        annotations: Array<unknown>;
        [key: string]: unknown;
    } | {
        type: 'reasoning_text';
        text: string;
        [key: string]: unknown;
    };
    [key: string]: unknown;
} | {
    type: 'response.content_part.done';
    sequence_number: number;
    item_id: string;
    output_index: number;
    content_index: number;
    part: {
        type: 'output_text';
        text: string;
        annotations: Array<unknown>;
        [key: string]: unknown;
    } | {
        type: 'reasoning_text';
        text: string;
        [key: string]: unknown;
    };
    [key: string]: unknown;
} | {
    type: 'response.output_text.delta';
    sequence_number: number;
    item_id: string;
    output_index: number;
    content_index: number;
    delta: string;
    [key: string]: unknown;
} | {
    type: 'response.output_text.done';
    sequence_number: number;
    item_id: string;
    output_index: number;
    content_index: number;
    text: string;
    [key: string]: unknown;
} | {
    type: 'response.reasoning_text.delta';
    sequence_number: number;
    item_id: string;
    output_index: number;
    content_index: number;
    delta: string;
    [key: string]: unknown;
} | {
    type: 'response.reasoning_text.done';
    sequence_number: number;
    item_id: string;
    output_index: number;
    content_index: number;
    text: string;
    [key: string]: unknown;
} | {
    type: 'response.function_call_arguments.delta';
    sequence_number: number;
    item_id: string;
    output_index: number;
    delta: string;
    [key: string]: unknown;
} | {
    type: 'response.function_call_arguments.done';
    sequence_number: number;
    item_id: string;
    output_index: number;
    arguments: string;
    [key: string]: unknown;
} | {
    type: 'response.mcp_call.in_progress';
    sequence_number: number;
    item_id: string;
    output_index: number;
    [key: string]: unknown;
} | {
    type: 'response.mcp_call_arguments.done';
    sequence_number: number;
    item_id: string;
    output_index: number;
    arguments: string;
    [key: string]: unknown;
} | {
    type: 'response.mcp_call.completed';
    sequence_number: number;
    item_id: string;
    output_index: number;
    [key: string]: unknown;
} | {
    type: 'response.mcp_call.failed';
    sequence_number: number;
    item_id: string;
    output_index: number;
    [key: string]: unknown;
};

/**
 * Orphaned files in the quarantine.
 */
export type Orphan = {
    /**
     * The id of the agent or snapshot that the files belonged to.
     */
    id: string;
    kind: 'machine' | 'snapshot' | 'import';
    /**
     * ISO 8601.
     */
    quarantinedAt: string;
    /**
     * When the service deletes the files. ISO 8601.
     */
    removedAt: string;
    /**
     * The agent's name, if the files contain it.
     */
    agent: string | null;
    runtime: string | null;
    /**
     * Bytes on disk, without data shared with other machines.
     */
    bytes: number;
};

export type OrphanList = {
    data: Array<Orphan>;
};

export type PermissionRule = {
    kind: 'read' | 'edit' | 'execute' | 'fetch' | 'mcp' | 'other';
    /**
     * Compared with the whole command (`execute`), absolute path (`read`, `edit`), host (`fetch`), `server/tool` (`mcp`) or name of the tool (`other`). `*` stands for any characters, `?` for one, and `\` before a character for that character.
     */
    pattern: string;
    decision: 'allow' | 'ask' | 'deny';
};

/**
 * For each kind of tool: `allow`, `ask` (the turn waits for an approval) or `deny`. The runtime enforces this in the machine; egress rules and secrets are the boundaries.
 */
export type Permissions = {
    read: 'allow' | 'ask' | 'deny';
    edit: 'allow' | 'ask' | 'deny';
    execute: 'allow' | 'ask' | 'deny';
    fetch: 'allow' | 'ask' | 'deny';
    mcp: 'allow' | 'ask' | 'deny';
    other: 'allow' | 'ask' | 'deny';
    /**
     * The first rule that matches decides; without one, the kind's decision.
     */
    rules: Array<PermissionRule>;
};

/**
 * For each kind of tool: `allow`, `ask` (the turn waits for an approval) or `deny`. The runtime enforces this in the machine; egress rules and secrets are the boundaries.
 */
export type PermissionsInput = {
    read?: 'allow' | 'ask' | 'deny';
    edit?: 'allow' | 'ask' | 'deny';
    execute?: 'allow' | 'ask' | 'deny';
    fetch?: 'allow' | 'ask' | 'deny';
    mcp?: 'allow' | 'ask' | 'deny';
    other?: 'allow' | 'ask' | 'deny';
    /**
     * The first rule that matches decides; without one, the kind's decision.
     */
    rules?: Array<PermissionRule>;
};

export type Person = {
    id: string;
    name: string;
    email: string | null;
    emailVerified: boolean;
    timeZone: string | null;
    createdAt: string;
    /**
     * Accurate to a minute.
     */
    lastSeenAt: string | null;
};

export type PlanStep = {
    text: string;
    status: 'pending' | 'in_progress' | 'completed';
};

export type PortList = {
    data: Array<ListeningPort>;
};

/**
 * How a person is notified.
 */
export type Profile = {
    /**
     * The address for mail. Null: unknown.
     */
    email: string | null;
    /**
     * By a link, or by the identity provider.
     */
    emailVerified: boolean;
    /**
     * An address that replaces `email` once its link was opened. Null: none.
     */
    pendingEmail: string | null;
    emailNotifications: boolean;
    timeZone: string | null;
    /**
     * `timeZone`, or that of the sign-in, or UTC.
     */
    effectiveTimeZone: string;
    quietHours: QuietHours | null;
    notify: Notify;
    ntfy: {
        url: string;
        hasToken: boolean;
    } | null;
    channels: Array<NotificationChannel>;
};

export type Program = {
    /**
     * The program's id, the same for all its sign-ins.
     */
    id: string;
    /**
     * The name it gives itself, or the host of its document.
     */
    name: string;
    /**
     * The https address of its document; null: it registered with an unverified name.
     */
    address: string | null;
    /**
     * The oldest sign-in that is still valid.
     */
    signedInAt: string;
    /**
     * When it last renewed its token. An active program renews it every ten minutes.
     */
    lastUsedAt: string;
};

/**
 * The signed-in programs, last used first; up to 100.
 */
export type ProgramList = {
    data: Array<Program>;
};

export type ProtectedResource = {
    resource: string;
    resource_name: string;
    authorization_servers: Array<string>;
    scopes_supported: Array<string>;
    bearer_methods_supported: Array<string>;
    /**
     * The `aud` that tokens must have.
     */
    berth_audience: string;
    /**
     * The client id of the command line tool at the provider.
     */
    berth_tool_client_id: string;
    berth_dashboard_client_id: string;
};

export type Provider = {
    name: string;
    kind: 'anthropic' | 'openai' | 'openai-compatible' | 'google' | 'azure' | 'bedrock' | 'vertex' | 'claude' | 'chatgpt';
    /**
     * `person`: a subscription for you alone, and your private agents; it goes with your membership. `workspace`: for this workspace, which pays the provider itself. `installation`: for all workspaces, which pay with credits; only the operator can set it.
     */
    scope: 'person' | 'workspace' | 'installation';
    /**
     * `environment`: the server's settings (`ANTHROPIC_API_KEY`, `OPENAI_API_KEY`, `GEMINI_API_KEY`), which only they change.
     */
    source: 'api' | 'environment';
    /**
     * The APIs that it speaks.
     */
    wires: Array<'messages' | 'chat' | 'responses' | 'gemini'>;
    /**
     * The runtimes that can use its models.
     */
    runtimes: Array<string>;
    /**
     * Null: the kind's usual address. Always null in the view of those who may not change the provider.
     */
    baseUrl: string | null;
    region: string | null;
    project: string | null;
    models: Array<string> | null;
    /**
     * The secret of the workspace that is its key. Null: there is none, or it is not shown to you.
     */
    secret: string | null;
    /**
     * Why calls fail before they are sent. Null: they are sent.
     */
    problem: string | null;
    /**
     * The end of the key, the access key's id, the service account's address, or the account of a `chatgpt` login. Null: there is none, or it is not shown to you.
     */
    credential: string | null;
    /**
     * False: the credentials were encrypted with another secret key, and must be set again.
     */
    readable: boolean;
    /**
     * Of `claude` and `chatgpt`.
     */
    login: ProviderLogin | null;
    createdBy: Author | null;
    /**
     * Null: it is from the environment.
     */
    createdAt: string | null;
    updatedAt: string | null;
};

/**
 * By name. One of yours hides those of the workspace and of the installation of the same name, and one of the workspace the installation's.
 */
export type ProviderList = {
    data: Array<Provider>;
    nextCursor: null;
};

/**
 * The login of a subscription.
 */
export type ProviderLogin = {
    /**
     * `pending`: a person is to finish it. `failed`: calls fail until it is connected again (`POST /providers/{name}/login`; for `claude`, another token).
     */
    status: 'pending' | 'connected' | 'failed';
    /**
     * The vendor's page where a person finishes it. Only in the view of those who may change the provider.
     */
    verificationUrl: string | null;
    /**
     * The code for that page. Do not pass it on.
     */
    userCode: string | null;
    /**
     * The end of the code.
     */
    expiresAt: string | null;
    /**
     * Why it has failed.
     */
    reason: string | null;
};

/**
 * The login of a subscription failed: calls fail until it is connected again.
 */
export type ProviderLoginFailedEvent = {
    type: 'provider.login_failed';
    /**
     * When it happened, also at later tries.
     */
    timestamp: string;
    data: {
        /**
         * The provider's name.
         */
        provider: string;
        kind: 'anthropic' | 'openai' | 'openai-compatible' | 'google' | 'azure' | 'bedrock' | 'vertex' | 'claude' | 'chatgpt';
        reason: string | null;
    };
};

/**
 * The result of one call for one token.
 */
export type ProviderTest = {
    ok: boolean;
    model: string;
    durationMs: number;
    /**
     * Why the call failed, as it would fail a turn.
     */
    error: {
        code: string;
        message: string;
    } | null;
};

export type PushSubscription = {
    id: string;
    name: string | null;
    /**
     * The push service's host.
     */
    service: string;
    createdAt: string;
    /**
     * When the push service last took a notification.
     */
    sentAt: string | null;
    /**
     * Why the last notification could not be sent.
     */
    error: string | null;
};

/**
 * The person's browsers, newest first.
 */
export type PushSubscriptionList = {
    data: Array<PushSubscription>;
    /**
     * The `applicationServerKey` that a browser subscribes with.
     */
    publicKey: string;
};

export type Queue = {
    /**
     * Why the queue does not continue: how the turn before it ended. Null: the next message begins when the agent has answered.
     */
    held: 'cancelled' | 'failed' | null;
    /**
     * In the order in which they begin.
     */
    data: Array<QueuedTurn>;
};

export type QueueAction = {
    /**
     * `resume`: begin the next message and continue. `discard`: cancel all messages that wait.
     */
    action: 'resume' | 'discard';
};

export type QueuedTurn = {
    /**
     * The turn's id.
     */
    id: string;
    /**
     * 1: the next to begin.
     */
    position: number;
    message: string;
    attachments: Array<Attachment>;
    createdBy: Author | null;
    queuedAt: string;
};

/**
 * Notifications wait from `from` to `to`, by the clock of the person's time zone, also over midnight.
 */
export type QuietHours = {
    from: string;
    to: string;
};

/**
 * The public address, as the server that responds sees it.
 */
export type Reachability = {
    /**
     * The service's public address (`BERTH_PUBLIC_URL`).
     */
    url: string;
    /**
     * Whether a phone can reach the service.
     */
    phone: {
        ok: boolean;
        /**
         * A sentence with the answer and its reason.
         */
        message: string;
    };
    /**
     * Whether the service has a certificate, and the last failure. Null: it speaks HTTP only.
     */
    certificate: {
        ok: boolean;
        /**
         * A sentence with the answer and its reason.
         */
        message: string;
    } | null;
    /**
     * Whether passkeys and push messages work at the public address.
     */
    passkeys: {
        ok: boolean;
        /**
         * A sentence with the answer and its reason.
         */
        message: string;
    };
};

export type Readiness = {
    ready: boolean;
    checks: {
        database: {
            ok: boolean;
            message: string;
        };
        image: {
            ok: boolean;
            message: string;
        };
        accelerator: {
            ok: boolean;
            message: string;
        };
        /**
         * Only with HTTPS.
         */
        certificate?: {
            ok: boolean;
            message: string;
        };
    };
};

export type ReplaceSigningKeys = {
    /**
     * Whether tokens signed with older keys become invalid immediately, for example after a theft.
     */
    now?: boolean;
};

export type RevertFiles = {
    /**
     * Names of files that the turn changed, as in its `changes`.
     */
    files: Array<string>;
    /**
     * `before`: take the turn's change back. `after`: make it again, which undoes a revert.
     */
    to?: 'before' | 'after';
};

export type RevertedFiles = {
    files: Array<{
        /**
         * The path, from the agent's home.
         */
        name: string;
        /**
         * How the request changed the file.
         */
        change: 'created' | 'changed' | 'deleted';
    }>;
};

/**
 * owner: everything. admin: everything but deleting the workspace and changing owners. member: creates and uses agents. viewer: reads agents, transcripts and files.
 */
export type Role = 'owner' | 'admin' | 'member' | 'viewer';

export type Rollback = {
    /**
     * A snapshot's name or id.
     */
    snapshot: string;
};

export type RotateSecret = {
    /**
     * The secret of the hook, where the sender chooses it. Required with `slack`, which is the signing secret of the app. Default: a random one.
     */
    secret?: string;
};

export type RunCommand = {
    /**
     * A command line for `bash -lc`, or a program and its arguments.
     */
    command: string | Array<string>;
    /**
     * The working directory: absolute, or relative to the home folder, which is the default.
     */
    cwd?: string;
    /**
     * Variables to add to those of a login.
     */
    env?: {
        [key: string]: string;
    };
    /**
     * The command's complete input.
     */
    stdin?: string;
    /**
     * Keeps the input open for `POST …/stdin`; otherwise it is closed.
     */
    openStdin?: boolean;
    user?: 'agent' | 'root';
    /**
     * The command is killed after this time. Default: an hour, or no limit for a detached command. Time during which its machine sleeps does not count.
     */
    timeoutSeconds?: number;
    /**
     * Returns immediately. Processes that the command leaves behind keep running.
     */
    detach?: boolean;
    /**
     * Allocates a terminal of this size.
     */
    terminal?: {
        cols: number;
        rows: number;
    };
};

/**
 * A run of an automation completed.
 */
export type RunCompletedEvent = {
    type: 'run.completed';
    /**
     * When it happened, also at later tries.
     */
    timestamp: string;
    data: {
        /**
         * The automation's name.
         */
        automation: string;
        /**
         * The agent's name.
         */
        agent: string;
        runId: string;
        /**
         * Null: it did not begin.
         */
        turnId: string | null;
        /**
         * Only with `include: ["content"]`, and while the agent is not private.
         */
        content?: {
            /**
             * The reply's text, up to 65536 characters.
             */
            reply: string;
            replyTruncated: boolean;
        };
    };
};

/**
 * A run of an automation failed.
 */
export type RunFailedEvent = {
    type: 'run.failed';
    /**
     * When it happened, also at later tries.
     */
    timestamp: string;
    data: {
        /**
         * The automation's name.
         */
        automation: string;
        /**
         * The agent's name.
         */
        agent: string;
        runId: string;
        /**
         * Null: it did not begin.
         */
        turnId: string | null;
        /**
         * Only with `include: ["content"]`, and while the agent is not private.
         */
        content?: {
            /**
             * The reply's text, up to 65536 characters.
             */
            reply: string;
            replyTruncated: boolean;
        };
        /**
         * The error's code.
         */
        reason: string | null;
    };
};

export type RunReason = {
    /**
     * A stable code: `overlap`, `queue_full` or `missed` of a run that was skipped, `replaced`, `cancelled`, `timeout`, or an error code.
     */
    code: string;
    /**
     * The reason, as a sentence.
     */
    message: string;
};

export type Runtime = {
    name: string;
    /**
     * One sentence about it.
     */
    description: string;
    /**
     * Its npm package; empty: each agent names its own program.
     */
    package: string;
    /**
     * Whether an agent on it names a program, `acp`.
     */
    needsProgram: boolean;
    /**
     * The package's version in this installation's guest image.
     */
    version: string | null;
    /**
     * The APIs of models that it can use.
     */
    wires: Array<'messages' | 'chat' | 'responses' | 'gemini'>;
    /**
     * The names of the providers whose models it can use.
     */
    providers: Array<string>;
    /**
     * The model of an agent that sets none; null: the runtime chooses.
     */
    defaultModel: string | null;
    abilities: {
        instructions: {
            supported: boolean;
            /**
             * Why it is unsupported, or how it is limited.
             */
            reason: string | null;
        };
        model: {
            supported: boolean;
            /**
             * Why it is unsupported, or how it is limited.
             */
            reason: string | null;
        };
        effort: {
            supported: boolean;
            /**
             * Why it is unsupported, or how it is limited.
             */
            reason: string | null;
        };
        reset: {
            supported: boolean;
            /**
             * Why it is unsupported, or how it is limited.
             */
            reason: string | null;
        };
        cancel: {
            supported: boolean;
            /**
             * Why it is unsupported, or how it is limited.
             */
            reason: string | null;
        };
        tools: {
            supported: boolean;
            /**
             * Why it is unsupported, or how it is limited.
             */
            reason: string | null;
        };
        reasoning: {
            supported: boolean;
            /**
             * Why it is unsupported, or how it is limited.
             */
            reason: string | null;
        };
        usage: {
            supported: boolean;
            /**
             * Why it is unsupported, or how it is limited.
             */
            reason: string | null;
        };
        permissions: {
            supported: boolean;
            /**
             * Why it is unsupported, or how it is limited.
             */
            reason: string | null;
        };
        steer: {
            supported: boolean;
            /**
             * Why it is unsupported, or how it is limited.
             */
            reason: string | null;
        };
        output: {
            supported: boolean;
            /**
             * Why it is unsupported, or how it is limited.
             */
            reason: string | null;
        };
    };
};

export type RuntimeList = {
    data: Array<Runtime>;
    nextCursor: null;
};

export type ScheduleTimes = {
    /**
     * Without jitter, the next one first.
     */
    times: Array<string>;
};

/**
 * An automation runs at the times of a line of cron, or once.
 */
export type ScheduleTrigger = {
    type: 'schedule';
    /**
     * Minute, hour, day of month, month, day of week. If both days are restricted, one of them has to match. Requires `timeZone`.
     */
    cron?: string;
    /**
     * A time zone of the IANA database.
     */
    timeZone?: string;
    /**
     * Seconds by which a run of `cron` may be late, 0 to 3600: each automation has its own delay. Less than the time between two runs. Default: 0.
     */
    jitter?: number;
    /**
     * The time of the only run, in place of `cron`.
     */
    at?: string;
};

export type SearchMatch = {
    /**
     * The agent's name.
     */
    agent: string;
    /**
     * The turn's conversation: its number and title.
     */
    conversation: {
        id: number;
        title: string | null;
    };
    turnId: string;
    /**
     * Whether a message or a reply matches.
     */
    kind: 'message' | 'reply';
    /**
     * When the turn began.
     */
    createdAt: string;
    /**
     * The text around the first match, up to 200 characters, with spaces for line breaks.
     */
    excerpt: string;
    /**
     * Where the excerpt matches: its UTF-16 units from `start` up to `end`.
     */
    matches: Array<{
        start: number;
        end: number;
    }>;
};

/**
 * The matching messages and replies, the newest turn first.
 */
export type SearchResult = {
    data: Array<SearchMatch>;
    nextCursor: string | null;
};

export type Secret = {
    name: string;
    hosts: Array<string>;
    headers: Array<string>;
    /**
     * The placeholder that the agent's programs see and send in place of the value.
     */
    placeholder: string;
    /**
     * The owner of the secret. The agent's own one of a name hides the workspace's.
     */
    from: 'agent' | 'workspace';
    /**
     * The author of the last change.
     */
    createdBy: Author | null;
    createdAt: string;
    updatedAt: string;
};

/**
 * A secret of the workspace, or who can use it, was changed.
 */
export type SecretChangedEvent = {
    type: 'secret.changed';
    /**
     * When it happened, also at later tries.
     */
    timestamp: string;
    data: {
        /**
         * The secret's name.
         */
        secret: string;
    };
};

/**
 * A secret of the workspace was created.
 */
export type SecretCreatedEvent = {
    type: 'secret.created';
    /**
     * When it happened, also at later tries.
     */
    timestamp: string;
    data: {
        /**
         * The secret's name.
         */
        secret: string;
    };
};

/**
 * A secret of the workspace was deleted.
 */
export type SecretDeletedEvent = {
    type: 'secret.deleted';
    /**
     * When it happened, also at later tries.
     */
    timestamp: string;
    data: {
        /**
         * The secret's name.
         */
        secret: string;
    };
};

/**
 * The secrets that the agent can use, by name, without their values.
 */
export type SecretList = {
    data: Array<Secret>;
    nextCursor: string | null;
};

/**
 * The sign-in to an MCP server whose token is the secret's value.
 */
export type SecretLogin = {
    /**
     * The MCP server's address.
     */
    url: string;
    /**
     * `pending`: a person is to finish it. `failed`: requests of agents fail until it is connected again (`POST /secrets/{secret}/connect`).
     */
    status: 'pending' | 'connected' | 'failed';
    /**
     * The scopes that the authorization server has allowed.
     */
    scopes: Array<string>;
    /**
     * The end of the current token. It is refreshed before, if the authorization server allows that.
     */
    expiresAt: string | null;
    /**
     * When a person last finished it.
     */
    connectedAt: string | null;
    /**
     * Until when a person can finish it. Null: there is no attempt, or it has ended.
     */
    attemptExpiresAt: string | null;
    /**
     * Why it, or the last attempt to connect it again, failed.
     */
    reason: string | null;
};

/**
 * A sign-in to an MCP server failed or has expired: requests fail until it is connected again.
 */
export type SecretLoginFailedEvent = {
    type: 'secret.login_failed';
    /**
     * When it happened, also at later tries.
     */
    timestamp: string;
    data: {
        /**
         * The secret's name.
         */
        secret: string;
        /**
         * The MCP server's address.
         */
        url: string;
        reason: string | null;
    };
};

/**
 * The key file of a Google service account, as JSON. It is never returned.
 */
export type ServiceAccount = {
    type: 'service_account';
    client_email: string;
    private_key_id?: string;
    private_key: string;
    token_uri: string;
};

export type SetAgentNotify = {
    notify: Notify;
};

export type SetSecret = {
    /**
     * Never returned again.
     */
    value: string;
    /**
     * The hosts that the value may be sent to: a host, or all names below it (`*.example.com`), with a port unless it is 443. Over TLS only, unless the host begins with `http://`.
     */
    hosts: Array<string>;
    /**
     * The request headers that the placeholder is replaced in, such as `x-api-key`.
     */
    headers?: Array<string>;
};

/**
 * Fields that are not given keep what they were.
 */
export type SetSkill = {
    /**
     * Adds the skill from there, or replaces its files.
     */
    git?: SkillGit;
    /**
     * With `git`: refuse content with another hash.
     */
    hash?: string;
    /**
     * The agents that have it, by name. Null: all, also those that are created later. Empty: none.
     */
    agents?: Array<string> | null;
};

/**
 * Fields that are not given keep what they were. For a new secret, `headers` is `authorization` and `agents` is null.
 */
export type SetWorkspaceSecret = {
    /**
     * Never returned again. Required for a new secret, and to add a host or a header.
     */
    value?: string;
    /**
     * The hosts that the value may be sent to: a host, or all names below it (`*.example.com`), with a port unless it is 443. Over TLS only, unless the host begins with `http://`.
     */
    hosts?: Array<string>;
    /**
     * The request headers that the placeholder is replaced in, such as `x-api-key`.
     */
    headers?: Array<string>;
    /**
     * The agents that can use it, by name. Null: all, also those that are created later. Empty: none.
     */
    agents?: Array<string> | null;
};

export type Share = {
    id: string;
    port: number;
    createdBy: Author | null;
    createdAt: string;
    expiresAt: string | null;
    /**
     * The link. It is shown only once.
     */
    url: string;
};

export type ShareList = {
    data: Array<ShareRecord>;
};

export type ShareRecord = {
    id: string;
    port: number;
    createdBy: Author | null;
    createdAt: string;
    expiresAt: string | null;
};

export type SignalCommand = {
    signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL' | 'SIGHUP' | 'SIGQUIT' | 'SIGUSR1' | 'SIGUSR2' | 'SIGSTOP' | 'SIGCONT' | 'SIGTSTP' | 'SIGALRM' | 'SIGABRT' | 'SIGWINCH';
};

export type SigningKeysReplaced = {
    /**
     * Until when tokens signed with older keys are valid.
     */
    oldKeysUntil: string;
};

export type Skill = {
    /**
     * The `name` of its SKILL.md, and its folder in the machine.
     */
    name: string;
    description: string;
    license: string | null;
    /**
     * The requirements on its environment, as its author states them.
     */
    compatibility: string | null;
    metadata: {
        [key: string]: string;
    };
    /**
     * The tools that it says it uses, `allowed-tools`. They give no rights: the agent's permissions decide about each use.
     */
    allowedTools: Array<string>;
    /**
     * The paths of the files that it may run: executable ones, scripts, and all below `scripts`.
     */
    programs: Array<string>;
    /**
     * The SHA-256 of a text with one line for each file, in the order of the paths' bytes: the SHA-256 of its content, a space, `x` if it is executable or `-`, a space, the path, a line feed.
     */
    hash: string;
    /**
     * The bytes of all files.
     */
    size: number;
    source: SkillSource;
    /**
     * The agents that have it, by name, without other people's private ones. Null: all.
     */
    agents: Array<string> | null;
    /**
     * The author of the last change.
     */
    createdBy: Author | null;
    createdAt: string;
    updatedAt: string;
    /**
     * Its SKILL.md, complete.
     */
    instructions: string;
    files: Array<SkillFile>;
};

/**
 * A skill of the workspace, or the list of agents that have it, was changed.
 */
export type SkillChangedEvent = {
    type: 'skill.changed';
    /**
     * When it happened, also at later tries.
     */
    timestamp: string;
    data: {
        /**
         * The skill's name.
         */
        skill: string;
    };
};

/**
 * A skill of the workspace was added.
 */
export type SkillCreatedEvent = {
    type: 'skill.created';
    /**
     * When it happened, also at later tries.
     */
    timestamp: string;
    data: {
        /**
         * The skill's name.
         */
        skill: string;
    };
};

/**
 * A skill of the workspace was deleted.
 */
export type SkillDeletedEvent = {
    type: 'skill.deleted';
    /**
     * When it happened, also at later tries.
     */
    timestamp: string;
    data: {
        /**
         * The skill's name.
         */
        skill: string;
    };
};

export type SkillFile = {
    path: string;
    /**
     * In bytes.
     */
    size: number;
    executable: boolean;
};

/**
 * A folder of a git repository, which the service reads once.
 */
export type SkillGit = {
    /**
     * The address of a public repository: https://HOST/PATH.
     */
    url: string;
    /**
     * A branch, a tag or a commit. Null: HEAD. It is resolved to a commit once.
     */
    ref?: string | null;
    /**
     * The skill's folder in the repository. Null: its root.
     */
    path?: string | null;
};

/**
 * The workspace's skills by name, without their files.
 */
export type SkillList = {
    data: Array<SkillSummary>;
    nextCursor: string | null;
};

/**
 * Where its content came from.
 */
export type SkillSource = {
    type: 'archive';
} | {
    type: 'git';
    url: string;
    ref: string | null;
    path: string | null;
    /**
     * The id of the commit.
     */
    commit: string;
};

export type SkillSummary = {
    /**
     * The `name` of its SKILL.md, and its folder in the machine.
     */
    name: string;
    description: string;
    license: string | null;
    /**
     * The requirements on its environment, as its author states them.
     */
    compatibility: string | null;
    metadata: {
        [key: string]: string;
    };
    /**
     * The tools that it says it uses, `allowed-tools`. They give no rights: the agent's permissions decide about each use.
     */
    allowedTools: Array<string>;
    /**
     * The paths of the files that it may run: executable ones, scripts, and all below `scripts`.
     */
    programs: Array<string>;
    /**
     * The SHA-256 of a text with one line for each file, in the order of the paths' bytes: the SHA-256 of its content, a space, `x` if it is executable or `-`, a space, the path, a line feed.
     */
    hash: string;
    /**
     * The bytes of all files.
     */
    size: number;
    source: SkillSource;
    /**
     * The agents that have it, by name, without other people's private ones. Null: all.
     */
    agents: Array<string> | null;
    /**
     * The author of the last change.
     */
    createdBy: Author | null;
    createdAt: string;
    updatedAt: string;
};

export type SlackAnswer = {
    challenge?: string;
    response_type?: 'ephemeral';
    text?: string;
};

export type Snapshot = {
    id: string;
    name: string;
    /**
     * Null also for one that the service made before a turn.
     */
    createdBy: Author | null;
    createdAt: string;
    /**
     * `asked`: requested by the owner. `rollback`: made before a rollback, so that it can be undone. `turn`: made before a turn, without memory, as `autoSnapshot` requests. `upgrade`: made before an upgrade, so that it can be undone.
     */
    reason: 'asked' | 'rollback' | 'turn' | 'upgrade';
    /**
     * The agent's runtime at that time.
     */
    runtime: string;
    /**
     * The number of the agent's conversation at that time.
     */
    conversation: number;
    /**
     * Whether programs resume, or the machine boots from the disk.
     */
    hasMemory: boolean;
    /**
     * Its size on the host's disk, without data shared with others.
     */
    bytes: number;
    /**
     * The turn that was running or about to run. It is not resumed.
     */
    turnId: string | null;
};

/**
 * A snapshot of an agent was created.
 */
export type SnapshotCreatedEvent = {
    type: 'snapshot.created';
    /**
     * When it happened, also at later tries.
     */
    timestamp: string;
    data: {
        /**
         * The agent's name.
         */
        agent: string;
        snapshotId: string;
    };
};

/**
 * An agent's snapshots, oldest first.
 */
export type SnapshotList = {
    data: Array<Snapshot>;
};

export type SshAccess = {
    /**
     * The certificate for your key, as in `id_ed25519-cert.pub`.
     */
    certificate: string;
    /**
     * The machine's public host key.
     */
    hostKey: string;
    expiresAt: string;
};

export type SshRequest = {
    /**
     * Your public key, of type ssh-ed25519, as in `id_ed25519.pub`.
     */
    publicKey: string;
    user?: 'agent' | 'root';
};

export type TestProvider = {
    /**
     * The name of the model that is called. Default: the first of its models.
     */
    model?: string;
};

export type Ticket = {
    /**
     * Valid once, as `?ticket=`, for this agent and purpose.
     */
    ticket: string;
    expiresAt: string;
    /**
     * For a preview: the address to open in a browser.
     */
    url: string | null;
};

export type TicketRequest = {
    for: 'terminal';
} | {
    for: 'port';
} | {
    for: 'ssh';
} | {
    for: 'file';
    /**
     * The file or folder to read, with the agent's permissions.
     */
    path: string;
} | {
    for: 'preview';
    port: number;
    /**
     * The page to open.
     */
    path?: string;
};

export type TopUp = {
    id: string;
    /**
     * The payment page.
     */
    url: string;
    credits: string;
    /**
     * When the page expires.
     */
    expiresAt: string;
};

/**
 * When an automation runs: at times, or for deliveries.
 */
export type Trigger = ScheduleTrigger | HookTrigger;

export type Turn = {
    id: string;
    /**
     * The number of its conversation: 1, 2, ….
     */
    conversation: number;
    message: string;
    /**
     * The images and files of the message.
     */
    attachments: Array<Attachment>;
    /**
     * The reply's text so far, up to 65,536 characters.
     */
    reply: string;
    /**
     * The reply was truncated; the turn's events have all of it.
     */
    replyTruncated: boolean;
    /**
     * The output that the request asked for; null: none.
     */
    output: {
        [key: string]: unknown;
    } | null;
    status: 'queued' | 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled';
    /**
     * Why the turn is `waiting`.
     */
    reason: 'approval' | null;
    error: Fault | null;
    /**
     * The requested model; null: the runtime's default.
     */
    model: string | null;
    /**
     * The effort that the message asked for; null: the agent's.
     */
    effort: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max' | null;
    usage: Usage;
    /**
     * The turn of another agent that started this one; null: a client did.
     */
    askedBy: {
        agent: string;
        turnId: string;
    } | null;
    createdBy: Author | null;
    /**
     * The files that changed during the turn. Null: the turn has not ended, or it is not known.
     */
    changes: TurnChanges | null;
    /**
     * When it was queued; null: it began at once.
     */
    queuedAt: string | null;
    /**
     * Whether the agent was rolled back to a point before the turn's end, so that it does not remember the turn.
     */
    undone: boolean;
    /**
     * When it began; of a turn that has not begun, when it was queued.
     */
    createdAt: string;
    finishedAt: string | null;
    /**
     * All of the turn's events, with neighbouring pieces of text joined; in lists that ask for them. Null: the turn has not ended, or they are too large for the list: read its stream.
     */
    events?: Array<TurnEvent> | null;
};

/**
 * A turn was cancelled. On /events: `turn.ended`.
 */
export type TurnCancelledEvent = {
    type: 'turn.cancelled';
    /**
     * When it happened, also at later tries.
     */
    timestamp: string;
    data: {
        /**
         * The agent's name.
         */
        agent: string;
        turnId: string;
        /**
         * Only with `include: ["content"]`, and while the agent is not private.
         */
        content?: {
            /**
             * The reply's text, up to 65536 characters.
             */
            reply: string;
            replyTruncated: boolean;
        };
    };
};

/**
 * The files of the agent's home that differ from before the turn, without ignored files and caches.
 */
export type TurnChanges = {
    created: number;
    changed: number;
    deleted: number;
    /**
     * Sorted by name. At most 2000; in lists of turns at most 20.
     */
    files: Array<FileChange>;
    /**
     * Whether `files` lacks some of the files.
     */
    cut: boolean;
    /**
     * Changes by all programs and people during the turn are included, not only the agent's.
     */
    writers: 'all';
};

export type TurnChangesWithDiffs = {
    created: number;
    changed: number;
    deleted: number;
    files: Array<{
        /**
         * The path, from the agent's home.
         */
        name: string;
        change: 'created' | 'changed' | 'deleted';
        /**
         * In bytes, after the turn; null for a deleted file.
         */
        size: number | null;
        /**
         * SHA-256 of the file after the turn, in hexadecimal; null for a deleted or a very large file.
         */
        hash: string | null;
        /**
         * The hunks of a unified diff against the file from before the turn. Null: the file is not text or exceeds 1 MiB, the diffs of the turn exceed 1 MiB together, or there is no copy from before.
         */
        diff: string | null;
    }>;
    /**
     * Whether `files` lacks some of the files.
     */
    cut: boolean;
    /**
     * Changes by all programs and people during the turn are included, not only the agent's.
     */
    writers: 'all';
};

/**
 * A turn completed. On /events: `turn.ended`.
 */
export type TurnCompletedEvent = {
    type: 'turn.completed';
    /**
     * When it happened, also at later tries.
     */
    timestamp: string;
    data: {
        /**
         * The agent's name.
         */
        agent: string;
        turnId: string;
        /**
         * Only with `include: ["content"]`, and while the agent is not private.
         */
        content?: {
            /**
             * The reply's text, up to 65536 characters.
             */
            reply: string;
            replyTruncated: boolean;
        };
    };
};

export type TurnEvent = {
    type: 'response.created';
} | {
    type: 'response.queued';
    /**
     * `turn`: until the agent has answered the messages before. `slot`: for a machine slot. Missing in events of earlier versions, which were for a slot.
     */
    for?: 'turn' | 'slot';
    /**
     * 1: next. Sent again when it changes.
     */
    position: number;
} | {
    type: 'response.in_progress';
    /**
     * How long the agent's machine took to become ready.
     */
    wakeMs: number;
} | {
    type: 'response.output_text.delta';
    delta: string;
} | {
    type: 'response.reasoning_text.delta';
    delta: string;
} | {
    type: 'response.tool_call.started' | 'response.tool_call.updated' | 'response.tool_call.completed';
    id: string;
    name?: string;
    title?: string;
    status?: string;
    input?: unknown;
    output?: unknown;
    /**
     * When the server received it. Missing in updates, and in turns of earlier versions.
     */
    at?: string;
} | {
    /**
     * The agent has made or changed the list of steps of its work. Each event has all steps.
     */
    type: 'response.plan.updated';
    steps: Array<PlanStep>;
} | {
    /**
     * The agent is waiting for a function of its client.
     */
    type: 'response.function_call';
    callId: string;
    name: string;
    /**
     * JSON.
     */
    arguments: string;
    /**
     * Usage of the turn so far. Sent when `include` has `usage`.
     */
    usage?: Usage;
    /**
     * The event's time. Sent when `include` has `usage`.
     */
    at?: string;
} | {
    /**
     * The turn waits until the use of a tool is allowed or denied.
     */
    type: 'response.approval.requested';
    id: string;
    /**
     * The id of the tool call's events.
     */
    toolCallId: string | null;
    kind: 'read' | 'edit' | 'execute' | 'fetch' | 'mcp' | 'other';
    title: string;
    /**
     * The command, path, host or tool that rules are compared with; null: none.
     */
    subject: string | null;
    /**
     * The tool's name in the runtime.
     */
    tool: string | null;
    /**
     * The tool's input.
     */
    input: unknown;
    /**
     * The changes of files, where the runtime shows them; null: none, or more than 128 KiB.
     */
    diff: Array<Diff> | null;
} | {
    /**
     * The runtime has the answer.
     */
    type: 'response.approval.resolved';
    id: string;
    /**
     * Null: the turn or the tool was cancelled first.
     */
    decision: 'allow' | 'allow-always' | 'deny' | null;
} | {
    /**
     * A message has reached the running turn.
     */
    type: 'response.steered';
    /**
     * The id of the request that sent it.
     */
    id: string;
    message: string;
    /**
     * Null: unknown. Missing for an external agent key.
     */
    createdBy?: Author | null;
} | {
    /**
     * Four fifths of a limit are used, the agent repeats a tool call, or another model answers in place of the agent's.
     */
    type: 'response.warning';
    reason: 'balance' | 'monthly_limit' | 'key_limit' | 'turn_limit' | 'caused_limit' | 'minutes_limit' | 'tool_calls_limit' | 'repeated_tool_call' | 'model_fallback';
    /**
     * Credits as a decimal string, minutes, or tool calls.
     */
    limit?: string | number;
    /**
     * How much of the limit is used.
     */
    used?: string | number;
    /**
     * The warning as a sentence.
     */
    message: string;
} | {
    type: 'response.completed';
    /**
     * The output that the request asked for.
     */
    output?: {
        [key: string]: unknown;
    };
    /**
     * Usage of the turn so far. Sent when `include` has `usage`.
     */
    usage?: Usage;
    /**
     * The event's time. Sent when `include` has `usage`.
     */
    at?: string;
    /**
     * The files that changed during the turn. Missing if none did, or if it is not known.
     */
    changes?: TurnChanges;
} | {
    type: 'response.failed';
    error: Fault;
    /**
     * Usage of the turn so far. Sent when `include` has `usage`.
     */
    usage?: Usage;
    /**
     * The event's time. Sent when `include` has `usage`.
     */
    at?: string;
    /**
     * The files that changed during the turn. Missing if none did, or if it is not known.
     */
    changes?: TurnChanges;
} | {
    type: 'response.cancelled';
    /**
     * Usage of the turn so far. Sent when `include` has `usage`.
     */
    usage?: Usage;
    /**
     * The event's time. Sent when `include` has `usage`.
     */
    at?: string;
    /**
     * The files that changed during the turn. Missing if none did, or if it is not known.
     */
    changes?: TurnChanges;
};

/**
 * A turn failed. On /events: `turn.ended`.
 */
export type TurnFailedEvent = {
    type: 'turn.failed';
    /**
     * When it happened, also at later tries.
     */
    timestamp: string;
    data: {
        /**
         * The agent's name.
         */
        agent: string;
        turnId: string;
        /**
         * Only with `include: ["content"]`, and while the agent is not private.
         */
        content?: {
            /**
             * The reply's text, up to 65536 characters.
             */
            reply: string;
            replyTruncated: boolean;
        };
        /**
         * The error's code.
         */
        reason: string | null;
    };
};

/**
 * Messages wait because the turn before them did not complete.
 */
export type TurnHeldEvent = {
    type: 'turn.held';
    /**
     * When it happened, also at later tries.
     */
    timestamp: string;
    data: {
        /**
         * The agent's name.
         */
        agent: string;
        /**
         * The first turn that waits.
         */
        turnId: string | null;
        /**
         * How the turn before it ended.
         */
        reason: 'cancelled' | 'failed';
    };
};

/**
 * The agent's turns, newest first.
 */
export type TurnList = {
    data: Array<Turn>;
    nextCursor: string | null;
};

export type TurnSummary = {
    id: string;
    /**
     * Its first 200 characters.
     */
    message: string;
    /**
     * The first 400 characters of the reply so far.
     */
    reply: string;
    status: 'queued' | 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled';
    error: Fault | null;
    createdBy: Author | null;
    /**
     * When it began; of a turn that has not begun, when it was queued.
     */
    createdAt: string;
    finishedAt: string | null;
    /**
     * The agent's name.
     */
    agent: string;
};

/**
 * A turn waits for a person's approval. On /events: `approval.requested`.
 */
export type TurnWaitingEvent = {
    type: 'turn.waiting';
    /**
     * When it happened, also at later tries.
     */
    timestamp: string;
    data: {
        /**
         * The agent's name.
         */
        agent: string;
        turnId: string;
        approvalId: string;
    };
};

export type UpdateMember = {
    role: Role;
};

export type UpdateWorkspace = {
    /**
     * 1 to 64 letters, digits, signs and single spaces. Names that differ only in case are the same.
     */
    name: string;
};

export type Upload = {
    id: string;
    name: string;
    mediaType: string;
    /**
     * In bytes.
     */
    size: number;
    sha256: string;
    createdBy: Author | null;
    createdAt: string;
    /**
     * 24 hours after the upload, or seven days after the last message that used it.
     */
    expiresAt: string;
};

/**
 * An agent's uploads, newest first.
 */
export type UploadList = {
    data: Array<Upload>;
    nextCursor: string | null;
};

export type Usage = {
    /**
     * All input tokens, cached or not.
     */
    inputTokens: number;
    /**
     * All output tokens, including reasoning.
     */
    outputTokens: number;
    /**
     * Input tokens read from the provider's cache.
     */
    cacheReadTokens: number;
    /**
     * Input tokens written to the provider's cache.
     */
    cacheWriteTokens: number;
    /**
     * Reasoning tokens of the output, where the provider reports them.
     */
    reasoningTokens: number;
    /**
     * Input and output tokens of the turn's last model call: what the conversation takes of the model's context. Null: none yet, or not known.
     */
    contextTokens: number | null;
    /**
     * The most tokens that the model of that call takes in its context. Null: not known.
     */
    contextLimit: number | null;
    /**
     * The cost as a decimal number of credits; null where the price is unknown.
     */
    credits: string | null;
};

export type UsageByDay = {
    /**
     * Of UTC.
     */
    day: string;
    agent: string | null;
    /**
     * Null: machine time.
     */
    model: string | null;
    credits: string;
    /**
     * Cached tokens included.
     */
    inputTokens: number;
    /**
     * Reasoning tokens included.
     */
    outputTokens: number;
    cacheReadTokens: number;
    cacheWriteTokens: number;
    reasoningTokens: number;
    /**
     * Machine time, to the millisecond.
     */
    machineSeconds: number;
};

/**
 * Spending: newest day first, or highest cost first; up to 1000 rows.
 */
export type UsageReport = {
    by: 'day' | 'agent' | 'model' | 'key';
    since: string;
    until: string;
    data: Array<UsageSum>;
};

export type UsageSum = {
    /**
     * The day (UTC), the agent's name, the model, or the key's id. Null: not attributed, such as machine time for models and keys.
     */
    group: string | null;
    /**
     * The key's name, if it has one.
     */
    name: string | null;
    credits: string;
    /**
     * Cached tokens included.
     */
    inputTokens: number;
    /**
     * Reasoning tokens included.
     */
    outputTokens: number;
    cacheReadTokens: number;
    cacheWriteTokens: number;
    reasoningTokens: number;
    /**
     * Machine time, to the millisecond.
     */
    machineSeconds: number;
};

export type User = {
    name: string;
    /**
     * The user shares the administrator's account.
     */
    operator: boolean;
    /**
     * invited: the user has not set a password yet.
     */
    status: 'invited' | 'active' | 'disabled';
    createdAt: string;
};

/**
 * The users, oldest first.
 */
export type UserList = {
    data: Array<User>;
    nextCursor: string | null;
};

export type UserWithLink = {
    name: string;
    /**
     * The user shares the administrator's account.
     */
    operator: boolean;
    /**
     * invited: the user has not set a password yet.
     */
    status: 'invited' | 'active' | 'disabled';
    createdAt: string;
    /**
     * A link to set the password, once, within 72 hours. It is shown once.
     */
    link: string;
};

export type VerifyEmail = {
    /**
     * From the link, behind `#`.
     */
    token: string;
};

export type Webhook = {
    id: string;
    url: string;
    events: Array<string> | null;
    agent: string | null;
    include: Array<string>;
    disabled: boolean;
    /**
     * Why the server disabled it. Null: a person did, or it is not disabled.
     */
    disabledReason: WebhookDisabledReason | null;
    /**
     * How many deliveries were removed because more than 1000 waited.
     */
    dropped: number;
    /**
     * Until when the secret before the last rotation signs as well.
     */
    oldSecretUntil: string | null;
    lastDelivery: {
        /**
         * The header `webhook-id`, the same for all tries.
         */
        id: string;
        /**
         * The type of the event.
         */
        type: string;
        /**
         * `pending`: it is tried, or tried again later.
         */
        status: 'pending' | 'delivered' | 'failed';
        /**
         * The status of the last answer. Null: there was none.
         */
        responseStatus: number | null;
        /**
         * Why the last try failed.
         */
        error: string | null;
        /**
         * The time of the event.
         */
        createdAt: string;
    } | null;
    createdBy: Author | null;
    createdAt: string;
};

export type WebhookDelivery = {
    /**
     * The header `webhook-id`, the same for all tries.
     */
    id: string;
    /**
     * The type of the event.
     */
    type: string;
    /**
     * The agent that it is about. Null: none.
     */
    agent: string | null;
    /**
     * `pending`: it is tried, or tried again later.
     */
    status: 'pending' | 'delivered' | 'failed';
    /**
     * The number of tries, up to 10.
     */
    attempts: number;
    /**
     * The status of the last answer. Null: there was none.
     */
    responseStatus: number | null;
    /**
     * Why the last try failed.
     */
    error: string | null;
    /**
     * Null: it has ended.
     */
    nextAttemptAt: string | null;
    lastAttemptAt: string | null;
    /**
     * The time of the event.
     */
    createdAt: string;
};

/**
 * Newest first: those that wait, and the last 100 others.
 */
export type WebhookDeliveryList = {
    data: Array<WebhookDelivery>;
    nextCursor: string | null;
};

export type WebhookDisabledReason = {
    /**
     * `failing`: no delivery arrived for three days. `gone`: the receiver answered 410. `secret_unreadable`: the secret was encrypted with another secret key.
     */
    code: 'failing' | 'gone' | 'secret_unreadable';
    /**
     * The reason, as a sentence.
     */
    message: string;
};

/**
 * Newest first.
 */
export type WebhookList = {
    data: Array<Webhook>;
    nextCursor: string | null;
};

/**
 * A person asked for a test. Every webhook gets it.
 */
export type WebhookTestEvent = {
    type: 'webhook.test';
    /**
     * When it happened, also at later tries.
     */
    timestamp: string;
    data: {
        webhookId: string;
    };
};

export type WebhookWithSecret = {
    id: string;
    url: string;
    events: Array<string> | null;
    agent: string | null;
    include: Array<string>;
    disabled: boolean;
    /**
     * Why the server disabled it. Null: a person did, or it is not disabled.
     */
    disabledReason: WebhookDisabledReason | null;
    /**
     * How many deliveries were removed because more than 1000 waited.
     */
    dropped: number;
    /**
     * Until when the secret before the last rotation signs as well.
     */
    oldSecretUntil: string | null;
    lastDelivery: {
        /**
         * The header `webhook-id`, the same for all tries.
         */
        id: string;
        /**
         * The type of the event.
         */
        type: string;
        /**
         * `pending`: it is tried, or tried again later.
         */
        status: 'pending' | 'delivered' | 'failed';
        /**
         * The status of the last answer. Null: there was none.
         */
        responseStatus: number | null;
        /**
         * Why the last try failed.
         */
        error: string | null;
        /**
         * The time of the event.
         */
        createdAt: string;
    } | null;
    createdBy: Author | null;
    createdAt: string;
    /**
     * Verifies the signatures: `whsec_` and base64. It is shown once.
     */
    secret: string;
};

/**
 * A workspace owns agents, keys and credits. `role` is the caller's.
 */
export type Workspace = {
    id: string;
    name: string;
    /**
     * Whether it is the caller's personal workspace.
     */
    personal: boolean;
    role: Role;
    createdAt: string;
};

/**
 * The caller's workspaces, the personal one first, then by name.
 */
export type WorkspaceList = {
    data: Array<Workspace>;
};

export type WorkspaceSecret = {
    name: string;
    hosts: Array<string>;
    headers: Array<string>;
    /**
     * The agents that can use it, by name, without other people's private ones. Null: all.
     */
    agents: Array<string> | null;
    /**
     * The value's last four characters. Null: it has less than 12, or was encrypted with another secret key.
     */
    lastFour: string | null;
    /**
     * Null: the secret has a value that was set.
     */
    login: SecretLogin | null;
    /**
     * The author of the last change.
     */
    createdBy: Author | null;
    createdAt: string;
    updatedAt: string;
};

/**
 * The workspace's secrets by name, without their values.
 */
export type WorkspaceSecretList = {
    data: Array<WorkspaceSecret>;
    nextCursor: string | null;
};

export type WrittenFile = {
    /**
     * Absolute.
     */
    path: string;
    /**
     * Bytes received.
     */
    size: number;
    /**
     * SHA-256 of the received bytes, in hexadecimal.
     */
    sha256: string;
    /**
     * Whether nothing existed there before.
     */
    created: boolean;
    /**
     * Null for an unpacked archive.
     */
    etag: string | null;
};

export type GetHealthData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/healthz';
};

export type GetHealthErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type GetHealthError = GetHealthErrors[keyof GetHealthErrors];

export type GetHealthResponses = {
    /**
     * Default Response
     */
    200: {
        ok: boolean;
    };
};

export type GetHealthResponse = GetHealthResponses[keyof GetHealthResponses];

export type GetReadinessData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/readyz';
};

export type GetReadinessErrors = {
    /**
     * Default Response
     */
    503: Readiness;
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type GetReadinessError = GetReadinessErrors[keyof GetReadinessErrors];

export type GetReadinessResponses = {
    /**
     * Default Response
     */
    200: Readiness;
};

export type GetReadinessResponse = GetReadinessResponses[keyof GetReadinessResponses];

export type GetMetricsData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/metrics';
};

export type GetMetricsErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type GetMetricsError = GetMetricsErrors[keyof GetMetricsErrors];

export type GetMetricsResponses = {
    /**
     * The bytes, of their own content type.
     */
    200: Blob | File;
};

export type GetMetricsResponse = GetMetricsResponses[keyof GetMetricsResponses];

export type GetProtectedResourceData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/.well-known/oauth-protected-resource';
};

export type GetProtectedResourceErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type GetProtectedResourceError = GetProtectedResourceErrors[keyof GetProtectedResourceErrors];

export type GetProtectedResourceResponses = {
    /**
     * Default Response
     */
    200: ProtectedResource;
};

export type GetProtectedResourceResponse = GetProtectedResourceResponses[keyof GetProtectedResourceResponses];

export type GetMcpResourceData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/.well-known/oauth-protected-resource/mcp';
};

export type GetMcpResourceErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type GetMcpResourceError = GetMcpResourceErrors[keyof GetMcpResourceErrors];

export type GetMcpResourceResponses = {
    /**
     * Default Response
     */
    200: ProtectedResource;
};

export type GetMcpResourceResponse = GetMcpResourceResponses[keyof GetMcpResourceResponses];

export type ListAgentsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The page size, 1 to 100.
         */
        limit?: number;
        /**
         * The previous page's `nextCursor`.
         */
        cursor?: string;
    };
    url: '/agents';
};

export type ListAgentsErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListAgentsError = ListAgentsErrors[keyof ListAgentsErrors];

export type ListAgentsResponses = {
    /**
     * Default Response
     */
    200: AgentList;
};

export type ListAgentsResponse = ListAgentsResponses[keyof ListAgentsResponses];

export type CreateAgentData = {
    body: CreateAgent;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path?: never;
    query?: {
        /**
         * Delay the response until the agent is ready or has failed, for up to 60 s.
         */
        wait?: 'ready';
    };
    url: '/agents';
};

export type CreateAgentErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type CreateAgentError = CreateAgentErrors[keyof CreateAgentErrors];

export type CreateAgentResponses = {
    /**
     * Default Response
     */
    201: Agent;
};

export type CreateAgentResponse = CreateAgentResponses[keyof CreateAgentResponses];

export type DeleteAgentData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: never;
    url: '/agents/{name}';
};

export type DeleteAgentErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type DeleteAgentError = DeleteAgentErrors[keyof DeleteAgentErrors];

export type DeleteAgentResponses = {
    /**
     * Default Response
     */
    204: void;
};

export type DeleteAgentResponse = DeleteAgentResponses[keyof DeleteAgentResponses];

export type GetAgentData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: never;
    url: '/agents/{name}';
};

export type GetAgentErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type GetAgentError = GetAgentErrors[keyof GetAgentErrors];

export type GetAgentResponses = {
    /**
     * Default Response
     */
    200: Agent;
};

export type GetAgentResponse = GetAgentResponses[keyof GetAgentResponses];

export type ChangeAgentData = {
    body: ChangeAgent;
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: {
        /**
         * Delay the response until the agent is ready or has failed, for up to 60 s.
         */
        wait?: 'ready';
    };
    url: '/agents/{name}';
};

export type ChangeAgentErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ChangeAgentError = ChangeAgentErrors[keyof ChangeAgentErrors];

export type ChangeAgentResponses = {
    /**
     * Default Response
     */
    200: Agent;
};

export type ChangeAgentResponse = ChangeAgentResponses[keyof ChangeAgentResponses];

export type RestartAgentData = {
    body?: never;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: {
        /**
         * Delay the response until the agent is ready or has failed, for up to 60 s.
         */
        wait?: 'ready';
        /**
         * If the agent's machine was lost, start with an empty one. The agent's files are gone.
         */
        machine?: 'new';
    };
    url: '/agents/{name}/restart';
};

export type RestartAgentErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type RestartAgentError = RestartAgentErrors[keyof RestartAgentErrors];

export type RestartAgentResponses = {
    /**
     * Default Response
     */
    200: Agent;
};

export type RestartAgentResponse = RestartAgentResponses[keyof RestartAgentResponses];

export type UpgradeAgentData = {
    body?: never;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: {
        /**
         * Delay the response until the agent is ready or has failed, for up to 60 s.
         */
        wait?: 'ready';
    };
    url: '/agents/{name}/upgrade';
};

export type UpgradeAgentErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type UpgradeAgentError = UpgradeAgentErrors[keyof UpgradeAgentErrors];

export type UpgradeAgentResponses = {
    /**
     * Default Response
     */
    200: Agent;
};

export type UpgradeAgentResponse = UpgradeAgentResponses[keyof UpgradeAgentResponses];

export type SuspendAgentData = {
    body?: never;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: never;
    url: '/agents/{name}/suspend';
};

export type SuspendAgentErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type SuspendAgentError = SuspendAgentErrors[keyof SuspendAgentErrors];

export type SuspendAgentResponses = {
    /**
     * Default Response
     */
    200: Agent;
};

export type SuspendAgentResponse = SuspendAgentResponses[keyof SuspendAgentResponses];

export type ResumeAgentData = {
    body?: never;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: {
        /**
         * Delay the response until the agent is ready or has failed, for up to 60 s.
         */
        wait?: 'ready';
    };
    url: '/agents/{name}/resume';
};

export type ResumeAgentErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ResumeAgentError = ResumeAgentErrors[keyof ResumeAgentErrors];

export type ResumeAgentResponses = {
    /**
     * Default Response
     */
    200: Agent;
};

export type ResumeAgentResponse = ResumeAgentResponses[keyof ResumeAgentResponses];

export type GetLogData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: {
        /**
         * The number of most recent lines, 0 to 1000.
         */
        tail?: number;
        /**
         * `true`: an event stream that follows the log.
         */
        follow?: 'true' | 'false';
    };
    url: '/agents/{name}/logs';
};

export type GetLogErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type GetLogError = GetLogErrors[keyof GetLogErrors];

export type GetLogResponses = {
    /**
     * Default Response
     */
    200: AgentLog;
    /**
     * Default Response
     */
    204: void;
};

export type GetLogResponse = GetLogResponses[keyof GetLogResponses];

export type ResetConversationData = {
    body?: never;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: never;
    url: '/agents/{name}/conversation/reset';
};

export type ResetConversationErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ResetConversationError = ResetConversationErrors[keyof ResetConversationErrors];

export type ResetConversationResponses = {
    /**
     * Default Response
     */
    200: Agent;
};

export type ResetConversationResponse = ResetConversationResponses[keyof ResetConversationResponses];

export type GetInstallStatusData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: never;
    url: '/agents/{name}/install-status';
};

export type GetInstallStatusErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type GetInstallStatusError = GetInstallStatusErrors[keyof GetInstallStatusErrors];

export type GetInstallStatusResponses = {
    /**
     * Default Response
     */
    200: InstallStatus;
    /**
     * Default Response
     */
    204: void;
};

export type GetInstallStatusResponse = GetInstallStatusResponses[keyof GetInstallStatusResponses];

export type ListOpenApprovalsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The page size, 1 to 100.
         */
        limit?: number;
        /**
         * The previous page's `nextCursor`.
         */
        cursor?: string;
        /**
         * Only approvals of this agent.
         */
        agent?: string;
    };
    url: '/approvals';
};

export type ListOpenApprovalsErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListOpenApprovalsError = ListOpenApprovalsErrors[keyof ListOpenApprovalsErrors];

export type ListOpenApprovalsResponses = {
    /**
     * Default Response
     */
    200: ApprovalList;
};

export type ListOpenApprovalsResponse = ListOpenApprovalsResponses[keyof ListOpenApprovalsResponses];

export type ListApprovalsData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
        /**
         * The turn's id, as in the `x-turn-id` header.
         */
        turnId: string;
    };
    query?: {
        /**
         * The page size, 1 to 100.
         */
        limit?: number;
        /**
         * The previous page's `nextCursor`.
         */
        cursor?: string;
    };
    url: '/agents/{name}/turns/{turnId}/approvals';
};

export type ListApprovalsErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListApprovalsError = ListApprovalsErrors[keyof ListApprovalsErrors];

export type ListApprovalsResponses = {
    /**
     * Default Response
     */
    200: ApprovalList;
};

export type ListApprovalsResponse = ListApprovalsResponses[keyof ListApprovalsResponses];

export type AnswerApprovalData = {
    body: AnswerApproval;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The agent's name.
         */
        name: string;
        /**
         * The turn's id, as in the `x-turn-id` header.
         */
        turnId: string;
        /**
         * The approval's id, as in `response.approval.requested`.
         */
        approvalId: string;
    };
    query?: never;
    url: '/agents/{name}/turns/{turnId}/approvals/{approvalId}';
};

export type AnswerApprovalErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type AnswerApprovalError = AnswerApprovalErrors[keyof AnswerApprovalErrors];

export type AnswerApprovalResponses = {
    /**
     * Default Response
     */
    200: Approval;
};

export type AnswerApprovalResponse = AnswerApprovalResponses[keyof AnswerApprovalResponses];

export type ListAutomationsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The page size, 1 to 100.
         */
        limit?: number;
        /**
         * The previous page's `nextCursor`.
         */
        cursor?: string;
        /**
         * Only automations of this agent.
         */
        agent?: string;
    };
    url: '/automations';
};

export type ListAutomationsErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListAutomationsError = ListAutomationsErrors[keyof ListAutomationsErrors];

export type ListAutomationsResponses = {
    /**
     * Default Response
     */
    200: AutomationList;
};

export type ListAutomationsResponse = ListAutomationsResponses[keyof ListAutomationsResponses];

export type CreateAutomationData = {
    body: CreateAutomation;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path?: never;
    query?: never;
    url: '/automations';
};

export type CreateAutomationErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type CreateAutomationError = CreateAutomationErrors[keyof CreateAutomationErrors];

export type CreateAutomationResponses = {
    /**
     * Default Response
     */
    201: AutomationWithSecret;
};

export type CreateAutomationResponse = CreateAutomationResponses[keyof CreateAutomationResponses];

export type DeleteAutomationData = {
    body?: never;
    path: {
        /**
         * The automation's name.
         */
        name: string;
    };
    query?: never;
    url: '/automations/{name}';
};

export type DeleteAutomationErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type DeleteAutomationError = DeleteAutomationErrors[keyof DeleteAutomationErrors];

export type DeleteAutomationResponses = {
    /**
     * Default Response
     */
    204: void;
};

export type DeleteAutomationResponse = DeleteAutomationResponses[keyof DeleteAutomationResponses];

export type GetAutomationData = {
    body?: never;
    path: {
        /**
         * The automation's name.
         */
        name: string;
    };
    query?: never;
    url: '/automations/{name}';
};

export type GetAutomationErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type GetAutomationError = GetAutomationErrors[keyof GetAutomationErrors];

export type GetAutomationResponses = {
    /**
     * Default Response
     */
    200: Automation;
};

export type GetAutomationResponse = GetAutomationResponses[keyof GetAutomationResponses];

export type ChangeAutomationData = {
    body: ChangeAutomation;
    path: {
        /**
         * The automation's name.
         */
        name: string;
    };
    query?: never;
    url: '/automations/{name}';
};

export type ChangeAutomationErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ChangeAutomationError = ChangeAutomationErrors[keyof ChangeAutomationErrors];

export type ChangeAutomationResponses = {
    /**
     * Default Response
     */
    200: Automation;
};

export type ChangeAutomationResponse = ChangeAutomationResponses[keyof ChangeAutomationResponses];

export type RunAutomationData = {
    body?: never;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The automation's name.
         */
        name: string;
    };
    query?: never;
    url: '/automations/{name}/run';
};

export type RunAutomationErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type RunAutomationError = RunAutomationErrors[keyof RunAutomationErrors];

export type RunAutomationResponses = {
    /**
     * Default Response
     */
    201: AutomationRun;
};

export type RunAutomationResponse = RunAutomationResponses[keyof RunAutomationResponses];

export type PauseAutomationData = {
    body?: never;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The automation's name.
         */
        name: string;
    };
    query?: never;
    url: '/automations/{name}/pause';
};

export type PauseAutomationErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type PauseAutomationError = PauseAutomationErrors[keyof PauseAutomationErrors];

export type PauseAutomationResponses = {
    /**
     * Default Response
     */
    200: Automation;
};

export type PauseAutomationResponse = PauseAutomationResponses[keyof PauseAutomationResponses];

export type ResumeAutomationData = {
    body?: never;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The automation's name.
         */
        name: string;
    };
    query?: never;
    url: '/automations/{name}/resume';
};

export type ResumeAutomationErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ResumeAutomationError = ResumeAutomationErrors[keyof ResumeAutomationErrors];

export type ResumeAutomationResponses = {
    /**
     * Default Response
     */
    200: Automation;
};

export type ResumeAutomationResponse = ResumeAutomationResponses[keyof ResumeAutomationResponses];

export type ListAutomationRunsData = {
    body?: never;
    path: {
        /**
         * The automation's name.
         */
        name: string;
    };
    query?: {
        /**
         * The page size, 1 to 100.
         */
        limit?: number;
        /**
         * The previous page's `nextCursor`.
         */
        cursor?: string;
    };
    url: '/automations/{name}/runs';
};

export type ListAutomationRunsErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListAutomationRunsError = ListAutomationRunsErrors[keyof ListAutomationRunsErrors];

export type ListAutomationRunsResponses = {
    /**
     * Default Response
     */
    200: AutomationRunList;
};

export type ListAutomationRunsResponse = ListAutomationRunsResponses[keyof ListAutomationRunsResponses];

export type ListScheduleTimesData = {
    body?: never;
    path?: never;
    query: {
        cron: string;
        timeZone: string;
        /**
         * How many times, 1 to 50.
         */
        count?: number;
    };
    url: '/schedule-times';
};

export type ListScheduleTimesErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListScheduleTimesError = ListScheduleTimesErrors[keyof ListScheduleTimesErrors];

export type ListScheduleTimesResponses = {
    /**
     * Default Response
     */
    200: ScheduleTimes;
};

export type ListScheduleTimesResponse = ListScheduleTimesResponses[keyof ListScheduleTimesResponses];

export type RotateAutomationSecretData = {
    body: RotateSecret;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The automation's name.
         */
        name: string;
    };
    query?: never;
    url: '/automations/{name}/rotate-secret';
};

export type RotateAutomationSecretErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type RotateAutomationSecretError = RotateAutomationSecretErrors[keyof RotateAutomationSecretErrors];

export type RotateAutomationSecretResponses = {
    /**
     * Default Response
     */
    200: AutomationWithSecret;
};

export type RotateAutomationSecretResponse = RotateAutomationSecretResponses[keyof RotateAutomationSecretResponses];

export type ListHookDeliveriesData = {
    body?: never;
    path: {
        /**
         * The automation's name.
         */
        name: string;
    };
    query?: {
        /**
         * The page size, 1 to 100.
         */
        limit?: number;
        /**
         * The previous page's `nextCursor`.
         */
        cursor?: string;
    };
    url: '/automations/{name}/deliveries';
};

export type ListHookDeliveriesErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListHookDeliveriesError = ListHookDeliveriesErrors[keyof ListHookDeliveriesErrors];

export type ListHookDeliveriesResponses = {
    /**
     * Default Response
     */
    200: HookDeliveryList;
};

export type ListHookDeliveriesResponse = ListHookDeliveriesResponses[keyof ListHookDeliveriesResponses];

export type SendHookDeliveryAgainData = {
    body?: never;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The automation's name.
         */
        name: string;
        /**
         * The delivery's `id`.
         */
        deliveryId: string;
    };
    query?: never;
    url: '/automations/{name}/deliveries/{deliveryId}/send-again';
};

export type SendHookDeliveryAgainErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type SendHookDeliveryAgainError = SendHookDeliveryAgainErrors[keyof SendHookDeliveryAgainErrors];

export type SendHookDeliveryAgainResponses = {
    /**
     * Default Response
     */
    201: AutomationRun;
};

export type SendHookDeliveryAgainResponse = SendHookDeliveryAgainResponses[keyof SendHookDeliveryAgainResponses];

export type DeliverToHookData = {
    body: Blob | File;
    path: {
        /**
         * The last part of the hook's address.
         */
        hookId: string;
    };
    query?: never;
    url: '/hooks/{hookId}';
};

export type DeliverToHookErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type DeliverToHookError = DeliverToHookErrors[keyof DeliverToHookErrors];

export type DeliverToHookResponses = {
    /**
     * Default Response
     */
    200: SlackAnswer;
    /**
     * Default Response
     */
    202: HookAnswer;
};

export type DeliverToHookResponse = DeliverToHookResponses[keyof DeliverToHookResponses];

export type ListWebhooksData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The page size, 1 to 100.
         */
        limit?: number;
        /**
         * The previous page's `nextCursor`.
         */
        cursor?: string;
    };
    url: '/webhooks';
};

export type ListWebhooksErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListWebhooksError = ListWebhooksErrors[keyof ListWebhooksErrors];

export type ListWebhooksResponses = {
    /**
     * Default Response
     */
    200: WebhookList;
};

export type ListWebhooksResponse = ListWebhooksResponses[keyof ListWebhooksResponses];

export type CreateWebhookData = {
    body: CreateWebhook;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path?: never;
    query?: never;
    url: '/webhooks';
};

export type CreateWebhookErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type CreateWebhookError = CreateWebhookErrors[keyof CreateWebhookErrors];

export type CreateWebhookResponses = {
    /**
     * Default Response
     */
    201: WebhookWithSecret;
};

export type CreateWebhookResponse = CreateWebhookResponses[keyof CreateWebhookResponses];

export type DeleteWebhookData = {
    body?: never;
    path: {
        /**
         * The webhook's id.
         */
        id: string;
    };
    query?: never;
    url: '/webhooks/{id}';
};

export type DeleteWebhookErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type DeleteWebhookError = DeleteWebhookErrors[keyof DeleteWebhookErrors];

export type DeleteWebhookResponses = {
    /**
     * Default Response
     */
    204: void;
};

export type DeleteWebhookResponse = DeleteWebhookResponses[keyof DeleteWebhookResponses];

export type GetWebhookData = {
    body?: never;
    path: {
        /**
         * The webhook's id.
         */
        id: string;
    };
    query?: never;
    url: '/webhooks/{id}';
};

export type GetWebhookErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type GetWebhookError = GetWebhookErrors[keyof GetWebhookErrors];

export type GetWebhookResponses = {
    /**
     * Default Response
     */
    200: Webhook;
};

export type GetWebhookResponse = GetWebhookResponses[keyof GetWebhookResponses];

export type ChangeWebhookData = {
    body: ChangeWebhook;
    path: {
        /**
         * The webhook's id.
         */
        id: string;
    };
    query?: never;
    url: '/webhooks/{id}';
};

export type ChangeWebhookErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ChangeWebhookError = ChangeWebhookErrors[keyof ChangeWebhookErrors];

export type ChangeWebhookResponses = {
    /**
     * Default Response
     */
    200: Webhook;
};

export type ChangeWebhookResponse = ChangeWebhookResponses[keyof ChangeWebhookResponses];

export type RotateWebhookSecretData = {
    body?: never;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The webhook's id.
         */
        id: string;
    };
    query?: never;
    url: '/webhooks/{id}/rotate';
};

export type RotateWebhookSecretErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type RotateWebhookSecretError = RotateWebhookSecretErrors[keyof RotateWebhookSecretErrors];

export type RotateWebhookSecretResponses = {
    /**
     * Default Response
     */
    200: WebhookWithSecret;
};

export type RotateWebhookSecretResponse = RotateWebhookSecretResponses[keyof RotateWebhookSecretResponses];

export type TestWebhookData = {
    body?: never;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The webhook's id.
         */
        id: string;
    };
    query?: never;
    url: '/webhooks/{id}/test';
};

export type TestWebhookErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type TestWebhookError = TestWebhookErrors[keyof TestWebhookErrors];

export type TestWebhookResponses = {
    /**
     * Default Response
     */
    201: WebhookDelivery;
};

export type TestWebhookResponse = TestWebhookResponses[keyof TestWebhookResponses];

export type ListWebhookDeliveriesData = {
    body?: never;
    path: {
        /**
         * The webhook's id.
         */
        id: string;
    };
    query?: {
        /**
         * The page size, 1 to 100.
         */
        limit?: number;
        /**
         * The previous page's `nextCursor`.
         */
        cursor?: string;
    };
    url: '/webhooks/{id}/deliveries';
};

export type ListWebhookDeliveriesErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListWebhookDeliveriesError = ListWebhookDeliveriesErrors[keyof ListWebhookDeliveriesErrors];

export type ListWebhookDeliveriesResponses = {
    /**
     * Default Response
     */
    200: WebhookDeliveryList;
};

export type ListWebhookDeliveriesResponse = ListWebhookDeliveriesResponses[keyof ListWebhookDeliveriesResponses];

export type RedeliverData = {
    body?: never;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The webhook's id.
         */
        id: string;
        /**
         * The delivery's id.
         */
        deliveryId: string;
    };
    query?: never;
    url: '/webhooks/{id}/deliveries/{deliveryId}/redeliver';
};

export type RedeliverErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type RedeliverError = RedeliverErrors[keyof RedeliverErrors];

export type RedeliverResponses = {
    /**
     * Default Response
     */
    200: WebhookDelivery;
};

export type RedeliverResponse = RedeliverResponses[keyof RedeliverResponses];

export type ListConversationsData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: {
        /**
         * The page size, 1 to 100.
         */
        limit?: number;
        /**
         * The previous page's `nextCursor`.
         */
        cursor?: string;
        /**
         * Only conversations with a turn that began after this time.
         */
        since?: string;
    };
    url: '/agents/{name}/conversations';
};

export type ListConversationsErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListConversationsError = ListConversationsErrors[keyof ListConversationsErrors];

export type ListConversationsResponses = {
    /**
     * Default Response
     */
    200: ConversationList;
};

export type ListConversationsResponse = ListConversationsResponses[keyof ListConversationsResponses];

export type CreateConversationData = {
    body: CreateConversation;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: never;
    url: '/agents/{name}/conversations';
};

export type CreateConversationErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type CreateConversationError = CreateConversationErrors[keyof CreateConversationErrors];

export type CreateConversationResponses = {
    /**
     * Default Response
     */
    201: Conversation;
};

export type CreateConversationResponse = CreateConversationResponses[keyof CreateConversationResponses];

export type DeleteConversationData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
        /**
         * The conversation's number.
         */
        conversation: string;
    };
    query?: never;
    url: '/agents/{name}/conversations/{conversation}';
};

export type DeleteConversationErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type DeleteConversationError = DeleteConversationErrors[keyof DeleteConversationErrors];

export type DeleteConversationResponses = {
    /**
     * Default Response
     */
    204: void;
};

export type DeleteConversationResponse = DeleteConversationResponses[keyof DeleteConversationResponses];

export type GetConversationData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
        /**
         * The conversation's number.
         */
        conversation: string;
    };
    query?: never;
    url: '/agents/{name}/conversations/{conversation}';
};

export type GetConversationErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type GetConversationError = GetConversationErrors[keyof GetConversationErrors];

export type GetConversationResponses = {
    /**
     * Default Response
     */
    200: Conversation;
};

export type GetConversationResponse = GetConversationResponses[keyof GetConversationResponses];

export type ChangeConversationData = {
    body: ChangeConversation;
    path: {
        /**
         * The agent's name.
         */
        name: string;
        /**
         * The conversation's number.
         */
        conversation: string;
    };
    query?: never;
    url: '/agents/{name}/conversations/{conversation}';
};

export type ChangeConversationErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ChangeConversationError = ChangeConversationErrors[keyof ChangeConversationErrors];

export type ChangeConversationResponses = {
    /**
     * Default Response
     */
    200: Conversation;
};

export type ChangeConversationResponse = ChangeConversationResponses[keyof ChangeConversationResponses];

export type GetQueueData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: never;
    url: '/agents/{name}/queue';
};

export type GetQueueErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type GetQueueError = GetQueueErrors[keyof GetQueueErrors];

export type GetQueueResponses = {
    /**
     * Default Response
     */
    200: Queue;
};

export type GetQueueResponse = GetQueueResponses[keyof GetQueueResponses];

export type ActOnQueueData = {
    body: QueueAction;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: never;
    url: '/agents/{name}/queue';
};

export type ActOnQueueErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ActOnQueueError = ActOnQueueErrors[keyof ActOnQueueErrors];

export type ActOnQueueResponses = {
    /**
     * Default Response
     */
    200: Queue;
};

export type ActOnQueueResponse = ActOnQueueResponses[keyof ActOnQueueResponses];

export type GetTurnData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
        /**
         * The turn's id, as in the `x-turn-id` header.
         */
        turnId: string;
    };
    query?: never;
    url: '/agents/{name}/turns/{turnId}';
};

export type GetTurnErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type GetTurnError = GetTurnErrors[keyof GetTurnErrors];

export type GetTurnResponses = {
    /**
     * Default Response
     */
    200: Turn;
};

export type GetTurnResponse = GetTurnResponses[keyof GetTurnResponses];

export type ChangeQueuedTurnData = {
    body: ChangeQueuedTurn;
    path: {
        /**
         * The agent's name.
         */
        name: string;
        /**
         * The turn's id, as in the `x-turn-id` header.
         */
        turnId: string;
    };
    query?: never;
    url: '/agents/{name}/turns/{turnId}';
};

export type ChangeQueuedTurnErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ChangeQueuedTurnError = ChangeQueuedTurnErrors[keyof ChangeQueuedTurnErrors];

export type ChangeQueuedTurnResponses = {
    /**
     * Default Response
     */
    200: Queue;
};

export type ChangeQueuedTurnResponse = ChangeQueuedTurnResponses[keyof ChangeQueuedTurnResponses];

export type ListSnapshotsData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: never;
    url: '/agents/{name}/snapshots';
};

export type ListSnapshotsErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListSnapshotsError = ListSnapshotsErrors[keyof ListSnapshotsErrors];

export type ListSnapshotsResponses = {
    /**
     * Default Response
     */
    200: SnapshotList;
};

export type ListSnapshotsResponse = ListSnapshotsResponses[keyof ListSnapshotsResponses];

export type CreateSnapshotData = {
    body: CreateSnapshot;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: never;
    url: '/agents/{name}/snapshots';
};

export type CreateSnapshotErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type CreateSnapshotError = CreateSnapshotErrors[keyof CreateSnapshotErrors];

export type CreateSnapshotResponses = {
    /**
     * Default Response
     */
    201: Snapshot;
};

export type CreateSnapshotResponse = CreateSnapshotResponses[keyof CreateSnapshotResponses];

export type RemoveSnapshotData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
        /**
         * A snapshot's name or id.
         */
        snapshot: string;
    };
    query?: never;
    url: '/agents/{name}/snapshots/{snapshot}';
};

export type RemoveSnapshotErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type RemoveSnapshotError = RemoveSnapshotErrors[keyof RemoveSnapshotErrors];

export type RemoveSnapshotResponses = {
    /**
     * Default Response
     */
    204: void;
};

export type RemoveSnapshotResponse = RemoveSnapshotResponses[keyof RemoveSnapshotResponses];

export type RollBackData = {
    body: Rollback;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: {
        /**
         * Delay the response until the agent is ready or has failed, for up to 60 s.
         */
        wait?: 'ready';
    };
    url: '/agents/{name}/rollback';
};

export type RollBackErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type RollBackError = RollBackErrors[keyof RollBackErrors];

export type RollBackResponses = {
    /**
     * Default Response
     */
    200: Agent;
};

export type RollBackResponse = RollBackResponses[keyof RollBackResponses];

export type ExportAgentData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: {
        /**
         * `true`: include the machine's complete disk as a qcow2 image.
         */
        disk?: 'true' | 'false';
    };
    url: '/agents/{name}/export';
};

export type ExportAgentErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ExportAgentError = ExportAgentErrors[keyof ExportAgentErrors];

export type ExportAgentResponses = {
    /**
     * The bytes, of their own content type.
     */
    200: Blob | File;
};

export type ExportAgentResponse = ExportAgentResponses[keyof ExportAgentResponses];

export type ImportAgentData = {
    body: Blob | File;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path?: never;
    query?: {
        /**
         * Delay the response until the agent is ready or has failed, for up to 60 s.
         */
        wait?: 'ready';
        /**
         * The new agent's name. Default: the name in the archive.
         */
        name?: string;
        /**
         * Its model here, an id from `GET /models`, or `default` for the runtime's default.
         */
        model?: string;
    };
    url: '/imports';
};

export type ImportAgentErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ImportAgentError = ImportAgentErrors[keyof ImportAgentErrors];

export type ImportAgentResponses = {
    /**
     * Default Response
     */
    201: Import;
};

export type ImportAgentResponse = ImportAgentResponses[keyof ImportAgentResponses];

export type ChatData = {
    body: ChatRequest;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: never;
    url: '/agents/{name}/chat';
};

export type ChatErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ChatError = ChatErrors[keyof ChatErrors];

export type ChatResponses = {
    /**
     * Default Response
     */
    200: TurnEvent;
};

export type ChatResponse = ChatResponses[keyof ChatResponses];

export type ListTurnsData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: {
        /**
         * The page size, 1 to 100.
         */
        limit?: number;
        /**
         * The previous page's `nextCursor`.
         */
        cursor?: string;
        /**
         * Only turns of this conversation.
         */
        conversation?: number;
        /**
         * `true`: with the events of turns that have ended.
         */
        events?: 'true' | 'false';
    };
    url: '/agents/{name}/turns';
};

export type ListTurnsErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListTurnsError = ListTurnsErrors[keyof ListTurnsErrors];

export type ListTurnsResponses = {
    /**
     * Default Response
     */
    200: TurnList;
};

export type ListTurnsResponse = ListTurnsResponses[keyof ListTurnsResponses];

export type ListAccountTurnsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The page size, 1 to 100.
         */
        limit?: number;
        /**
         * The previous page's `nextCursor`.
         */
        cursor?: string;
        /**
         * Only turns that are running, or that ended after this time.
         */
        since?: string;
    };
    url: '/turns';
};

export type ListAccountTurnsErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListAccountTurnsError = ListAccountTurnsErrors[keyof ListAccountTurnsErrors];

export type ListAccountTurnsResponses = {
    /**
     * Default Response
     */
    200: AccountTurnList;
};

export type ListAccountTurnsResponse = ListAccountTurnsResponses[keyof ListAccountTurnsResponses];

export type GetTurnEventsData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
        /**
         * The turn's id, as in the `x-turn-id` header.
         */
        turnId: string;
    };
    query?: {
        /**
         * Only events after the event with this id.
         */
        after?: number;
        /**
         * As in the chat request, separated by commas.
         */
        include?: Array<'status' | 'reasoning' | 'tools' | 'usage' | 'approvals'>;
    };
    url: '/agents/{name}/turns/{turnId}/events';
};

export type GetTurnEventsErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type GetTurnEventsError = GetTurnEventsErrors[keyof GetTurnEventsErrors];

export type GetTurnEventsResponses = {
    /**
     * Default Response
     */
    200: TurnEvent;
    /**
     * Default Response
     */
    204: void;
};

export type GetTurnEventsResponse = GetTurnEventsResponses[keyof GetTurnEventsResponses];

export type GetTurnChangesData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
        /**
         * The turn's id, as in the `x-turn-id` header.
         */
        turnId: string;
    };
    query?: never;
    url: '/agents/{name}/turns/{turnId}/changes';
};

export type GetTurnChangesErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type GetTurnChangesError = GetTurnChangesErrors[keyof GetTurnChangesErrors];

export type GetTurnChangesResponses = {
    /**
     * Default Response
     */
    200: TurnChangesWithDiffs;
};

export type GetTurnChangesResponse = GetTurnChangesResponses[keyof GetTurnChangesResponses];

export type RevertFilesData = {
    body: RevertFiles;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The agent's name.
         */
        name: string;
        /**
         * The turn's id, as in the `x-turn-id` header.
         */
        turnId: string;
    };
    query?: never;
    url: '/agents/{name}/turns/{turnId}/changes/revert';
};

export type RevertFilesErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type RevertFilesError = RevertFilesErrors[keyof RevertFilesErrors];

export type RevertFilesResponses = {
    /**
     * Default Response
     */
    200: RevertedFiles;
};

export type RevertFilesResponse = RevertFilesResponses[keyof RevertFilesResponses];

export type GetChangesData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query: {
        /**
         * The name or id of a snapshot, or the id of a turn, whose own changes are included.
         */
        since: string;
    };
    url: '/agents/{name}/changes';
};

export type GetChangesErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type GetChangesError = GetChangesErrors[keyof GetChangesErrors];

export type GetChangesResponses = {
    /**
     * Default Response
     */
    200: AgentChanges;
};

export type GetChangesResponse = GetChangesResponses[keyof GetChangesResponses];

export type RestoreTurnData = {
    body?: never;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The agent's name.
         */
        name: string;
        /**
         * The turn's id, as in the `x-turn-id` header.
         */
        turnId: string;
    };
    query?: {
        /**
         * Delay the response until the agent is ready or has failed, for up to 60 s.
         */
        wait?: 'ready';
    };
    url: '/agents/{name}/turns/{turnId}/restore';
};

export type RestoreTurnErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type RestoreTurnError = RestoreTurnErrors[keyof RestoreTurnErrors];

export type RestoreTurnResponses = {
    /**
     * Default Response
     */
    200: Agent;
};

export type RestoreTurnResponse = RestoreTurnResponses[keyof RestoreTurnResponses];

export type CancelTurnData = {
    body?: never;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The agent's name.
         */
        name: string;
        /**
         * The turn's id, as in the `x-turn-id` header.
         */
        turnId: string;
    };
    query?: never;
    url: '/agents/{name}/turns/{turnId}/cancel';
};

export type CancelTurnErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type CancelTurnError = CancelTurnErrors[keyof CancelTurnErrors];

export type CancelTurnResponses = {
    /**
     * Default Response
     */
    202: {
        [key: string]: never;
    };
};

export type CancelTurnResponse = CancelTurnResponses[keyof CancelTurnResponses];

export type SearchData = {
    body?: never;
    path?: never;
    query: {
        /**
         * The page size, 1 to 100.
         */
        limit?: number;
        /**
         * The previous page's `nextCursor`.
         */
        cursor?: string;
        /**
         * Words that all occur in a text, in any order. Words of three and more letters match longer words, too. `"quoted words"` occur in this order, as they are. 1 to 200 characters.
         */
        q: string;
        /**
         * Only texts of the agent with this name.
         */
        agent?: string;
    };
    url: '/search';
};

export type SearchErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type SearchError = SearchErrors[keyof SearchErrors];

export type SearchResponses = {
    /**
     * Default Response
     */
    200: SearchResult;
};

export type SearchResponse = SearchResponses[keyof SearchResponses];

export type ListUploadsData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: {
        /**
         * The page size, 1 to 100.
         */
        limit?: number;
        /**
         * The previous page's `nextCursor`.
         */
        cursor?: string;
    };
    url: '/agents/{name}/uploads';
};

export type ListUploadsErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListUploadsError = ListUploadsErrors[keyof ListUploadsErrors];

export type ListUploadsResponses = {
    /**
     * Default Response
     */
    200: UploadList;
};

export type ListUploadsResponse = ListUploadsResponses[keyof ListUploadsResponses];

export type CreateUploadData = {
    body: Blob | File;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: {
        name?: string;
        /**
         * Default: by the name.
         */
        mediaType?: string;
    };
    url: '/agents/{name}/uploads';
};

export type CreateUploadErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type CreateUploadError = CreateUploadErrors[keyof CreateUploadErrors];

export type CreateUploadResponses = {
    /**
     * Default Response
     */
    201: Upload;
};

export type CreateUploadResponse = CreateUploadResponses[keyof CreateUploadResponses];

export type RemoveUploadData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
        /**
         * The upload's id.
         */
        uploadId: string;
    };
    query?: never;
    url: '/agents/{name}/uploads/{uploadId}';
};

export type RemoveUploadErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type RemoveUploadError = RemoveUploadErrors[keyof RemoveUploadErrors];

export type RemoveUploadResponses = {
    /**
     * Default Response
     */
    204: void;
};

export type RemoveUploadResponse = RemoveUploadResponses[keyof RemoveUploadResponses];

export type GetUploadData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
        /**
         * The upload's id.
         */
        uploadId: string;
    };
    query?: never;
    url: '/agents/{name}/uploads/{uploadId}';
};

export type GetUploadErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type GetUploadError = GetUploadErrors[keyof GetUploadErrors];

export type GetUploadResponses = {
    /**
     * Default Response
     */
    200: Upload;
};

export type GetUploadResponse = GetUploadResponses[keyof GetUploadResponses];

export type ReadUploadData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
        /**
         * The upload's id.
         */
        uploadId: string;
    };
    query?: never;
    url: '/agents/{name}/uploads/{uploadId}/content';
};

export type ReadUploadErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ReadUploadError = ReadUploadErrors[keyof ReadUploadErrors];

export type ReadUploadResponses = {
    /**
     * The bytes, of their own content type.
     */
    200: Blob | File;
};

export type ReadUploadResponse = ReadUploadResponses[keyof ReadUploadResponses];

export type OpenResponsesData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/v1/responses';
};

export type OpenResponsesErrors = {
    /**
     * The request was refused.
     */
    '4XX': {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
    /**
     * It failed.
     */
    default: {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
};

export type OpenResponsesError = OpenResponsesErrors[keyof OpenResponsesErrors];

export type OpenResponsesResponses = {
    /**
     * Default Response
     */
    200: unknown;
};

export type CreateResponseData = {
    body: CreateResponse;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
        /**
         * The id of a front end's chat, which has a conversation of its own. The turn ends if the client disconnects.
         */
        'x-berth-chat'?: string;
        /**
         * The same, as Open WebUI sends it.
         */
        'x-openwebui-chat-id'?: string;
        /**
         * Not empty: the message is for a title or the like, and is answered outside the chat's conversation.
         */
        'x-berth-task'?: string;
        /**
         * `new`: empties the agent's conversation first.
         */
        'x-berth-conversation'?: 'new';
    };
    path?: never;
    query?: never;
    url: '/v1/responses';
};

export type CreateResponseErrors = {
    /**
     * The request was refused.
     */
    '4XX': {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
    /**
     * It failed.
     */
    default: {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
};

export type CreateResponseError = CreateResponseErrors[keyof CreateResponseErrors];

export type CreateResponseResponses = {
    /**
     * Default Response
     */
    200: OpenAiResponse;
};

export type CreateResponseResponse = CreateResponseResponses[keyof CreateResponseResponses];

export type CompactResponseData = {
    body: CompactResponse;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
        /**
         * The id of a front end's chat, which has a conversation of its own. The turn ends if the client disconnects.
         */
        'x-berth-chat'?: string;
        /**
         * The same, as Open WebUI sends it.
         */
        'x-openwebui-chat-id'?: string;
        /**
         * Not empty: the message is for a title or the like, and is answered outside the chat's conversation.
         */
        'x-berth-task'?: string;
        /**
         * `new`: empties the agent's conversation first.
         */
        'x-berth-conversation'?: 'new';
    };
    path?: never;
    query?: never;
    url: '/v1/responses/compact';
};

export type CompactResponseErrors = {
    /**
     * The request was refused.
     */
    '4XX': {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
    /**
     * It failed.
     */
    default: {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
};

export type CompactResponseError = CompactResponseErrors[keyof CompactResponseErrors];

export type CompactResponseResponses = {
    /**
     * Default Response
     */
    200: CompactedResponse;
};

export type CompactResponseResponse = CompactResponseResponses[keyof CompactResponseResponses];

export type DeleteResponseData = {
    body?: never;
    path: {
        /**
         * The response's id, as `resp_…`.
         */
        responseId: string;
    };
    query?: never;
    url: '/v1/responses/{responseId}';
};

export type DeleteResponseErrors = {
    /**
     * The request was refused.
     */
    '4XX': {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
    /**
     * It failed.
     */
    default: {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
};

export type DeleteResponseError = DeleteResponseErrors[keyof DeleteResponseErrors];

export type DeleteResponseResponses = {
    /**
     * Default Response
     */
    200: {
        object: 'response';
        id: string;
        deleted: true;
        [key: string]: unknown;
    };
};

export type DeleteResponseResponse = DeleteResponseResponses[keyof DeleteResponseResponses];

export type GetResponseData = {
    body?: never;
    path: {
        /**
         * The response's id, as `resp_…`.
         */
        responseId: string;
    };
    query?: {
        /**
         * `true`: stream the response's events.
         */
        stream?: 'true' | 'false';
        /**
         * Only events after the event with this number.
         */
        starting_after?: number;
        /**
         * Accepted, without effect.
         */
        include_obfuscation?: 'true' | 'false';
        /**
         * Accepted, without effect.
         */
        'include[]'?: unknown;
        /**
         * Accepted, without effect.
         */
        include?: unknown;
    };
    url: '/v1/responses/{responseId}';
};

export type GetResponseErrors = {
    /**
     * The request was refused.
     */
    '4XX': {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
    /**
     * It failed.
     */
    default: {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
};

export type GetResponseError = GetResponseErrors[keyof GetResponseErrors];

export type GetResponseResponses = {
    /**
     * Default Response
     */
    200: OpenAiResponse;
    /**
     * Default Response
     */
    204: void;
};

export type GetResponseResponse = GetResponseResponses[keyof GetResponseResponses];

export type CancelResponseData = {
    body?: never;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The response's id, as `resp_…`.
         */
        responseId: string;
    };
    query?: never;
    url: '/v1/responses/{responseId}/cancel';
};

export type CancelResponseErrors = {
    /**
     * The request was refused.
     */
    '4XX': {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
    /**
     * It failed.
     */
    default: {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
};

export type CancelResponseError = CancelResponseErrors[keyof CancelResponseErrors];

export type CancelResponseResponses = {
    /**
     * Default Response
     */
    200: OpenAiResponse;
};

export type CancelResponseResponse = CancelResponseResponses[keyof CancelResponseResponses];

export type ListInputItemsData = {
    body?: never;
    path: {
        /**
         * The response's id, as `resp_…`.
         */
        responseId: string;
    };
    query?: {
        limit?: number;
        order?: 'asc' | 'desc';
        /**
         * The id of the previous page's last item.
         */
        after?: string;
        /**
         * Accepted, without effect.
         */
        'include[]'?: unknown;
        /**
         * Accepted, without effect.
         */
        include?: unknown;
    };
    url: '/v1/responses/{responseId}/input_items';
};

export type ListInputItemsErrors = {
    /**
     * The request was refused.
     */
    '4XX': {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
    /**
     * It failed.
     */
    default: {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
};

export type ListInputItemsError = ListInputItemsErrors[keyof ListInputItemsErrors];

export type ListInputItemsResponses = {
    /**
     * Default Response
     */
    200: {
        object: 'list';
        data: Array<{
            [key: string]: unknown;
        }>;
        [key: string]: unknown;
    };
};

export type ListInputItemsResponse = ListInputItemsResponses[keyof ListInputItemsResponses];

export type CreateOpenAiConversationData = {
    body: CreateOpenAiConversation;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/conversations';
};

export type CreateOpenAiConversationErrors = {
    /**
     * The request was refused.
     */
    '4XX': {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
    /**
     * It failed.
     */
    default: {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
};

export type CreateOpenAiConversationError = CreateOpenAiConversationErrors[keyof CreateOpenAiConversationErrors];

export type CreateOpenAiConversationResponses = {
    /**
     * Default Response
     */
    200: OpenAiConversation;
};

export type CreateOpenAiConversationResponse = CreateOpenAiConversationResponses[keyof CreateOpenAiConversationResponses];

export type DeleteOpenAiConversationData = {
    body?: never;
    path: {
        /**
         * The conversation's id, as `conv_…`.
         */
        conversationId: string;
    };
    query?: never;
    url: '/v1/conversations/{conversationId}';
};

export type DeleteOpenAiConversationErrors = {
    /**
     * The request was refused.
     */
    '4XX': {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
    /**
     * It failed.
     */
    default: {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
};

export type DeleteOpenAiConversationError = DeleteOpenAiConversationErrors[keyof DeleteOpenAiConversationErrors];

export type DeleteOpenAiConversationResponses = {
    /**
     * Default Response
     */
    200: {
        id: string;
        object: 'conversation.deleted';
        deleted: true;
        [key: string]: unknown;
    };
};

export type DeleteOpenAiConversationResponse = DeleteOpenAiConversationResponses[keyof DeleteOpenAiConversationResponses];

export type GetOpenAiConversationData = {
    body?: never;
    path: {
        /**
         * The conversation's id, as `conv_…`.
         */
        conversationId: string;
    };
    query?: never;
    url: '/v1/conversations/{conversationId}';
};

export type GetOpenAiConversationErrors = {
    /**
     * The request was refused.
     */
    '4XX': {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
    /**
     * It failed.
     */
    default: {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
};

export type GetOpenAiConversationError = GetOpenAiConversationErrors[keyof GetOpenAiConversationErrors];

export type GetOpenAiConversationResponses = {
    /**
     * Default Response
     */
    200: OpenAiConversation;
};

export type GetOpenAiConversationResponse = GetOpenAiConversationResponses[keyof GetOpenAiConversationResponses];

export type ChangeOpenAiConversationData = {
    body: ChangeOpenAiConversation;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The conversation's id, as `conv_…`.
         */
        conversationId: string;
    };
    query?: never;
    url: '/v1/conversations/{conversationId}';
};

export type ChangeOpenAiConversationErrors = {
    /**
     * The request was refused.
     */
    '4XX': {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
    /**
     * It failed.
     */
    default: {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
};

export type ChangeOpenAiConversationError = ChangeOpenAiConversationErrors[keyof ChangeOpenAiConversationErrors];

export type ChangeOpenAiConversationResponses = {
    /**
     * Default Response
     */
    200: OpenAiConversation;
};

export type ChangeOpenAiConversationResponse = ChangeOpenAiConversationResponses[keyof ChangeOpenAiConversationResponses];

export type ListOpenAiItemsData = {
    body?: never;
    path: {
        /**
         * The conversation's id, as `conv_…`.
         */
        conversationId: string;
    };
    query?: {
        limit?: number;
        order?: 'asc' | 'desc';
        /**
         * The id of the previous page's last item.
         */
        after?: string;
        /**
         * Accepted, without effect.
         */
        'include[]'?: unknown;
        /**
         * Accepted, without effect.
         */
        include?: unknown;
    };
    url: '/v1/conversations/{conversationId}/items';
};

export type ListOpenAiItemsErrors = {
    /**
     * The request was refused.
     */
    '4XX': {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
    /**
     * It failed.
     */
    default: {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
};

export type ListOpenAiItemsError = ListOpenAiItemsErrors[keyof ListOpenAiItemsErrors];

export type ListOpenAiItemsResponses = {
    /**
     * Default Response
     */
    200: {
        object: 'list';
        data: Array<{
            [key: string]: unknown;
        }>;
        [key: string]: unknown;
    };
};

export type ListOpenAiItemsResponse = ListOpenAiItemsResponses[keyof ListOpenAiItemsResponses];

export type AddOpenAiItemsData = {
    body: AddItems;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The conversation's id, as `conv_…`.
         */
        conversationId: string;
    };
    query?: {
        /**
         * Accepted, without effect.
         */
        'include[]'?: unknown;
        /**
         * Accepted, without effect.
         */
        include?: unknown;
    };
    url: '/v1/conversations/{conversationId}/items';
};

export type AddOpenAiItemsErrors = {
    /**
     * The request was refused.
     */
    '4XX': {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
    /**
     * It failed.
     */
    default: {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
};

export type AddOpenAiItemsError = AddOpenAiItemsErrors[keyof AddOpenAiItemsErrors];

export type AddOpenAiItemsResponses = {
    /**
     * Default Response
     */
    200: {
        object: 'list';
        data: Array<{
            [key: string]: unknown;
        }>;
        [key: string]: unknown;
    };
};

export type AddOpenAiItemsResponse = AddOpenAiItemsResponses[keyof AddOpenAiItemsResponses];

export type DeleteOpenAiItemData = {
    body?: never;
    path: {
        /**
         * The conversation's id, as `conv_…`.
         */
        conversationId: string;
        /**
         * The item's id.
         */
        itemId: string;
    };
    query?: never;
    url: '/v1/conversations/{conversationId}/items/{itemId}';
};

export type DeleteOpenAiItemErrors = {
    /**
     * The request was refused.
     */
    '4XX': {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
    /**
     * It failed.
     */
    default: {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
};

export type DeleteOpenAiItemError = DeleteOpenAiItemErrors[keyof DeleteOpenAiItemErrors];

export type DeleteOpenAiItemResponses = {
    /**
     * Default Response
     */
    200: OpenAiConversation;
};

export type DeleteOpenAiItemResponse = DeleteOpenAiItemResponses[keyof DeleteOpenAiItemResponses];

export type GetOpenAiItemData = {
    body?: never;
    path: {
        /**
         * The conversation's id, as `conv_…`.
         */
        conversationId: string;
        /**
         * The item's id.
         */
        itemId: string;
    };
    query?: {
        /**
         * Accepted, without effect.
         */
        'include[]'?: unknown;
        /**
         * Accepted, without effect.
         */
        include?: unknown;
    };
    url: '/v1/conversations/{conversationId}/items/{itemId}';
};

export type GetOpenAiItemErrors = {
    /**
     * The request was refused.
     */
    '4XX': {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
    /**
     * It failed.
     */
    default: {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
};

export type GetOpenAiItemError = GetOpenAiItemErrors[keyof GetOpenAiItemErrors];

export type GetOpenAiItemResponses = {
    /**
     * Default Response
     */
    200: {
        id: string;
        type: string;
        [key: string]: unknown;
    };
};

export type GetOpenAiItemResponse = GetOpenAiItemResponses[keyof GetOpenAiItemResponses];

export type ListOpenAiFilesData = {
    body?: never;
    path?: never;
    query?: {
        purpose?: 'user_data' | 'vision' | 'assistants';
        limit?: number;
        order?: 'asc' | 'desc';
        /**
         * The id of the previous page's last file.
         */
        after?: string;
    };
    url: '/v1/files';
};

export type ListOpenAiFilesErrors = {
    /**
     * The request was refused.
     */
    '4XX': {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
    /**
     * It failed.
     */
    default: {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
};

export type ListOpenAiFilesError = ListOpenAiFilesErrors[keyof ListOpenAiFilesErrors];

export type ListOpenAiFilesResponses = {
    /**
     * Default Response
     */
    200: {
        object: 'list';
        data: Array<OpenAiFile>;
        first_id: string | null;
        last_id: string | null;
        has_more: boolean;
        [key: string]: unknown;
    };
};

export type ListOpenAiFilesResponse = ListOpenAiFilesResponses[keyof ListOpenAiFilesResponses];

export type CreateOpenAiFileData = {
    body: {
        file: Blob | File;
        purpose: string;
        'expires_after[seconds]'?: string;
    };
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/files';
};

export type CreateOpenAiFileErrors = {
    /**
     * The request was refused.
     */
    '4XX': {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
    /**
     * It failed.
     */
    default: {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
};

export type CreateOpenAiFileError = CreateOpenAiFileErrors[keyof CreateOpenAiFileErrors];

export type CreateOpenAiFileResponses = {
    /**
     * Default Response
     */
    200: OpenAiFile;
};

export type CreateOpenAiFileResponse = CreateOpenAiFileResponses[keyof CreateOpenAiFileResponses];

export type DeleteOpenAiFileData = {
    body?: never;
    path: {
        /**
         * The file's id, as `file-…`.
         */
        fileId: string;
    };
    query?: never;
    url: '/v1/files/{fileId}';
};

export type DeleteOpenAiFileErrors = {
    /**
     * The request was refused.
     */
    '4XX': {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
    /**
     * It failed.
     */
    default: {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
};

export type DeleteOpenAiFileError = DeleteOpenAiFileErrors[keyof DeleteOpenAiFileErrors];

export type DeleteOpenAiFileResponses = {
    /**
     * Default Response
     */
    200: {
        id: string;
        object: 'file';
        deleted: true;
        [key: string]: unknown;
    };
};

export type DeleteOpenAiFileResponse = DeleteOpenAiFileResponses[keyof DeleteOpenAiFileResponses];

export type GetOpenAiFileData = {
    body?: never;
    path: {
        /**
         * The file's id, as `file-…`.
         */
        fileId: string;
    };
    query?: never;
    url: '/v1/files/{fileId}';
};

export type GetOpenAiFileErrors = {
    /**
     * The request was refused.
     */
    '4XX': {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
    /**
     * It failed.
     */
    default: {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
};

export type GetOpenAiFileError = GetOpenAiFileErrors[keyof GetOpenAiFileErrors];

export type GetOpenAiFileResponses = {
    /**
     * Default Response
     */
    200: OpenAiFile;
};

export type GetOpenAiFileResponse = GetOpenAiFileResponses[keyof GetOpenAiFileResponses];

export type ReadOpenAiFileData = {
    body?: never;
    path: {
        /**
         * The file's id, as `file-…`.
         */
        fileId: string;
    };
    query?: never;
    url: '/v1/files/{fileId}/content';
};

export type ReadOpenAiFileErrors = {
    /**
     * The request was refused.
     */
    '4XX': {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
    /**
     * It failed.
     */
    default: {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
};

export type ReadOpenAiFileError = ReadOpenAiFileErrors[keyof ReadOpenAiFileErrors];

export type ReadOpenAiFileResponses = {
    /**
     * The bytes, of their own content type.
     */
    200: Blob | File;
};

export type ReadOpenAiFileResponse = ReadOpenAiFileResponses[keyof ReadOpenAiFileResponses];

export type CreateChatCompletionData = {
    body: CreateChatCompletion;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
        /**
         * The id of a front end's chat, which has a conversation of its own. The turn ends if the client disconnects.
         */
        'x-berth-chat'?: string;
        /**
         * The same, as Open WebUI sends it.
         */
        'x-openwebui-chat-id'?: string;
        /**
         * Not empty: the message is for a title or the like, and is answered outside the chat's conversation.
         */
        'x-berth-task'?: string;
        /**
         * `new`: empties the agent's conversation first.
         */
        'x-berth-conversation'?: 'new';
    };
    path?: never;
    query?: never;
    url: '/v1/chat/completions';
};

export type CreateChatCompletionErrors = {
    /**
     * The request was refused.
     */
    '4XX': {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
    /**
     * It failed.
     */
    default: {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
};

export type CreateChatCompletionError = CreateChatCompletionErrors[keyof CreateChatCompletionErrors];

export type CreateChatCompletionResponses = {
    /**
     * Default Response
     */
    200: ChatCompletion;
};

export type CreateChatCompletionResponse = CreateChatCompletionResponses[keyof CreateChatCompletionResponses];

export type ListOpenAiModelsData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/v1/models';
};

export type ListOpenAiModelsErrors = {
    /**
     * The request was refused.
     */
    '4XX': {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
    /**
     * It failed.
     */
    default: {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
};

export type ListOpenAiModelsError = ListOpenAiModelsErrors[keyof ListOpenAiModelsErrors];

export type ListOpenAiModelsResponses = {
    /**
     * Default Response
     */
    200: {
        object: 'list';
        data: Array<{
            [key: string]: unknown;
        }>;
        [key: string]: unknown;
    };
};

export type ListOpenAiModelsResponse = ListOpenAiModelsResponses[keyof ListOpenAiModelsResponses];

export type GetOpenAiModelData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        model: string;
    };
    query?: never;
    url: '/v1/models/{model}';
};

export type GetOpenAiModelErrors = {
    /**
     * The request was refused.
     */
    '4XX': {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
    /**
     * It failed.
     */
    default: {
        error: {
            message: string;
            type: string;
            /**
             * The field at fault; null: none.
             */
            param: string | null;
            code: string;
        };
    };
};

export type GetOpenAiModelError = GetOpenAiModelErrors[keyof GetOpenAiModelErrors];

export type GetOpenAiModelResponses = {
    /**
     * Default Response
     */
    200: {
        object: 'model';
        id: string;
        created: number;
        owned_by: string;
        [key: string]: unknown;
    };
};

export type GetOpenAiModelResponse = GetOpenAiModelResponses[keyof GetOpenAiModelResponses];

export type ListCommandsData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: never;
    url: '/agents/{name}/commands';
};

export type ListCommandsErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListCommandsError = ListCommandsErrors[keyof ListCommandsErrors];

export type ListCommandsResponses = {
    /**
     * Default Response
     */
    200: CommandList;
};

export type ListCommandsResponse = ListCommandsResponses[keyof ListCommandsResponses];

export type RunCommandData = {
    body: RunCommand;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: never;
    url: '/agents/{name}/commands';
};

export type RunCommandErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type RunCommandError = RunCommandErrors[keyof RunCommandErrors];

export type RunCommandResponses = {
    /**
     * Default Response
     */
    200: CommandResult;
    /**
     * Default Response
     */
    201: Command;
};

export type RunCommandResponse = RunCommandResponses[keyof RunCommandResponses];

export type GetCommandData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
        /**
         * The command's id.
         */
        commandId: string;
    };
    query?: never;
    url: '/agents/{name}/commands/{commandId}';
};

export type GetCommandErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type GetCommandError = GetCommandErrors[keyof GetCommandErrors];

export type GetCommandResponses = {
    /**
     * Default Response
     */
    200: Command;
};

export type GetCommandResponse = GetCommandResponses[keyof GetCommandResponses];

export type GetCommandEventsData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
        /**
         * The command's id.
         */
        commandId: string;
    };
    query?: {
        /**
         * Only events after the event with this number. The header `last-event-id` takes precedence.
         */
        after?: number;
    };
    url: '/agents/{name}/commands/{commandId}/events';
};

export type GetCommandEventsErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type GetCommandEventsError = GetCommandEventsErrors[keyof GetCommandEventsErrors];

export type GetCommandEventsResponses = {
    /**
     * Default Response
     */
    200: CommandEvent;
    /**
     * Default Response
     */
    204: void;
};

export type GetCommandEventsResponse = GetCommandEventsResponses[keyof GetCommandEventsResponses];

export type WriteCommandInputData = {
    body: Blob | File;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The agent's name.
         */
        name: string;
        /**
         * The command's id.
         */
        commandId: string;
    };
    query?: {
        /**
         * Close the command's input after these bytes.
         */
        end?: 'true' | 'false';
    };
    url: '/agents/{name}/commands/{commandId}/stdin';
};

export type WriteCommandInputErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type WriteCommandInputError = WriteCommandInputErrors[keyof WriteCommandInputErrors];

export type WriteCommandInputResponses = {
    /**
     * Default Response
     */
    204: void;
};

export type WriteCommandInputResponse = WriteCommandInputResponses[keyof WriteCommandInputResponses];

export type SignalCommandData = {
    body: SignalCommand;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The agent's name.
         */
        name: string;
        /**
         * The command's id.
         */
        commandId: string;
    };
    query?: never;
    url: '/agents/{name}/commands/{commandId}/signal';
};

export type SignalCommandErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type SignalCommandError = SignalCommandErrors[keyof SignalCommandErrors];

export type SignalCommandResponses = {
    /**
     * Default Response
     */
    204: void;
};

export type SignalCommandResponse = SignalCommandResponses[keyof SignalCommandResponses];

export type CreateTicketData = {
    body: TicketRequest;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: never;
    url: '/agents/{name}/tickets';
};

export type CreateTicketErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type CreateTicketError = CreateTicketErrors[keyof CreateTicketErrors];

export type CreateTicketResponses = {
    /**
     * Default Response
     */
    201: Ticket;
};

export type CreateTicketResponse = CreateTicketResponses[keyof CreateTicketResponses];

export type OpenTerminalData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: {
        /**
         * The session to join, with its recent output. Default: a new session.
         */
        session?: string;
        /**
         * Only the session's events after the event with this id, for a viewer that reconnects.
         */
        after?: number;
        cols?: number;
        rows?: number;
        /**
         * The user of a new session.
         */
        user?: 'agent' | 'root';
        /**
         * Replaces the header `authorization`: see tickets.
         */
        ticket?: string;
    };
    url: '/agents/{name}/terminal';
};

export type OpenTerminalErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type OpenTerminalError = OpenTerminalErrors[keyof OpenTerminalErrors];

export type OpenTerminalResponses = {
    /**
     * Default Response
     */
    200: unknown;
};

export type RemoveFileData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
        /**
         * Absolute, or relative to the agent's home folder. `.` and `..` are resolved, and stay inside `/`.
         */
        path: string;
    };
    query?: {
        /**
         * The user in the machine whose permissions apply.
         */
        user?: 'agent' | 'root';
        /**
         * `true`: delete a folder with its contents.
         */
        recursive?: 'true' | 'false';
    };
    url: '/agents/{name}/files/{path}';
};

export type RemoveFileErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type RemoveFileError = RemoveFileErrors[keyof RemoveFileErrors];

export type RemoveFileResponses = {
    /**
     * Default Response
     */
    204: void;
};

export type RemoveFileResponse = RemoveFileResponses[keyof RemoveFileResponses];

export type ReadFileData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
        /**
         * Absolute, or relative to the agent's home folder. `.` and `..` are resolved, and stay inside `/`.
         */
        path: string;
    };
    query?: {
        /**
         * The user in the machine whose permissions apply.
         */
        user?: 'agent' | 'root';
        /**
         * The page size, 1 to 1000.
         */
        limit?: number;
        /**
         * The previous page's `nextCursor`.
         */
        cursor?: string;
        /**
         * `true`: include the contents of subfolders.
         */
        recursive?: 'true' | 'false';
        /**
         * With `recursive`: the number of levels, 1 to 100.
         */
        depth?: number;
        /**
         * `true`: return the entry itself as JSON, not its contents.
         */
        stat?: 'true' | 'false';
        /**
         * `true`: an event stream of the changes to the folder or file.
         */
        watch?: 'true' | 'false';
        /**
         * The format of a folder's archive. A link can set it where it cannot set `Accept`.
         */
        archive?: 'tar' | 'tar.gz' | 'zip';
        /**
         * Replaces the header `authorization`: see tickets.
         */
        ticket?: string;
    };
    url: '/agents/{name}/files/{path}';
};

export type ReadFileErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ReadFileError = ReadFileErrors[keyof ReadFileErrors];

export type ReadFileResponses = {
    /**
     * Default Response
     */
    200: FileOrFolder;
    /**
     * The bytes, of their own content type.
     */
    206: Blob | File;
};

export type ReadFileResponse = ReadFileResponses[keyof ReadFileResponses];

export type ChangeFileData = {
    body?: never;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The agent's name.
         */
        name: string;
        /**
         * Absolute, or relative to the agent's home folder. `.` and `..` are resolved, and stay inside `/`.
         */
        path: string;
    };
    query: {
        /**
         * The user in the machine whose permissions apply.
         */
        user?: 'agent' | 'root';
        action: 'move' | 'copy' | 'mkdir';
        /**
         * With `move` and `copy`: the new path, which must not exist.
         */
        to?: string;
    };
    url: '/agents/{name}/files/{path}';
};

export type ChangeFileErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ChangeFileError = ChangeFileErrors[keyof ChangeFileErrors];

export type ChangeFileResponses = {
    /**
     * Default Response
     */
    200: FileEntry;
};

export type ChangeFileResponse = ChangeFileResponses[keyof ChangeFileResponses];

export type WriteFileData = {
    body: Blob | File;
    path: {
        /**
         * The agent's name.
         */
        name: string;
        /**
         * Absolute, or relative to the agent's home folder. `.` and `..` are resolved, and stay inside `/`.
         */
        path: string;
    };
    query?: {
        /**
         * The user in the machine whose permissions apply.
         */
        user?: 'agent' | 'root';
        /**
         * The file's mode, such as 755. Default: the mode of the file it replaces, or 644.
         */
        mode?: string;
        /**
         * `true`: the body is a tar archive to unpack into the folder at the path.
         */
        extract?: 'true' | 'false';
    };
    url: '/agents/{name}/files/{path}';
};

export type WriteFileErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type WriteFileError = WriteFileErrors[keyof WriteFileErrors];

export type WriteFileResponses = {
    /**
     * Default Response
     */
    200: WrittenFile;
    /**
     * Default Response
     */
    201: WrittenFile;
};

export type WriteFileResponse = WriteFileResponses[keyof WriteFileResponses];

export type ListPortsData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: never;
    url: '/agents/{name}/ports';
};

export type ListPortsErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListPortsError = ListPortsErrors[keyof ListPortsErrors];

export type ListPortsResponses = {
    /**
     * Default Response
     */
    200: PortList;
};

export type ListPortsResponse = ListPortsResponses[keyof ListPortsResponses];

export type ConnectPortData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
        port: number;
    };
    query?: {
        /**
         * Replaces the header `authorization`: see tickets.
         */
        ticket?: string;
    };
    url: '/agents/{name}/ports/{port}/connection';
};

export type ConnectPortErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ConnectPortError = ConnectPortErrors[keyof ConnectPortErrors];

export type ConnectPortResponses = {
    /**
     * Default Response
     */
    200: unknown;
};

export type CreateShareData = {
    body: CreateShare;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The agent's name.
         */
        name: string;
        port: number;
    };
    query?: never;
    url: '/agents/{name}/ports/{port}/share';
};

export type CreateShareErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type CreateShareError = CreateShareErrors[keyof CreateShareErrors];

export type CreateShareResponses = {
    /**
     * Default Response
     */
    201: Share;
};

export type CreateShareResponse = CreateShareResponses[keyof CreateShareResponses];

export type ListSharesData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: never;
    url: '/agents/{name}/shares';
};

export type ListSharesErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListSharesError = ListSharesErrors[keyof ListSharesErrors];

export type ListSharesResponses = {
    /**
     * Default Response
     */
    200: ShareList;
};

export type ListSharesResponse = ListSharesResponses[keyof ListSharesResponses];

export type RemoveShareData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
        shareId: string;
    };
    query?: never;
    url: '/agents/{name}/shares/{shareId}';
};

export type RemoveShareErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type RemoveShareError = RemoveShareErrors[keyof RemoveShareErrors];

export type RemoveShareResponses = {
    /**
     * Default Response
     */
    204: void;
};

export type RemoveShareResponse = RemoveShareResponses[keyof RemoveShareResponses];

export type CertifySshData = {
    body: SshRequest;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: never;
    url: '/agents/{name}/ssh';
};

export type CertifySshErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type CertifySshError = CertifySshErrors[keyof CertifySshErrors];

export type CertifySshResponses = {
    /**
     * Default Response
     */
    200: SshAccess;
};

export type CertifySshResponse = CertifySshResponses[keyof CertifySshResponses];

export type ConnectSshData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: {
        /**
         * Replaces the header `authorization`: see tickets.
         */
        ticket?: string;
    };
    url: '/agents/{name}/ssh/connection';
};

export type ConnectSshErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ConnectSshError = ConnectSshErrors[keyof ConnectSshErrors];

export type ConnectSshResponses = {
    /**
     * Default Response
     */
    200: unknown;
};

export type ListModelsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The page size, 1 to 100.
         */
        limit?: number;
        /**
         * The previous page's `nextCursor`.
         */
        cursor?: string;
    };
    url: '/models';
};

export type ListModelsErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListModelsError = ListModelsErrors[keyof ListModelsErrors];

export type ListModelsResponses = {
    /**
     * Default Response
     */
    200: ModelList;
};

export type ListModelsResponse = ListModelsResponses[keyof ListModelsResponses];

export type ListRuntimesData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/runtimes';
};

export type ListRuntimesErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListRuntimesError = ListRuntimesErrors[keyof ListRuntimesErrors];

export type ListRuntimesResponses = {
    /**
     * Default Response
     */
    200: RuntimeList;
};

export type ListRuntimesResponse = ListRuntimesResponses[keyof ListRuntimesResponses];

export type ListProvidersData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/providers';
};

export type ListProvidersErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListProvidersError = ListProvidersErrors[keyof ListProvidersErrors];

export type ListProvidersResponses = {
    /**
     * Default Response
     */
    200: ProviderList;
};

export type ListProvidersResponse = ListProvidersResponses[keyof ListProvidersResponses];

export type CreateProviderData = {
    body: CreateProvider;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path?: never;
    query?: never;
    url: '/providers';
};

export type CreateProviderErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type CreateProviderError = CreateProviderErrors[keyof CreateProviderErrors];

export type CreateProviderResponses = {
    /**
     * Default Response
     */
    201: Provider;
};

export type CreateProviderResponse = CreateProviderResponses[keyof CreateProviderResponses];

export type DeleteProviderData = {
    body?: never;
    path: {
        /**
         * The provider's name.
         */
        name: string;
    };
    query?: {
        /**
         * `person`: a subscription for you alone, and your private agents; it goes with your membership. `workspace`: for this workspace, which pays the provider itself. `installation`: for all workspaces, which pay with credits; only the operator can set it.
         */
        scope?: 'person' | 'workspace' | 'installation';
    };
    url: '/providers/{name}';
};

export type DeleteProviderErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type DeleteProviderError = DeleteProviderErrors[keyof DeleteProviderErrors];

export type DeleteProviderResponses = {
    /**
     * Default Response
     */
    204: void;
};

export type DeleteProviderResponse = DeleteProviderResponses[keyof DeleteProviderResponses];

export type ChangeProviderData = {
    body: ChangeProvider;
    path: {
        /**
         * The provider's name.
         */
        name: string;
    };
    query?: {
        /**
         * `person`: a subscription for you alone, and your private agents; it goes with your membership. `workspace`: for this workspace, which pays the provider itself. `installation`: for all workspaces, which pay with credits; only the operator can set it.
         */
        scope?: 'person' | 'workspace' | 'installation';
    };
    url: '/providers/{name}';
};

export type ChangeProviderErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ChangeProviderError = ChangeProviderErrors[keyof ChangeProviderErrors];

export type ChangeProviderResponses = {
    /**
     * Default Response
     */
    200: Provider;
};

export type ChangeProviderResponse = ChangeProviderResponses[keyof ChangeProviderResponses];

export type StartProviderLoginData = {
    body?: never;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The provider's name.
         */
        name: string;
    };
    query?: {
        /**
         * `person`: a subscription for you alone, and your private agents; it goes with your membership. `workspace`: for this workspace, which pays the provider itself. `installation`: for all workspaces, which pay with credits; only the operator can set it.
         */
        scope?: 'person' | 'workspace' | 'installation';
    };
    url: '/providers/{name}/login';
};

export type StartProviderLoginErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type StartProviderLoginError = StartProviderLoginErrors[keyof StartProviderLoginErrors];

export type StartProviderLoginResponses = {
    /**
     * Default Response
     */
    200: Provider;
};

export type StartProviderLoginResponse = StartProviderLoginResponses[keyof StartProviderLoginResponses];

export type TestProviderData = {
    body: TestProvider;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The provider's name.
         */
        name: string;
    };
    query?: {
        /**
         * `person`: a subscription for you alone, and your private agents; it goes with your membership. `workspace`: for this workspace, which pays the provider itself. `installation`: for all workspaces, which pay with credits; only the operator can set it.
         */
        scope?: 'person' | 'workspace' | 'installation';
    };
    url: '/providers/{name}/test';
};

export type TestProviderErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type TestProviderError = TestProviderErrors[keyof TestProviderErrors];

export type TestProviderResponses = {
    /**
     * Default Response
     */
    200: ProviderTest;
};

export type TestProviderResponse = TestProviderResponses[keyof TestProviderResponses];

export type GetNetworkData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: never;
    url: '/agents/{name}/network';
};

export type GetNetworkErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type GetNetworkError = GetNetworkErrors[keyof GetNetworkErrors];

export type GetNetworkResponses = {
    /**
     * Default Response
     */
    200: Network;
};

export type GetNetworkResponse = GetNetworkResponses[keyof GetNetworkResponses];

export type SetNetworkData = {
    body: ChangeNetwork;
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: never;
    url: '/agents/{name}/network';
};

export type SetNetworkErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type SetNetworkError = SetNetworkErrors[keyof SetNetworkErrors];

export type SetNetworkResponses = {
    /**
     * Default Response
     */
    200: Network;
};

export type SetNetworkResponse = SetNetworkResponses[keyof SetNetworkResponses];

export type ListConnectionsData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: {
        /**
         * The page size, 1 to 100.
         */
        limit?: number;
        /**
         * The previous page's `nextCursor`.
         */
        cursor?: string;
        /**
         * Only allowed connections, or only refused ones.
         */
        verdict?: 'allowed' | 'refused';
    };
    url: '/agents/{name}/network/log';
};

export type ListConnectionsErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListConnectionsError = ListConnectionsErrors[keyof ListConnectionsErrors];

export type ListConnectionsResponses = {
    /**
     * Default Response
     */
    200: NetworkLog;
};

export type ListConnectionsResponse = ListConnectionsResponses[keyof ListConnectionsResponses];

export type ListAccountConnectionsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The page size, 1 to 100.
         */
        limit?: number;
        /**
         * The previous page's `nextCursor`.
         */
        cursor?: string;
        /**
         * Only allowed connections, or only refused ones.
         */
        verdict?: 'allowed' | 'refused';
        /**
         * Only connections that began at this time or later.
         */
        since?: string;
    };
    url: '/network/log';
};

export type ListAccountConnectionsErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListAccountConnectionsError = ListAccountConnectionsErrors[keyof ListAccountConnectionsErrors];

export type ListAccountConnectionsResponses = {
    /**
     * Default Response
     */
    200: AccountConnectionList;
};

export type ListAccountConnectionsResponse = ListAccountConnectionsResponses[keyof ListAccountConnectionsResponses];

export type ListSecretsData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: never;
    url: '/agents/{name}/secrets';
};

export type ListSecretsErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListSecretsError = ListSecretsErrors[keyof ListSecretsErrors];

export type ListSecretsResponses = {
    /**
     * Default Response
     */
    200: SecretList;
};

export type ListSecretsResponse = ListSecretsResponses[keyof ListSecretsResponses];

export type RemoveSecretData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
        /**
         * The name of the variable that holds the placeholder in the machine.
         */
        secret: string;
    };
    query?: never;
    url: '/agents/{name}/secrets/{secret}';
};

export type RemoveSecretErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type RemoveSecretError = RemoveSecretErrors[keyof RemoveSecretErrors];

export type RemoveSecretResponses = {
    /**
     * Default Response
     */
    204: void;
};

export type RemoveSecretResponse = RemoveSecretResponses[keyof RemoveSecretResponses];

export type SetSecretData = {
    body: SetSecret;
    path: {
        /**
         * The agent's name.
         */
        name: string;
        /**
         * The name of the variable that holds the placeholder in the machine.
         */
        secret: string;
    };
    query?: never;
    url: '/agents/{name}/secrets/{secret}';
};

export type SetSecretErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type SetSecretError = SetSecretErrors[keyof SetSecretErrors];

export type SetSecretResponses = {
    /**
     * Default Response
     */
    200: Secret;
    /**
     * Default Response
     */
    201: Secret;
};

export type SetSecretResponse = SetSecretResponses[keyof SetSecretResponses];

export type ListWorkspaceSecretsData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/secrets';
};

export type ListWorkspaceSecretsErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListWorkspaceSecretsError = ListWorkspaceSecretsErrors[keyof ListWorkspaceSecretsErrors];

export type ListWorkspaceSecretsResponses = {
    /**
     * Default Response
     */
    200: WorkspaceSecretList;
};

export type ListWorkspaceSecretsResponse = ListWorkspaceSecretsResponses[keyof ListWorkspaceSecretsResponses];

export type RemoveWorkspaceSecretData = {
    body?: never;
    path: {
        /**
         * The name of the variable that holds the placeholder in the machine.
         */
        secret: string;
    };
    query?: never;
    url: '/secrets/{secret}';
};

export type RemoveWorkspaceSecretErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type RemoveWorkspaceSecretError = RemoveWorkspaceSecretErrors[keyof RemoveWorkspaceSecretErrors];

export type RemoveWorkspaceSecretResponses = {
    /**
     * Default Response
     */
    204: void;
};

export type RemoveWorkspaceSecretResponse = RemoveWorkspaceSecretResponses[keyof RemoveWorkspaceSecretResponses];

export type GetWorkspaceSecretData = {
    body?: never;
    path: {
        /**
         * The name of the variable that holds the placeholder in the machine.
         */
        secret: string;
    };
    query?: never;
    url: '/secrets/{secret}';
};

export type GetWorkspaceSecretErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type GetWorkspaceSecretError = GetWorkspaceSecretErrors[keyof GetWorkspaceSecretErrors];

export type GetWorkspaceSecretResponses = {
    /**
     * Default Response
     */
    200: WorkspaceSecret;
};

export type GetWorkspaceSecretResponse = GetWorkspaceSecretResponses[keyof GetWorkspaceSecretResponses];

export type SetWorkspaceSecretData = {
    body: SetWorkspaceSecret;
    path: {
        /**
         * The name of the variable that holds the placeholder in the machine.
         */
        secret: string;
    };
    query?: never;
    url: '/secrets/{secret}';
};

export type SetWorkspaceSecretErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type SetWorkspaceSecretError = SetWorkspaceSecretErrors[keyof SetWorkspaceSecretErrors];

export type SetWorkspaceSecretResponses = {
    /**
     * Default Response
     */
    200: WorkspaceSecret;
    /**
     * Default Response
     */
    201: WorkspaceSecret;
};

export type SetWorkspaceSecretResponse = SetWorkspaceSecretResponses[keyof SetWorkspaceSecretResponses];

export type ConnectMcpServerData = {
    body: ConnectMcpServer;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The name of the variable that holds the placeholder in the machine.
         */
        secret: string;
    };
    query?: never;
    url: '/secrets/{secret}/connect';
};

export type ConnectMcpServerErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ConnectMcpServerError = ConnectMcpServerErrors[keyof ConnectMcpServerErrors];

export type ConnectMcpServerResponses = {
    /**
     * Default Response
     */
    200: McpConnection;
};

export type ConnectMcpServerResponse = ConnectMcpServerResponses[keyof ConnectMcpServerResponses];

export type ConfirmMcpServerData = {
    body: ConfirmMcpServer;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The name of the variable that holds the placeholder in the machine.
         */
        secret: string;
    };
    query?: never;
    url: '/secrets/{secret}/confirm';
};

export type ConfirmMcpServerErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ConfirmMcpServerError = ConfirmMcpServerErrors[keyof ConfirmMcpServerErrors];

export type ConfirmMcpServerResponses = {
    /**
     * Default Response
     */
    200: WorkspaceSecret;
};

export type ConfirmMcpServerResponse = ConfirmMcpServerResponses[keyof ConfirmMcpServerResponses];

export type GetMcpClientData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/mcp/client.json';
};

export type GetMcpClientErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type GetMcpClientError = GetMcpClientErrors[keyof GetMcpClientErrors];

export type GetMcpClientResponses = {
    /**
     * Default Response
     */
    200: McpClient;
};

export type GetMcpClientResponse = GetMcpClientResponses[keyof GetMcpClientResponses];

export type ListSkillsData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/skills';
};

export type ListSkillsErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListSkillsError = ListSkillsErrors[keyof ListSkillsErrors];

export type ListSkillsResponses = {
    /**
     * Default Response
     */
    200: SkillList;
};

export type ListSkillsResponse = ListSkillsResponses[keyof ListSkillsResponses];

export type RemoveSkillData = {
    body?: never;
    path: {
        /**
         * The `name` of its SKILL.md, and its folder in the machine.
         */
        skill: string;
    };
    query?: never;
    url: '/skills/{skill}';
};

export type RemoveSkillErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type RemoveSkillError = RemoveSkillErrors[keyof RemoveSkillErrors];

export type RemoveSkillResponses = {
    /**
     * Default Response
     */
    204: void;
};

export type RemoveSkillResponse = RemoveSkillResponses[keyof RemoveSkillResponses];

export type GetSkillData = {
    body?: never;
    path: {
        /**
         * The `name` of its SKILL.md, and its folder in the machine.
         */
        skill: string;
    };
    query?: never;
    url: '/skills/{skill}';
};

export type GetSkillErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type GetSkillError = GetSkillErrors[keyof GetSkillErrors];

export type GetSkillResponses = {
    /**
     * Default Response
     */
    200: Skill;
};

export type GetSkillResponse = GetSkillResponses[keyof GetSkillResponses];

export type SetSkillData = {
    body: SetSkill;
    path: {
        /**
         * The `name` of its SKILL.md, and its folder in the machine.
         */
        skill: string;
    };
    query?: never;
    url: '/skills/{skill}';
};

export type SetSkillErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type SetSkillError = SetSkillErrors[keyof SetSkillErrors];

export type SetSkillResponses = {
    /**
     * Default Response
     */
    200: Skill;
    /**
     * Default Response
     */
    201: Skill;
};

export type SetSkillResponse = SetSkillResponses[keyof SetSkillResponses];

export type UploadSkillData = {
    body: Blob | File;
    path: {
        /**
         * The `name` of its SKILL.md, and its folder in the machine.
         */
        skill: string;
    };
    query?: {
        /**
         * The agents that have it, by name, with commas between them; empty: none. If not given, they stay; a new skill is for all.
         */
        agents?: string;
        /**
         * Refuse the archive if its content has another hash.
         */
        hash?: string;
    };
    url: '/skills/{skill}/archive';
};

export type UploadSkillErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type UploadSkillError = UploadSkillErrors[keyof UploadSkillErrors];

export type UploadSkillResponses = {
    /**
     * Default Response
     */
    200: Skill;
    /**
     * Default Response
     */
    201: Skill;
};

export type UploadSkillResponse = UploadSkillResponses[keyof UploadSkillResponses];

export type GetAccountData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/account';
};

export type GetAccountErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type GetAccountError = GetAccountErrors[keyof GetAccountErrors];

export type GetAccountResponses = {
    /**
     * Default Response
     */
    200: Account;
};

export type GetAccountResponse = GetAccountResponses[keyof GetAccountResponses];

export type ListProgramsData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/account/programs';
};

export type ListProgramsErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListProgramsError = ListProgramsErrors[keyof ListProgramsErrors];

export type ListProgramsResponses = {
    /**
     * Default Response
     */
    200: ProgramList;
};

export type ListProgramsResponse = ListProgramsResponses[keyof ListProgramsResponses];

export type EndProgramData = {
    body?: never;
    path: {
        /**
         * The program's id.
         */
        id: string;
    };
    query?: never;
    url: '/account/programs/{id}';
};

export type EndProgramErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type EndProgramError = EndProgramErrors[keyof EndProgramErrors];

export type EndProgramResponses = {
    /**
     * Default Response
     */
    204: void;
};

export type EndProgramResponse = EndProgramResponses[keyof EndProgramResponses];

export type GetEventsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * Only events after this one's id; without it, those from now on. The header `last-event-id` takes precedence.
         */
        after?: number;
    };
    url: '/events';
};

export type GetEventsErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type GetEventsError = GetEventsErrors[keyof GetEventsErrors];

export type GetEventsResponses = {
    /**
     * Default Response
     */
    200: AccountEvent;
};

export type GetEventsResponse = GetEventsResponses[keyof GetEventsResponses];

export type ListKeysData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The page size, 1 to 100.
         */
        limit?: number;
        /**
         * The previous page's `nextCursor`.
         */
        cursor?: string;
    };
    url: '/keys';
};

export type ListKeysErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListKeysError = ListKeysErrors[keyof ListKeysErrors];

export type ListKeysResponses = {
    /**
     * Default Response
     */
    200: KeyList;
};

export type ListKeysResponse = ListKeysResponses[keyof ListKeysResponses];

export type CreateKeyData = {
    body: CreateKey;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path?: never;
    query?: never;
    url: '/keys';
};

export type CreateKeyErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type CreateKeyError = CreateKeyErrors[keyof CreateKeyErrors];

export type CreateKeyResponses = {
    /**
     * Default Response
     */
    201: CreatedKey;
};

export type CreateKeyResponse = CreateKeyResponses[keyof CreateKeyResponses];

export type RevokeKeyData = {
    body?: never;
    path: {
        /**
         * The key's id.
         */
        id: string;
    };
    query?: never;
    url: '/keys/{id}';
};

export type RevokeKeyErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type RevokeKeyError = RevokeKeyErrors[keyof RevokeKeyErrors];

export type RevokeKeyResponses = {
    /**
     * Default Response
     */
    204: void;
};

export type RevokeKeyResponse = RevokeKeyResponses[keyof RevokeKeyResponses];

export type ListAuditEntriesData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The page size, 1 to 100.
         */
        limit?: number;
        /**
         * The previous page's `nextCursor`.
         */
        cursor?: string;
        /**
         * Only entries about agents of this name.
         */
        agent?: string;
        /**
         * Only requests that succeeded, or that were refused (status 400 or above).
         */
        outcome?: 'done' | 'refused';
        /**
         * Only entries with this text in their operation, agent, resource, address, code or the author's name, ignoring case.
         */
        search?: string;
        /**
         * Earliest time, inclusive.
         */
        since?: string;
        /**
         * Latest time, exclusive.
         */
        until?: string;
        /**
         * `csv` as with `Accept: text/csv`: all rows, no pages.
         */
        format?: 'json' | 'csv';
    };
    url: '/audit';
};

export type ListAuditEntriesErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListAuditEntriesError = ListAuditEntriesErrors[keyof ListAuditEntriesErrors];

export type ListAuditEntriesResponses = {
    /**
     * Default Response
     */
    200: AuditList;
};

export type ListAuditEntriesResponse = ListAuditEntriesResponses[keyof ListAuditEntriesResponses];

export type GetMeData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/me';
};

export type GetMeErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type GetMeError = GetMeErrors[keyof GetMeErrors];

export type GetMeResponses = {
    /**
     * Default Response
     */
    200: Me;
};

export type GetMeResponse = GetMeResponses[keyof GetMeResponses];

export type ListWorkspacesData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/workspaces';
};

export type ListWorkspacesErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListWorkspacesError = ListWorkspacesErrors[keyof ListWorkspacesErrors];

export type ListWorkspacesResponses = {
    /**
     * Default Response
     */
    200: WorkspaceList;
};

export type ListWorkspacesResponse = ListWorkspacesResponses[keyof ListWorkspacesResponses];

export type CreateWorkspaceData = {
    body: CreateWorkspace;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path?: never;
    query?: never;
    url: '/workspaces';
};

export type CreateWorkspaceErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type CreateWorkspaceError = CreateWorkspaceErrors[keyof CreateWorkspaceErrors];

export type CreateWorkspaceResponses = {
    /**
     * Default Response
     */
    201: Workspace;
};

export type CreateWorkspaceResponse = CreateWorkspaceResponses[keyof CreateWorkspaceResponses];

export type DeleteWorkspaceData = {
    body?: never;
    path: {
        /**
         * The workspace's name or id; `personal` for the caller's personal workspace.
         */
        name: string;
    };
    query?: {
        /**
         * Delete it with its agents. `?force` alone is `true`.
         */
        force?: 'true' | 'false' | '';
    };
    url: '/workspaces/{name}';
};

export type DeleteWorkspaceErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type DeleteWorkspaceError = DeleteWorkspaceErrors[keyof DeleteWorkspaceErrors];

export type DeleteWorkspaceResponses = {
    /**
     * Default Response
     */
    202: {
        [key: string]: never;
    };
    /**
     * Default Response
     */
    204: void;
};

export type DeleteWorkspaceResponse = DeleteWorkspaceResponses[keyof DeleteWorkspaceResponses];

export type RenameWorkspaceData = {
    body: UpdateWorkspace;
    path: {
        /**
         * The workspace's name or id; `personal` for the caller's personal workspace.
         */
        name: string;
    };
    query?: never;
    url: '/workspaces/{name}';
};

export type RenameWorkspaceErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type RenameWorkspaceError = RenameWorkspaceErrors[keyof RenameWorkspaceErrors];

export type RenameWorkspaceResponses = {
    /**
     * Default Response
     */
    200: Workspace;
};

export type RenameWorkspaceResponse = RenameWorkspaceResponses[keyof RenameWorkspaceResponses];

export type ListDeletedWorkspacesData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/deleted-workspaces';
};

export type ListDeletedWorkspacesErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListDeletedWorkspacesError = ListDeletedWorkspacesErrors[keyof ListDeletedWorkspacesErrors];

export type ListDeletedWorkspacesResponses = {
    /**
     * Default Response
     */
    200: DeletedWorkspaceList;
};

export type ListDeletedWorkspacesResponse = ListDeletedWorkspacesResponses[keyof ListDeletedWorkspacesResponses];

export type RestoreWorkspaceData = {
    body?: never;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The workspace's id.
         */
        id: string;
    };
    query?: never;
    url: '/deleted-workspaces/{id}/restore';
};

export type RestoreWorkspaceErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type RestoreWorkspaceError = RestoreWorkspaceErrors[keyof RestoreWorkspaceErrors];

export type RestoreWorkspaceResponses = {
    /**
     * Default Response
     */
    200: Workspace;
};

export type RestoreWorkspaceResponse = RestoreWorkspaceResponses[keyof RestoreWorkspaceResponses];

export type ListMembersData = {
    body?: never;
    path: {
        /**
         * The workspace's name or id; `personal` for the caller's personal workspace.
         */
        name: string;
    };
    query?: {
        /**
         * The page size, 1 to 100.
         */
        limit?: number;
        /**
         * The previous page's `nextCursor`.
         */
        cursor?: string;
    };
    url: '/workspaces/{name}/members';
};

export type ListMembersErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListMembersError = ListMembersErrors[keyof ListMembersErrors];

export type ListMembersResponses = {
    /**
     * Default Response
     */
    200: MemberList;
};

export type ListMembersResponse = ListMembersResponses[keyof ListMembersResponses];

export type RemoveMemberData = {
    body?: never;
    path: {
        /**
         * The workspace's name or id; `personal` for the caller's personal workspace.
         */
        name: string;
        /**
         * The person's id.
         */
        id: string;
    };
    query?: never;
    url: '/workspaces/{name}/members/{id}';
};

export type RemoveMemberErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type RemoveMemberError = RemoveMemberErrors[keyof RemoveMemberErrors];

export type RemoveMemberResponses = {
    /**
     * Default Response
     */
    204: void;
};

export type RemoveMemberResponse = RemoveMemberResponses[keyof RemoveMemberResponses];

export type ChangeMemberData = {
    body: UpdateMember;
    path: {
        /**
         * The workspace's name or id; `personal` for the caller's personal workspace.
         */
        name: string;
        /**
         * The person's id.
         */
        id: string;
    };
    query?: never;
    url: '/workspaces/{name}/members/{id}';
};

export type ChangeMemberErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ChangeMemberError = ChangeMemberErrors[keyof ChangeMemberErrors];

export type ChangeMemberResponses = {
    /**
     * Default Response
     */
    200: Member;
};

export type ChangeMemberResponse = ChangeMemberResponses[keyof ChangeMemberResponses];

export type ListInvitationsData = {
    body?: never;
    path: {
        /**
         * The workspace's name or id; `personal` for the caller's personal workspace.
         */
        name: string;
    };
    query?: never;
    url: '/workspaces/{name}/invitations';
};

export type ListInvitationsErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListInvitationsError = ListInvitationsErrors[keyof ListInvitationsErrors];

export type ListInvitationsResponses = {
    /**
     * Default Response
     */
    200: InvitationList;
};

export type ListInvitationsResponse = ListInvitationsResponses[keyof ListInvitationsResponses];

export type CreateInvitationData = {
    body: CreateInvitation;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The workspace's name or id; `personal` for the caller's personal workspace.
         */
        name: string;
    };
    query?: never;
    url: '/workspaces/{name}/invitations';
};

export type CreateInvitationErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type CreateInvitationError = CreateInvitationErrors[keyof CreateInvitationErrors];

export type CreateInvitationResponses = {
    /**
     * Default Response
     */
    201: CreatedInvitation;
};

export type CreateInvitationResponse = CreateInvitationResponses[keyof CreateInvitationResponses];

export type RevokeInvitationData = {
    body?: never;
    path: {
        /**
         * The workspace's name or id; `personal` for the caller's personal workspace.
         */
        name: string;
        /**
         * The invitation's id.
         */
        id: string;
    };
    query?: never;
    url: '/workspaces/{name}/invitations/{id}';
};

export type RevokeInvitationErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type RevokeInvitationError = RevokeInvitationErrors[keyof RevokeInvitationErrors];

export type RevokeInvitationResponses = {
    /**
     * Default Response
     */
    204: void;
};

export type RevokeInvitationResponse = RevokeInvitationResponses[keyof RevokeInvitationResponses];

export type AcceptInvitationData = {
    body?: never;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The token of an invitation.
         */
        token: string;
    };
    query?: never;
    url: '/invitations/{token}/accept';
};

export type AcceptInvitationErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type AcceptInvitationError = AcceptInvitationErrors[keyof AcceptInvitationErrors];

export type AcceptInvitationResponses = {
    /**
     * Default Response
     */
    200: Workspace;
};

export type AcceptInvitationResponse = AcceptInvitationResponses[keyof AcceptInvitationResponses];

export type ListPushSubscriptionsData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/me/push-subscriptions';
};

export type ListPushSubscriptionsErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListPushSubscriptionsError = ListPushSubscriptionsErrors[keyof ListPushSubscriptionsErrors];

export type ListPushSubscriptionsResponses = {
    /**
     * Default Response
     */
    200: PushSubscriptionList;
};

export type ListPushSubscriptionsResponse = ListPushSubscriptionsResponses[keyof ListPushSubscriptionsResponses];

export type CreatePushSubscriptionData = {
    body: CreatePushSubscription;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path?: never;
    query?: never;
    url: '/me/push-subscriptions';
};

export type CreatePushSubscriptionErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type CreatePushSubscriptionError = CreatePushSubscriptionErrors[keyof CreatePushSubscriptionErrors];

export type CreatePushSubscriptionResponses = {
    /**
     * Default Response
     */
    201: PushSubscription;
};

export type CreatePushSubscriptionResponse = CreatePushSubscriptionResponses[keyof CreatePushSubscriptionResponses];

export type DeletePushSubscriptionData = {
    body?: never;
    path: {
        /**
         * The subscription's id.
         */
        id: string;
    };
    query?: never;
    url: '/me/push-subscriptions/{id}';
};

export type DeletePushSubscriptionErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type DeletePushSubscriptionError = DeletePushSubscriptionErrors[keyof DeletePushSubscriptionErrors];

export type DeletePushSubscriptionResponses = {
    /**
     * Default Response
     */
    204: void;
};

export type DeletePushSubscriptionResponse = DeletePushSubscriptionResponses[keyof DeletePushSubscriptionResponses];

export type GetProfileData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/me/profile';
};

export type GetProfileErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type GetProfileError = GetProfileErrors[keyof GetProfileErrors];

export type GetProfileResponses = {
    /**
     * Default Response
     */
    200: Profile;
};

export type GetProfileResponse = GetProfileResponses[keyof GetProfileResponses];

export type ChangeProfileData = {
    body: ChangeProfile;
    path?: never;
    query?: never;
    url: '/me/profile';
};

export type ChangeProfileErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ChangeProfileError = ChangeProfileErrors[keyof ChangeProfileErrors];

export type ChangeProfileResponses = {
    /**
     * Default Response
     */
    200: Profile;
};

export type ChangeProfileResponse = ChangeProfileResponses[keyof ChangeProfileResponses];

export type VerifyEmailData = {
    body: VerifyEmail;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path?: never;
    query?: never;
    url: '/me/profile/verify-email';
};

export type VerifyEmailErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type VerifyEmailError = VerifyEmailErrors[keyof VerifyEmailErrors];

export type VerifyEmailResponses = {
    /**
     * Default Response
     */
    200: Profile;
};

export type VerifyEmailResponse = VerifyEmailResponses[keyof VerifyEmailResponses];

export type TestNotificationsData = {
    body?: never;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path?: never;
    query?: never;
    url: '/me/profile/test';
};

export type TestNotificationsErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type TestNotificationsError = TestNotificationsErrors[keyof TestNotificationsErrors];

export type TestNotificationsResponses = {
    /**
     * Default Response
     */
    200: NotificationTest;
};

export type TestNotificationsResponse = TestNotificationsResponses[keyof TestNotificationsResponses];

export type ListAgentNotifyData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The page size, 1 to 100.
         */
        limit?: number;
        /**
         * The previous page's `nextCursor`.
         */
        cursor?: string;
    };
    url: '/me/profile/agents';
};

export type ListAgentNotifyErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListAgentNotifyError = ListAgentNotifyErrors[keyof ListAgentNotifyErrors];

export type ListAgentNotifyResponses = {
    /**
     * Default Response
     */
    200: AgentNotifyList;
};

export type ListAgentNotifyResponse = ListAgentNotifyResponses[keyof ListAgentNotifyResponses];

export type DeleteAgentNotifyData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: never;
    url: '/me/profile/agents/{name}';
};

export type DeleteAgentNotifyErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type DeleteAgentNotifyError = DeleteAgentNotifyErrors[keyof DeleteAgentNotifyErrors];

export type DeleteAgentNotifyResponses = {
    /**
     * Default Response
     */
    204: void;
};

export type DeleteAgentNotifyResponse = DeleteAgentNotifyResponses[keyof DeleteAgentNotifyResponses];

export type SetAgentNotifyData = {
    body: SetAgentNotify;
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: never;
    url: '/me/profile/agents/{name}';
};

export type SetAgentNotifyErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type SetAgentNotifyError = SetAgentNotifyErrors[keyof SetAgentNotifyErrors];

export type SetAgentNotifyResponses = {
    /**
     * Default Response
     */
    200: AgentNotify;
};

export type SetAgentNotifyResponse = SetAgentNotifyResponses[keyof SetAgentNotifyResponses];

export type ListInboxData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The page size, 1 to 100.
         */
        limit?: number;
        /**
         * The previous page's `nextCursor`.
         */
        cursor?: string;
        /**
         * Only items of this agent.
         */
        agent?: string;
        kind?: InboxKind;
        /**
         * `true`: only unread items. `false`: only read ones.
         */
        unread?: 'true' | 'false';
    };
    url: '/inbox';
};

export type ListInboxErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListInboxError = ListInboxErrors[keyof ListInboxErrors];

export type ListInboxResponses = {
    /**
     * Default Response
     */
    200: InboxList;
};

export type ListInboxResponse = ListInboxResponses[keyof ListInboxResponses];

export type CountInboxData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/inbox/unread';
};

export type CountInboxErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type CountInboxError = CountInboxErrors[keyof CountInboxErrors];

export type CountInboxResponses = {
    /**
     * Default Response
     */
    200: InboxUnread;
};

export type CountInboxResponse = CountInboxResponses[keyof CountInboxResponses];

export type ReadInboxData = {
    body: InboxSelection;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path?: never;
    query?: never;
    url: '/inbox/read';
};

export type ReadInboxErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ReadInboxError = ReadInboxErrors[keyof ReadInboxErrors];

export type ReadInboxResponses = {
    /**
     * Default Response
     */
    200: InboxChanged;
};

export type ReadInboxResponse = ReadInboxResponses[keyof ReadInboxResponses];

export type DismissInboxData = {
    body: InboxSelection;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path?: never;
    query?: never;
    url: '/inbox/dismiss';
};

export type DismissInboxErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type DismissInboxError = DismissInboxErrors[keyof DismissInboxErrors];

export type DismissInboxResponses = {
    /**
     * Default Response
     */
    200: InboxChanged;
};

export type DismissInboxResponse = DismissInboxResponses[keyof DismissInboxResponses];

export type DismissInboxItemData = {
    body?: never;
    path: {
        /**
         * The item's id.
         */
        id: string;
    };
    query?: never;
    url: '/inbox/{id}';
};

export type DismissInboxItemErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type DismissInboxItemError = DismissInboxItemErrors[keyof DismissInboxItemErrors];

export type DismissInboxItemResponses = {
    /**
     * Default Response
     */
    204: void;
};

export type DismissInboxItemResponse = DismissInboxItemResponses[keyof DismissInboxItemResponses];

export type GetBillingData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/billing';
};

export type GetBillingErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type GetBillingError = GetBillingErrors[keyof GetBillingErrors];

export type GetBillingResponses = {
    /**
     * Default Response
     */
    200: Billing;
};

export type GetBillingResponse = GetBillingResponses[keyof GetBillingResponses];

export type ChangeBillingData = {
    body: ChangeBilling;
    path?: never;
    query?: never;
    url: '/billing';
};

export type ChangeBillingErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ChangeBillingError = ChangeBillingErrors[keyof ChangeBillingErrors];

export type ChangeBillingResponses = {
    /**
     * Default Response
     */
    200: Billing;
};

export type ChangeBillingResponse = ChangeBillingResponses[keyof ChangeBillingResponses];

export type ListEntriesData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The page size, 1 to 100.
         */
        limit?: number;
        /**
         * The previous page's `nextCursor`.
         */
        cursor?: string;
        /**
         * Only entries of agents of this name.
         */
        agent?: string;
        kind?: 'starting' | 'grant' | 'top_up' | 'refund' | 'model' | 'machine';
        /**
         * Earliest time, inclusive.
         */
        since?: string;
        /**
         * Latest time, exclusive.
         */
        until?: string;
        /**
         * `csv` as with `Accept: text/csv`: all rows, no pages.
         */
        format?: 'json' | 'csv';
    };
    url: '/billing/entries';
};

export type ListEntriesErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListEntriesError = ListEntriesErrors[keyof ListEntriesErrors];

export type ListEntriesResponses = {
    /**
     * Default Response
     */
    200: CreditEntryList;
};

export type ListEntriesResponse = ListEntriesResponses[keyof ListEntriesResponses];

export type GetUsageData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * How usage is grouped.
         */
        by?: 'day' | 'agent' | 'model' | 'key';
        /**
         * Earliest time, inclusive. Default: the start of the current month, UTC.
         */
        since?: string;
        /**
         * Latest time, exclusive. Default: now. Up to a year after `since`.
         */
        until?: string;
        /**
         * `csv` as with `Accept: text/csv`: all rows, no pages.
         */
        format?: 'json' | 'csv';
    };
    url: '/billing/usage';
};

export type GetUsageErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type GetUsageError = GetUsageErrors[keyof GetUsageErrors];

export type GetUsageResponses = {
    /**
     * Default Response
     */
    200: UsageReport;
};

export type GetUsageResponse = GetUsageResponses[keyof GetUsageResponses];

export type CreateTopUpData = {
    body: CreateTopUp;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path?: never;
    query?: never;
    url: '/billing/top-ups';
};

export type CreateTopUpErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type CreateTopUpError = CreateTopUpErrors[keyof CreateTopUpErrors];

export type CreateTopUpResponses = {
    /**
     * Default Response
     */
    201: TopUp;
};

export type CreateTopUpResponse = CreateTopUpResponses[keyof CreateTopUpResponses];

export type ListUsersData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The page size, 1 to 100.
         */
        limit?: number;
        /**
         * The previous page's `nextCursor`.
         */
        cursor?: string;
    };
    url: '/admin/users';
};

export type ListUsersErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListUsersError = ListUsersErrors[keyof ListUsersErrors];

export type ListUsersResponses = {
    /**
     * Default Response
     */
    200: UserList;
};

export type ListUsersResponse = ListUsersResponses[keyof ListUsersResponses];

export type CreateUserData = {
    body: CreateUser;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path?: never;
    query?: never;
    url: '/admin/users';
};

export type CreateUserErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type CreateUserError = CreateUserErrors[keyof CreateUserErrors];

export type CreateUserResponses = {
    /**
     * Default Response
     */
    201: UserWithLink;
};

export type CreateUserResponse = CreateUserResponses[keyof CreateUserResponses];

export type ResetUserData = {
    body?: never;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The user's name.
         */
        name: string;
    };
    query?: never;
    url: '/admin/users/{name}/reset';
};

export type ResetUserErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ResetUserError = ResetUserErrors[keyof ResetUserErrors];

export type ResetUserResponses = {
    /**
     * Default Response
     */
    200: UserWithLink;
};

export type ResetUserResponse = ResetUserResponses[keyof ResetUserResponses];

export type DisableUserData = {
    body?: never;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The user's name.
         */
        name: string;
    };
    query?: never;
    url: '/admin/users/{name}/disable';
};

export type DisableUserErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type DisableUserError = DisableUserErrors[keyof DisableUserErrors];

export type DisableUserResponses = {
    /**
     * Default Response
     */
    200: User;
};

export type DisableUserResponse = DisableUserResponses[keyof DisableUserResponses];

export type EnableUserData = {
    body?: never;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The user's name.
         */
        name: string;
    };
    query?: never;
    url: '/admin/users/{name}/enable';
};

export type EnableUserErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type EnableUserError = EnableUserErrors[keyof EnableUserErrors];

export type EnableUserResponses = {
    /**
     * Default Response
     */
    200: User;
};

export type EnableUserResponse = EnableUserResponses[keyof EnableUserResponses];

export type ReplaceSigningKeysData = {
    body: ReplaceSigningKeys;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path?: never;
    query?: never;
    url: '/admin/signing-keys';
};

export type ReplaceSigningKeysErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ReplaceSigningKeysError = ReplaceSigningKeysErrors[keyof ReplaceSigningKeysErrors];

export type ReplaceSigningKeysResponses = {
    /**
     * Default Response
     */
    201: SigningKeysReplaced;
};

export type ReplaceSigningKeysResponse = ReplaceSigningKeysResponses[keyof ReplaceSigningKeysResponses];

export type GetCapacityData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/admin/capacity';
};

export type GetCapacityErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type GetCapacityError = GetCapacityErrors[keyof GetCapacityErrors];

export type GetCapacityResponses = {
    /**
     * Default Response
     */
    200: Capacity;
};

export type GetCapacityResponse = GetCapacityResponses[keyof GetCapacityResponses];

export type GetReachabilityData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/admin/reachability';
};

export type GetReachabilityErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type GetReachabilityError = GetReachabilityErrors[keyof GetReachabilityErrors];

export type GetReachabilityResponses = {
    /**
     * Default Response
     */
    200: Reachability;
};

export type GetReachabilityResponse = GetReachabilityResponses[keyof GetReachabilityResponses];

export type CreateBackupData = {
    body?: never;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path?: never;
    query?: never;
    url: '/admin/backups';
};

export type CreateBackupErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type CreateBackupError = CreateBackupErrors[keyof CreateBackupErrors];

export type CreateBackupResponses = {
    /**
     * Default Response
     */
    201: Backup;
};

export type CreateBackupResponse = CreateBackupResponses[keyof CreateBackupResponses];

export type RemoveBackupData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/admin/backups/{id}';
};

export type RemoveBackupErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type RemoveBackupError = RemoveBackupErrors[keyof RemoveBackupErrors];

export type RemoveBackupResponses = {
    /**
     * Default Response
     */
    204: void;
};

export type RemoveBackupResponse = RemoveBackupResponses[keyof RemoveBackupResponses];

export type ReadBackupData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/admin/backups/{id}';
};

export type ReadBackupErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ReadBackupError = ReadBackupErrors[keyof ReadBackupErrors];

export type ReadBackupResponses = {
    /**
     * The bytes, of their own content type.
     */
    200: Blob | File;
};

export type ReadBackupResponse = ReadBackupResponses[keyof ReadBackupResponses];

export type ListOrphansData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/admin/orphans';
};

export type ListOrphansErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListOrphansError = ListOrphansErrors[keyof ListOrphansErrors];

export type ListOrphansResponses = {
    /**
     * Default Response
     */
    200: OrphanList;
};

export type ListOrphansResponse = ListOrphansResponses[keyof ListOrphansResponses];

export type GiveBackOrphanData = {
    body: GiveBackOrphan;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/admin/orphans/{id}/give-back';
};

export type GiveBackOrphanErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type GiveBackOrphanError = GiveBackOrphanErrors[keyof GiveBackOrphanErrors];

export type GiveBackOrphanResponses = {
    /**
     * Default Response
     */
    201: Agent;
};

export type GiveBackOrphanResponse = GiveBackOrphanResponses[keyof GiveBackOrphanResponses];

export type RemoveOrphanData = {
    body?: never;
    path: {
        id: string;
    };
    query?: never;
    url: '/admin/orphans/{id}';
};

export type RemoveOrphanErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type RemoveOrphanError = RemoveOrphanErrors[keyof RemoveOrphanErrors];

export type RemoveOrphanResponses = {
    /**
     * Default Response
     */
    204: void;
};

export type RemoveOrphanResponse = RemoveOrphanResponses[keyof RemoveOrphanResponses];

export type ListCreditsData = {
    body?: never;
    path?: never;
    query?: {
        /**
         * The page size, 1 to 100.
         */
        limit?: number;
        /**
         * The previous page's `nextCursor`.
         */
        cursor?: string;
    };
    url: '/admin/credits';
};

export type ListCreditsErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type ListCreditsError = ListCreditsErrors[keyof ListCreditsErrors];

export type ListCreditsResponses = {
    /**
     * Default Response
     */
    200: AccountCreditsList;
};

export type ListCreditsResponse = ListCreditsResponses[keyof ListCreditsResponses];

export type GrantCreditsData = {
    body: GrantCredits;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path?: never;
    query?: never;
    url: '/admin/credits/grants';
};

export type GrantCreditsErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type GrantCreditsError = GrantCreditsErrors[keyof GrantCreditsErrors];

export type GrantCreditsResponses = {
    /**
     * Default Response
     */
    201: CreditGrant;
};

export type GrantCreditsResponse = GrantCreditsResponses[keyof GrantCreditsResponses];

export type McpData = {
    body: unknown;
    path?: never;
    query?: never;
    url: '/mcp';
};

export type McpErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error | {
        jsonrpc: '2.0';
        id?: string | number | null;
        error: {
            code: number;
            message: string;
            data?: unknown;
        };
    };
    /**
     * It failed.
     */
    default: Error | {
        jsonrpc: '2.0';
        id?: string | number | null;
        error: {
            code: number;
            message: string;
            data?: unknown;
        };
    };
};

export type McpError = McpErrors[keyof McpErrors];

export type McpResponses = {
    /**
     * Default Response
     */
    200: unknown;
    /**
     * Default Response
     */
    202: unknown;
};

export type A2aData = {
    body: unknown;
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: {
        /**
         * Replaces the header: the version, `1.0`.
         */
        'A2A-Version'?: string;
    };
    url: '/agents/{name}/a2a';
};

export type A2aErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error | {
        jsonrpc: '2.0';
        id?: string | number | null;
        error: {
            code: number;
            message: string;
            data?: unknown;
        };
    };
    /**
     * It failed.
     */
    default: Error | {
        jsonrpc: '2.0';
        id?: string | number | null;
        error: {
            code: number;
            message: string;
            data?: unknown;
        };
    };
};

export type A2aError = A2aErrors[keyof A2aErrors];

export type A2aResponses = {
    /**
     * Default Response
     */
    200: unknown;
};

export type AguiData = {
    body: AguiRun;
    headers?: {
        /**
         * Makes retries safe: repeating a request with the same key and body within 24 hours returns the first response, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: never;
    url: '/agents/{name}/agui';
};

export type AguiErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type AguiError = AguiErrors[keyof AguiErrors];

export type AguiResponses = {
    /**
     * Default Response
     */
    200: {
        type: string;
        [key: string]: unknown;
    };
};

export type AguiResponse = AguiResponses[keyof AguiResponses];

export type GetA2aCardData = {
    body?: never;
    path: {
        /**
         * The agent's name.
         */
        name: string;
    };
    query?: never;
    url: '/agents/{name}/a2a/.well-known/agent-card.json';
};

export type GetA2aCardErrors = {
    /**
     * The request was refused.
     */
    '4XX': Error;
    /**
     * It failed.
     */
    default: Error;
};

export type GetA2aCardError = GetA2aCardErrors[keyof GetA2aCardErrors];

export type GetA2aCardResponses = {
    /**
     * Default Response
     */
    200: unknown;
};

export type PostTurnCompletedWebhookPayload = TurnCompletedEvent;

export type PostTurnCompletedWebhookRequest = {
    body: PostTurnCompletedWebhookPayload;
    key: 'turn.completed';
    path?: never;
    query?: never;
};

export type PostTurnFailedWebhookPayload = TurnFailedEvent;

export type PostTurnFailedWebhookRequest = {
    body: PostTurnFailedWebhookPayload;
    key: 'turn.failed';
    path?: never;
    query?: never;
};

export type PostTurnCancelledWebhookPayload = TurnCancelledEvent;

export type PostTurnCancelledWebhookRequest = {
    body: PostTurnCancelledWebhookPayload;
    key: 'turn.cancelled';
    path?: never;
    query?: never;
};

export type PostTurnWaitingWebhookPayload = TurnWaitingEvent;

export type PostTurnWaitingWebhookRequest = {
    body: PostTurnWaitingWebhookPayload;
    key: 'turn.waiting';
    path?: never;
    query?: never;
};

export type PostTurnHeldWebhookPayload = TurnHeldEvent;

export type PostTurnHeldWebhookRequest = {
    body: PostTurnHeldWebhookPayload;
    key: 'turn.held';
    path?: never;
    query?: never;
};

export type PostAgentReadyWebhookPayload = AgentReadyEvent;

export type PostAgentReadyWebhookRequest = {
    body: PostAgentReadyWebhookPayload;
    key: 'agent.ready';
    path?: never;
    query?: never;
};

export type PostAgentFailedWebhookPayload = AgentFailedEvent;

export type PostAgentFailedWebhookRequest = {
    body: PostAgentFailedWebhookPayload;
    key: 'agent.failed';
    path?: never;
    query?: never;
};

export type PostAgentSuspendedWebhookPayload = AgentSuspendedEvent;

export type PostAgentSuspendedWebhookRequest = {
    body: PostAgentSuspendedWebhookPayload;
    key: 'agent.suspended';
    path?: never;
    query?: never;
};

export type PostAgentDeletedWebhookPayload = AgentDeletedEvent;

export type PostAgentDeletedWebhookRequest = {
    body: PostAgentDeletedWebhookPayload;
    key: 'agent.deleted';
    path?: never;
    query?: never;
};

export type PostCommandExitedWebhookPayload = CommandExitedEvent;

export type PostCommandExitedWebhookRequest = {
    body: PostCommandExitedWebhookPayload;
    key: 'command.exited';
    path?: never;
    query?: never;
};

export type PostAutomationPausedWebhookPayload = AutomationPausedEvent;

export type PostAutomationPausedWebhookRequest = {
    body: PostAutomationPausedWebhookPayload;
    key: 'automation.paused';
    path?: never;
    query?: never;
};

export type PostRunCompletedWebhookPayload = RunCompletedEvent;

export type PostRunCompletedWebhookRequest = {
    body: PostRunCompletedWebhookPayload;
    key: 'run.completed';
    path?: never;
    query?: never;
};

export type PostRunFailedWebhookPayload = RunFailedEvent;

export type PostRunFailedWebhookRequest = {
    body: PostRunFailedWebhookPayload;
    key: 'run.failed';
    path?: never;
    query?: never;
};

export type PostCreditsLowWebhookPayload = CreditsLowEvent;

export type PostCreditsLowWebhookRequest = {
    body: PostCreditsLowWebhookPayload;
    key: 'credits.low';
    path?: never;
    query?: never;
};

export type PostCreditsExhaustedWebhookPayload = CreditsExhaustedEvent;

export type PostCreditsExhaustedWebhookRequest = {
    body: PostCreditsExhaustedWebhookPayload;
    key: 'credits.exhausted';
    path?: never;
    query?: never;
};

export type PostNetworkRefusedWebhookPayload = NetworkRefusedEvent;

export type PostNetworkRefusedWebhookRequest = {
    body: PostNetworkRefusedWebhookPayload;
    key: 'network.refused';
    path?: never;
    query?: never;
};

export type PostSnapshotCreatedWebhookPayload = SnapshotCreatedEvent;

export type PostSnapshotCreatedWebhookRequest = {
    body: PostSnapshotCreatedWebhookPayload;
    key: 'snapshot.created';
    path?: never;
    query?: never;
};

export type PostSecretCreatedWebhookPayload = SecretCreatedEvent;

export type PostSecretCreatedWebhookRequest = {
    body: PostSecretCreatedWebhookPayload;
    key: 'secret.created';
    path?: never;
    query?: never;
};

export type PostSecretChangedWebhookPayload = SecretChangedEvent;

export type PostSecretChangedWebhookRequest = {
    body: PostSecretChangedWebhookPayload;
    key: 'secret.changed';
    path?: never;
    query?: never;
};

export type PostSecretDeletedWebhookPayload = SecretDeletedEvent;

export type PostSecretDeletedWebhookRequest = {
    body: PostSecretDeletedWebhookPayload;
    key: 'secret.deleted';
    path?: never;
    query?: never;
};

export type PostSecretLoginFailedWebhookPayload = SecretLoginFailedEvent;

export type PostSecretLoginFailedWebhookRequest = {
    body: PostSecretLoginFailedWebhookPayload;
    key: 'secret.login_failed';
    path?: never;
    query?: never;
};

export type PostSkillCreatedWebhookPayload = SkillCreatedEvent;

export type PostSkillCreatedWebhookRequest = {
    body: PostSkillCreatedWebhookPayload;
    key: 'skill.created';
    path?: never;
    query?: never;
};

export type PostSkillChangedWebhookPayload = SkillChangedEvent;

export type PostSkillChangedWebhookRequest = {
    body: PostSkillChangedWebhookPayload;
    key: 'skill.changed';
    path?: never;
    query?: never;
};

export type PostSkillDeletedWebhookPayload = SkillDeletedEvent;

export type PostSkillDeletedWebhookRequest = {
    body: PostSkillDeletedWebhookPayload;
    key: 'skill.deleted';
    path?: never;
    query?: never;
};

export type PostProviderLoginFailedWebhookPayload = ProviderLoginFailedEvent;

export type PostProviderLoginFailedWebhookRequest = {
    body: PostProviderLoginFailedWebhookPayload;
    key: 'provider.login_failed';
    path?: never;
    query?: never;
};

export type PostWebhookTestWebhookPayload = WebhookTestEvent;

export type PostWebhookTestWebhookRequest = {
    body: PostWebhookTestWebhookPayload;
    key: 'webhook.test';
    path?: never;
    query?: never;
};
