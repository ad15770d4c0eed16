// Generated from docs/openapi.json by scripts/client-types.ts. Do not edit.
export type ClientOptions = {
    baseUrl: `${string}://${string}` | (string & {});
};

export type Account = {
    id: string;
    name: string;
    /**
     * It looks after the installation.
     */
    operator: boolean;
    /**
     * A key, or a token of the identity provider.
     */
    credential: 'full' | 'token';
};

export type AccountConnection = {
    id: string;
    startedAt: string;
    finishedAt: string;
    verdict: 'allowed' | 'refused';
    /**
     * Why it was refused.
     */
    reason: 'destination_invalid' | 'inside' | 'port_refused' | 'denied_by_operator' | 'not_allowed_by_operator' | 'denied' | 'not_allowed' | 'too_many' | null;
    /**
     * What came of it, where it was allowed.
     */
    outcome: 'closed' | 'reset' | 'unresolved' | 'unreachable' | 'timeout' | 'idle' | 'cut' | null;
    /**
     * As it was asked for; `*` for refusals of many hosts together.
     */
    host: string;
    port: number | null;
    /**
     * The IP address that it was connected with.
     */
    address: string | null;
    /**
     * From the agent.
     */
    bytesSent: number;
    /**
     * By the agent.
     */
    bytesReceived: number;
    /**
     * How many connections this is; more than one where they were refused.
     */
    count: number;
    /**
     * The agent's name.
     */
    agent: string;
};

/**
 * As NetworkLog, of all the account's agents.
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
 * All accounts, the oldest first.
 */
export type AccountCreditsList = {
    data: Array<AccountCredits>;
    nextCursor: string | null;
};

export type AccountEvent = {
    type: 'events.opened';
    /**
     * The place in the stream, to continue from later. It rises, with gaps.
     */
    id: number;
    at: string;
} | {
    type: 'events.dropped';
    /**
     * The place in the stream, to continue from later. It rises, with gaps.
     */
    id: number;
    at: string;
} | {
    type: 'agent.created';
    /**
     * The place in the stream, to continue from later. It rises, with gaps.
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
     * What the agent's machine is doing.
     */
    status: 'provisioning' | 'ready' | 'suspended' | 'failed' | 'deleting';
    /**
     * The state that the agent is brought to: `running` while it is `suspended` is a wake.
     */
    desired: 'running' | 'suspended' | 'deleted';
    conversation: number;
    error: Fault | null;
} | {
    type: 'agent.changed';
    /**
     * The place in the stream, to continue from later. It rises, with gaps.
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
     * What the agent's machine is doing.
     */
    status: 'provisioning' | 'ready' | 'suspended' | 'failed' | 'deleting';
    /**
     * The state that the agent is brought to: `running` while it is `suspended` is a wake.
     */
    desired: 'running' | 'suspended' | 'deleted';
    conversation: number;
    error: Fault | null;
} | {
    type: 'agent.deleted';
    /**
     * The place in the stream, to continue from later. It rises, with gaps.
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
     * The place in the stream, to continue from later. It rises, with gaps.
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
     * The place in the stream, to continue from later. It rises, with gaps.
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
    type: 'credits.changed';
    /**
     * The place in the stream, to continue from later. It rises, with gaps.
     */
    id: number;
    at: string;
    balance: string;
} | {
    type: 'host.refused';
    /**
     * The place in the stream, to continue from later. It rises, with gaps.
     */
    id: number;
    at: string;
    /**
     * The agent's name.
     */
    agent: string;
    /**
     * `*` for refusals of many hosts together.
     */
    host: string;
    port: number | null;
    reason: 'destination_invalid' | 'inside' | 'port_refused' | 'denied_by_operator' | 'not_allowed_by_operator' | 'denied' | 'not_allowed' | 'too_many';
    /**
     * How many connections this is.
     */
    count: number;
} | {
    type: 'key.created';
    /**
     * The place in the stream, to continue from later. It rises, with gaps.
     */
    id: number;
    at: string;
    keyId: string;
    name: string | null;
    kind: 'full' | 'agent';
} | {
    type: 'key.revoked';
    /**
     * The place in the stream, to continue from later. It rises, with gaps.
     */
    id: number;
    at: string;
    keyId: string;
    name: string | null;
    kind: 'full' | 'agent';
};

/**
 * The turns of all the account's agents, the newest first.
 */
export type AccountTurnList = {
    data: Array<TurnSummary>;
    nextCursor: string | null;
};

export type Agent = {
    name: string;
    /**
     * The program that the agent is built on; `GET /runtimes` lists them.
     */
    runtime: string;
    /**
     * Null: the runtime's own default.
     */
    model: string | null;
    instructions: string | null;
    mcpServers: McpServers;
    /**
     * The names of the account's agents that it may ask as tools of its own.
     */
    agents: Array<string>;
    /**
     * How many snapshots from before its last turns are kept, 0 to 20. 0: none is made.
     */
    autoSnapshot: number;
    /**
     * What the agent's machine is doing.
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
     * The number of its conversation: 1, 2, …; a reset begins the next.
     */
    conversation: number;
    /**
     * Set when the status is `failed`.
     */
    error: Fault | null;
    /**
     * Where a fork comes from. Null: the agent is no fork.
     */
    forkedFrom: {
        /**
         * The name of the agent then.
         */
        agent: string;
        /**
         * The name of the snapshot. Null: the agent as it was then.
         */
        snapshot: string | null;
    } | null;
    /**
     * Where an import comes from. Null: it is no import.
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
     * Its position among the agents that wait for a slot, 1 is next. Null: it does not wait.
     */
    queuePosition: number | null;
    resources: {
        cpus: number;
        memoryMiB: number;
        diskGiB: number;
    };
    /**
     * Null until its machine is made.
     */
    image: AgentImage | null;
};

export type AgentImage = {
    /**
     * The image whose runtimes the agent has.
     */
    id: string;
    /**
     * Whether the service has a newer one, which an upgrade or a restart gives to the agent.
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

export type AguiRun = {
    threadId: string;
    runId: string;
    /**
     * The last one is the user's, and text.
     */
    messages: Array<{
        role: string;
        content?: unknown;
        [key: string]: unknown;
    }>;
    /**
     * None: an agent uses its own.
     */
    tools?: Array<unknown>;
    [key: string]: unknown;
};

export type AuditEntry = {
    id: string;
    at: string;
    /**
     * What was shown; null where somebody signed in.
     */
    credential: 'full' | 'agent' | 'token' | null;
    keyId: string | null;
    /**
     * The client's IP address, as the service saw it.
     */
    address: string;
    /**
     * Method and path, or what was done.
     */
    operation: string;
    /**
     * The agent's name.
     */
    agent: string | null;
    /**
     * Tells agents of one name apart. Null: there was none.
     */
    agentId: string | null;
    /**
     * The answer's HTTP status.
     */
    status: number;
    /**
     * Why it was refused.
     */
    code: string | null;
    /**
     * As in the answer's `x-request-id`.
     */
    requestId: string;
};

/**
 * The account's audit log, the newest first.
 */
export type AuditList = {
    data: Array<AuditEntry>;
    nextCursor: string | null;
};

export type Backup = {
    id: string;
    createdAt: string;
    /**
     * How many agents' machines are in it.
     */
    agents: number;
    /**
     * What is read, at most.
     */
    bytes: number;
    /**
     * Agents whose rows are in it without their machines.
     */
    leftOut: Array<LeftOutOfBackup>;
};

/**
 * The account's credits. Models' prices are in `GET /models`.
 */
export type Billing = {
    /**
     * Credits; a credit is a US cent.
     */
    balance: string;
    /**
     * The part of the balance that is kept back for model calls under way.
     */
    held: string;
    /**
     * In this calendar month of UTC.
     */
    spentThisMonth: string;
    /**
     * What a month may cost; null: no limit but the balance.
     */
    monthlyLimit: string | null;
    plan: 'prepaid';
    /**
     * Whether credits can be bought: see `POST /billing/top-ups`.
     */
    canTopUp: boolean;
    prices: {
        machine: {
            /**
             * For an hour in which a machine with 1 GiB of memory is `ready`.
             */
            perGiBHour: string;
        };
    };
    /**
     * Of this month, the newest day first; 500 rows at most.
     */
    usage: Array<UsageByDay>;
};

/**
 * Of the host of the server that was asked.
 */
export type Capacity = {
    /**
     * Machines that are awake, and how many may be (`BERTH_MAX_AGENTS`).
     */
    machines: {
        used: number;
        limit: number;
    };
    /**
     * The memory of those, and what all may have (`BERTH_MEMORY_MIB`).
     */
    memoryMiB: {
        used: number;
        limit: number;
    };
    /**
     * Machines, among those, that wait for new agents, and how many may (`BERTH_SPARES`).
     */
    spares: {
        used: number;
        limit: number;
    };
    /**
     * Agents that wait for a slot, and how many may (`BERTH_MAX_WAITING`).
     */
    queue: {
        used: number;
        limit: number;
    };
};

/**
 * What is left out stays. A change holds from the next turn on; one of the runtime is refused while a turn runs.
 */
export type ChangeAgent = {
    /**
     * Another runtime: the machine boots with it, and it gets the messages and replies of the conversation. Files stay.
     */
    runtime?: string;
    /**
     * An id of `GET /models`. Null: the runtime's own default.
     */
    model?: string | null;
    /**
     * Instructions for every turn, 64 KiB at most. Null or empty: nothing.
     */
    instructions?: string | null;
    /**
     * All of them: those that are not named are removed.
     */
    mcpServers?: McpServers;
    /**
     * Other agents of the account that it may ask, by name. All of them, 16 at most.
     */
    agents?: Array<string>;
    /**
     * How many snapshots from before its last turns are kept, 0 to 20. 0: none is made.
     */
    autoSnapshot?: number;
};

export type ChangeBilling = {
    /**
     * What a calendar month of UTC may cost; null: no limit.
     */
    monthlyLimit: string | null;
};

/**
 * Both lists are replaced. They hold from the next connection on.
 */
export type ChangeNetwork = {
    /**
     * What the agent's programs may connect with; `["*"]` for anything.
     */
    allow: Array<string>;
    /**
     * What they may not, whatever is allowed.
     */
    deny: Array<string>;
};

/**
 * An answer of OpenAI's Chat Completions API.
 */
export type ChatCompletion = {
    object: 'chat.completion';
    [key: string]: unknown;
};

export type ChatRequest = {
    message: string;
    /**
     * More kinds of events than the reply's text and its end.
     */
    include?: Array<'status' | 'reasoning' | 'tools' | 'usage'>;
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
     * Its machine, or what watched it there, ended before it did.
     */
    lost: boolean;
    /**
     * How much it has written, kept or not.
     */
    outputBytes: number;
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
     * Its machine, or what watched it there, ended before it did.
     */
    lost: boolean;
};

/**
 * The commands that run and the last 100 that ended, the newest first.
 */
export type CommandList = {
    data: Array<Command>;
    nextCursor: string | null;
};

/**
 * Bytes that are no UTF-8 are replaced; `…/events` has them as they are.
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
     * Its machine, or what watched it there, ended before it did.
     */
    lost: boolean;
    stdout: string;
    stderr: string;
    /**
     * Whether the command wrote more than the answer holds: 1 MiB of each stream. `…/events` has 16 MiB.
     */
    truncated: boolean;
};

export type CreateAgent = {
    /**
     * The agent's name in its account, 3 to 30 characters: small letters a-z, digits and hyphens, starting with a letter and not ending with a hyphen.
     */
    name: string;
    /**
     * claude-code where not given; a fork has that of its source.
     */
    runtime?: string;
    /**
     * An id of `GET /models`. Null: the runtime's own default.
     */
    model?: string | null;
    /**
     * Instructions for every turn, 64 KiB at most. Null or empty: nothing.
     */
    instructions?: string | null;
    mcpServers?: McpServers;
    /**
     * Other agents of the account, by name, that it may ask as tools of its own; 16 at most.
     */
    agents?: Array<string>;
    /**
     * How many snapshots from before its last turns are kept, 0 to 20. 0: none is made.
     */
    autoSnapshot?: number;
    /**
     * The machine's size. Only the usual one is there in a second: another boots from its disk.
     */
    resources?: {
        /**
         * Virtual processors; 2 where not given.
         */
        cpus?: number;
        /**
         * Memory, MiB; what the runtime needs where not given.
         */
        memoryMiB?: number;
        /**
         * Size of the disk, GiB; it takes what is used. 10 where not given.
         */
        diskGiB?: number;
    };
    /**
     * Begin with what another agent is or was: its files, its running programs and its conversation. Settings that are not given are its too.
     */
    from?: ForkSource;
    /**
     * With `from`: make so many, named NAME-1, NAME-2, …; 20 at most. The answer is the first.
     */
    count?: number;
};

/**
 * A request of OpenAI's Chat Completions API.
 */
export type CreateChatCompletion = {
    /**
     * The agent's name.
     */
    model: string;
    /**
     * The last user message is the agent's message; it has those before it in its own conversation.
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
     * Only 1.
     */
    temperature?: unknown;
    /**
     * Only 1.
     */
    top_p?: unknown;
    /**
     * Only 0.
     */
    presence_penalty?: unknown;
    /**
     * Only 0.
     */
    frequency_penalty?: unknown;
    /**
     * Only 0.
     */
    top_logprobs?: unknown;
    /**
     * Only "auto" or "default".
     */
    service_tier?: unknown;
    /**
     * Accepted, without effect.
     */
    parallel_tool_calls?: unknown;
    /**
     * Accepted, without effect.
     */
    prompt_cache_key?: unknown;
    /**
     * Accepted, without effect.
     */
    prompt_cache_retention?: unknown;
    /**
     * Accepted, without effect.
     */
    safety_identifier?: unknown;
    /**
     * Accepted, without effect.
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
     * Not supported.
     */
    max_tokens?: unknown;
    /**
     * Not supported.
     */
    max_completion_tokens?: unknown;
    /**
     * Only false.
     */
    logprobs?: unknown;
    /**
     * Only empty.
     */
    logit_bias?: unknown;
    /**
     * Only empty.
     */
    stop?: unknown;
    /**
     * Not supported.
     */
    seed?: unknown;
    response_format?: {
        type: 'text';
        [key: string]: unknown;
    } | null;
    /**
     * Not supported.
     */
    reasoning_effort?: unknown;
    /**
     * Only false or true.
     */
    store?: unknown;
    /**
     * Accepted, without effect.
     */
    verbosity?: unknown;
};

export type CreateKey = {
    /**
     * For its owner to know it by, 100 characters at most.
     */
    name?: string | null;
    kind?: 'full' | 'agent';
    /**
     * Names of the agents that a key of the kind `agent` is for.
     */
    agents?: Array<string>;
    /**
     * The credits that turns begun with this key may cost, all together; null: no limit.
     */
    creditLimit?: string | null;
    /**
     * From when on it is refused; null: never. Not in the past.
     */
    expiresAt?: string | null;
};

/**
 * A request of OpenAI's Responses API.
 */
export type CreateResponse = {
    /**
     * The agent's name.
     */
    model: string;
    /**
     * A text, or items. The texts of the last user message are the agent's message, and its images and files go into the agent's machine; outputs of functions after it go into the turn that waits for them.
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
     * False: the response cannot be read or continued by its id.
     */
    store?: boolean | null;
    previous_response_id?: string | null;
    /**
     * For this turn, after the agent's own.
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
     * Only 1.
     */
    temperature?: unknown;
    /**
     * Only 1.
     */
    top_p?: unknown;
    /**
     * Only 0.
     */
    presence_penalty?: unknown;
    /**
     * Only 0.
     */
    frequency_penalty?: unknown;
    /**
     * Only 0.
     */
    top_logprobs?: unknown;
    /**
     * Only "auto" or "default".
     */
    service_tier?: unknown;
    /**
     * Accepted, without effect.
     */
    parallel_tool_calls?: unknown;
    /**
     * Accepted, without effect.
     */
    prompt_cache_key?: unknown;
    /**
     * Accepted, without effect.
     */
    prompt_cache_retention?: unknown;
    /**
     * Accepted, without effect.
     */
    safety_identifier?: unknown;
    /**
     * Accepted, without effect.
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
        [key: string]: unknown;
    }> | null;
    /**
     * Not supported.
     */
    max_output_tokens?: unknown;
    /**
     * Not supported.
     */
    max_tool_calls?: unknown;
    /**
     * Only "disabled" or "auto".
     */
    truncation?: unknown;
    reasoning?: {
        /**
         * Not supported.
         */
        effort?: unknown;
        /**
         * Accepted, without effect.
         */
        summary?: unknown;
        [key: string]: unknown;
    } | null;
    text?: {
        format?: {
            type: 'text';
            [key: string]: unknown;
        } | null;
        /**
         * Accepted, without effect.
         */
        verbosity?: unknown;
        [key: string]: unknown;
    } | null;
    /**
     * Accepted, without effect.
     */
    include?: Array<string> | null;
    /**
     * Accepted, without effect.
     */
    prompt_cache_options?: unknown;
    /**
     * Accepted, without effect.
     */
    client_metadata?: unknown;
};

export type CreateShare = {
    /**
     * Always true: whoever has the link may use it.
     */
    public: true;
    /**
     * When it ends. Without it, when it is removed.
     */
    expiresAt?: string;
};

export type CreateSnapshot = {
    /**
     * What it is called, 1 to 100 characters without line breaks, and not an id. Without one, the time.
     */
    name?: string;
    /**
     * Keep the memory too, with the programs that run. Without it, what is made of it boots from the disk.
     */
    memory?: boolean;
};

export type CreateTopUp = {
    /**
     * How many credits to buy; one costs a US cent.
     */
    credits: string;
    /**
     * Where the payment's page leads back to; otherwise the service's own address.
     */
    returnUrl?: string;
};

export type CreateUser = {
    /**
     * A user's name is 1 to 64 letters, digits, signs and single blanks, and not dots alone.
     */
    name: string;
};

export type CreatedKey = {
    id: string;
    name: string | null;
    kind: 'full' | 'agent';
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
     * The key itself: shown this once, and kept nowhere.
     */
    key: string;
};

export type CreditEntry = {
    /**
     * 1, 2, … in each account, without a gap.
     */
    number: number;
    at: string;
    kind: 'starting' | 'grant' | 'top_up' | 'refund' | 'model' | 'machine';
    /**
     * What the balance has changed by; below 0: was spent.
     */
    credits: string;
    /**
     * After this entry.
     */
    balance: string;
    /**
     * The agent's name then.
     */
    agent: string | null;
    agentId: string | null;
    turnId: string | null;
    /**
     * With which the turn was begun.
     */
    keyId: string | null;
    model: string | null;
    tokens: {
        /**
         * Those of the cache included.
         */
        inputTokens: number;
        /**
         * Those of reasoning included.
         */
        outputTokens: number;
        cacheReadTokens: number;
        cacheWriteTokens: number;
        reasoningTokens: number;
    } | null;
    machineSeconds: number | null;
    memoryMiB: number | null;
    note: string | null;
};

/**
 * The account's ledger, the newest first.
 */
export type CreditEntryList = {
    data: Array<CreditEntry>;
    nextCursor: string | null;
};

/**
 * The account after the grant, and the grant's entry.
 */
export type CreditGrant = {
    account: AccountCredits;
    entry: CreditEntry;
};

export type Error = {
    statusCode: number;
    message: string;
    /**
     * The status as text.
     */
    error: string;
    /**
     * A stable word.
     */
    code: 'request_invalid' | 'agent_name_invalid' | 'model_not_available' | 'runtime_not_available' | 'command_not_runnable' | 'credentials_missing' | 'credentials_invalid' | 'file_name_too_long' | 'archive_invalid' | 'archive_unsupported' | 'insufficient_credits' | 'forbidden' | 'permission_denied' | 'asking_refused' | 'path_not_found' | 'agent_not_found' | 'key_not_found' | 'program_not_found' | 'turn_not_found' | 'response_not_found' | 'user_not_found' | 'secret_not_found' | 'account_not_found' | 'command_not_found' | 'share_not_found' | 'snapshot_not_found' | 'backup_not_found' | 'orphan_not_found' | 'file_not_found' | 'method_not_allowed' | 'agent_exists' | 'agent_deleting' | 'agent_deleted' | 'agent_failed' | 'agent_restarted' | 'turn_in_progress' | 'turn_finished' | 'turn_cancelled' | 'response_not_last' | 'function_not_waiting' | 'command_exited' | 'command_input_full' | 'request_timeout' | 'idempotency_key_reused' | 'idempotency_key_in_use' | 'idempotency_answer_unreadable' | 'snapshot_exists' | 'backup_in_progress' | 'too_many_snapshots' | 'too_many_agents' | 'user_exists' | 'operator_not_disabled' | 'users_managed_elsewhere' | 'file_exists' | 'file_not_regular' | 'file_changed' | 'not_a_folder' | 'is_a_folder' | 'folder_not_empty' | 'link_loop' | 'precondition_failed' | 'payments_not_configured' | 'body_too_large' | 'content_type_unsupported' | 'range_not_satisfiable' | 'rate_limited' | 'too_many_streams' | 'too_many_commands' | 'too_many_requests' | 'upgrade_required' | 'headers_too_large' | 'internal' | 'machine_failed' | 'machine_lost' | 'runtime_failed' | 'turn_too_large' | 'runtime_stalled' | 'template_failed' | 'port_not_listening' | 'model_failed' | 'model_request_refused' | 'model_credentials_refused' | 'model_unpaid' | 'model_rate_limited' | 'model_overloaded' | 'model_unreachable' | 'model_interrupted' | 'model_stalled' | 'image_missing' | 'image_invalid' | 'qemu_missing' | 'accelerator_unavailable' | 'privilege_missing' | 'disk_full' | 'machine_disk_full' | 'not_supported_here' | 'no_capacity' | 'agent_elsewhere' | 'database_unavailable' | 'identity_provider_unavailable' | 'payments_unavailable' | 'shutting_down';
    details?: unknown;
};

export type Fault = {
    /**
     * A stable word.
     */
    code: 'request_invalid' | 'agent_name_invalid' | 'model_not_available' | 'runtime_not_available' | 'command_not_runnable' | 'credentials_missing' | 'credentials_invalid' | 'file_name_too_long' | 'archive_invalid' | 'archive_unsupported' | 'insufficient_credits' | 'forbidden' | 'permission_denied' | 'asking_refused' | 'path_not_found' | 'agent_not_found' | 'key_not_found' | 'program_not_found' | 'turn_not_found' | 'response_not_found' | 'user_not_found' | 'secret_not_found' | 'account_not_found' | 'command_not_found' | 'share_not_found' | 'snapshot_not_found' | 'backup_not_found' | 'orphan_not_found' | 'file_not_found' | 'method_not_allowed' | 'agent_exists' | 'agent_deleting' | 'agent_deleted' | 'agent_failed' | 'agent_restarted' | 'turn_in_progress' | 'turn_finished' | 'turn_cancelled' | 'response_not_last' | 'function_not_waiting' | 'command_exited' | 'command_input_full' | 'request_timeout' | 'idempotency_key_reused' | 'idempotency_key_in_use' | 'idempotency_answer_unreadable' | 'snapshot_exists' | 'backup_in_progress' | 'too_many_snapshots' | 'too_many_agents' | 'user_exists' | 'operator_not_disabled' | 'users_managed_elsewhere' | 'file_exists' | 'file_not_regular' | 'file_changed' | 'not_a_folder' | 'is_a_folder' | 'folder_not_empty' | 'link_loop' | 'precondition_failed' | 'payments_not_configured' | 'body_too_large' | 'content_type_unsupported' | 'range_not_satisfiable' | 'rate_limited' | 'too_many_streams' | 'too_many_commands' | 'too_many_requests' | 'upgrade_required' | 'headers_too_large' | 'internal' | 'machine_failed' | 'machine_lost' | 'runtime_failed' | 'turn_too_large' | 'runtime_stalled' | 'template_failed' | 'port_not_listening' | 'model_failed' | 'model_request_refused' | 'model_credentials_refused' | 'model_unpaid' | 'model_rate_limited' | 'model_overloaded' | 'model_unreachable' | 'model_interrupted' | 'model_stalled' | 'image_missing' | 'image_invalid' | 'qemu_missing' | 'accelerator_unavailable' | 'privilege_missing' | 'disk_full' | 'machine_disk_full' | 'not_supported_here' | 'no_capacity' | 'agent_elsewhere' | 'database_unavailable' | 'identity_provider_unavailable' | 'payments_unavailable' | 'shutting_down';
    /**
     * What happened, in a sentence.
     */
    message: string;
};

export type FileEntry = {
    /**
     * Its last part. Bytes that are not UTF-8 are replaced.
     */
    name: string;
    /**
     * From the listed folder; otherwise absolute.
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
     * The user's name, or number where it has none.
     */
    owner: string;
    modifiedAt: string;
    /**
     * Where a link leads, as it says.
     */
    target: string | null;
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
     * With `moved`: the former path, where it was watched.
     */
    from: string | null;
};

export type FileOrFolder = FolderPage | FileEntry;

/**
 * A folder's entries, by the bytes of their names.
 */
export type FolderPage = {
    data: Array<FileEntry>;
    nextCursor: string | null;
};

export type ForkSource = {
    /**
     * The agent whose state the new one begins with.
     */
    agent: string;
    /**
     * One of its snapshots, by name or id. Without one, as the agent is now.
     */
    snapshot?: string;
    /**
     * Whether the agent's secrets come along.
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
     * Or the name of a user whose account gets it.
     */
    user?: string;
};

export type GrantCredits = {
    /**
     * The account's id.
     */
    account?: string;
    /**
     * Or the name of a user whose account it is.
     */
    user?: string;
    /**
     * Below 0: taken back, and no more than there is.
     */
    credits: string;
    /**
     * Why, for the account's owner; 500 characters at most.
     */
    note?: string;
};

export type Import = {
    agent: Agent;
    /**
     * What was installed in its machine. Nothing of it is installed in the new one.
     */
    installed: InstalledPackages;
    /**
     * The secrets that it had. Their values are in no archive: set them.
     */
    secrets: Array<{
        name: string;
        hosts: Array<string>;
        headers: Array<string>;
    }>;
    /**
     * Agents that it could ask, and that this account does not have.
     */
    agents: Array<string>;
    /**
     * Whether the archive had a disk, which is not used.
     */
    hadDisk: boolean;
};

export type InstallStatus = {
    status: 'pending' | 'installing' | 'installed' | 'failed';
    /**
     * Steps done, as a part of all.
     */
    progress: number;
    /**
     * The steps of this agent's way: a restart, for one, needs neither template nor disk.
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
     * Debian packages that were asked for.
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

export type Key = {
    id: string;
    name: string | null;
    kind: 'full' | 'agent';
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
 * The account's keys that are not revoked, the newest first.
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
     * The address that it listens on: `0.0.0.0` or `::` for all.
     */
    address: string;
    /**
     * The name of the process; null if it is not known.
     */
    program: string | null;
    pid: number | null;
    /**
     * When the process was started, by the machine's clock, which stands still while it sleeps.
     */
    since: string | null;
};

export type LogEvent = {
    line: string;
} | {
    ended: true;
};

/**
 * MCP servers whose tools the agent has, by name.
 */
export type McpServers = {
    [key: string]: {
        /**
         * Its address, over streamable HTTP. The agent's network rules have to allow its host.
         */
        url: string;
        /**
         * `${NAME}` stands for the agent's secret NAME, which is put in outside of the machine.
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
         * `${NAME}` stands for the agent's secret NAME.
         */
        env?: {
            [key: string]: string;
        };
    };
};

export type Model = {
    /**
     * `provider/name`, as an agent's `model` takes it.
     */
    id: string;
    provider: 'anthropic' | 'openai' | 'demo';
    /**
     * The runtimes that can use it.
     */
    runtimes: Array<string>;
    /**
     * Credits for a million tokens; null where it is not known.
     */
    inputPrice: string | null;
    /**
     * Credits for a million tokens; null where it is not known.
     */
    outputPrice: string | null;
};

/**
 * The models that this installation can reach, by id.
 */
export type ModelList = {
    data: Array<Model>;
    nextCursor: string | null;
};

/**
 * Where an agent's programs may connect to. What is denied is not allowed.
 */
export type Network = {
    allow: Array<string>;
    deny: Array<string>;
    /**
     * The installation's own lists: what they do not allow, no agent's list can.
     */
    operator: {
        allow: Array<string>;
        deny: Array<string>;
    };
};

/**
 * The agent's connections that have ended, by when they began, newest first.
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
     * Why it was refused.
     */
    reason: 'destination_invalid' | 'inside' | 'port_refused' | 'denied_by_operator' | 'not_allowed_by_operator' | 'denied' | 'not_allowed' | 'too_many' | null;
    /**
     * What came of it, where it was allowed.
     */
    outcome: 'closed' | 'reset' | 'unresolved' | 'unreachable' | 'timeout' | 'idle' | 'cut' | null;
    /**
     * As it was asked for; `*` for refusals of many hosts together.
     */
    host: string;
    port: number | null;
    /**
     * The IP address that it was connected with.
     */
    address: string | null;
    /**
     * From the agent.
     */
    bytesSent: number;
    /**
     * By the agent.
     */
    bytesReceived: number;
    /**
     * How many connections this is; more than one where they were refused.
     */
    count: number;
};

/**
 * A response of OpenAI's Responses API.
 */
export type OpenAiResponse = {
    object: 'response';
    id: string;
    status: string;
    [key: string]: unknown;
};

/**
 * Files in the quarantine.
 */
export type Orphan = {
    /**
     * The id of the agent or the snapshot that the files belonged to.
     */
    id: string;
    kind: 'machine' | 'snapshot' | 'import';
    /**
     * ISO 8601.
     */
    quarantinedAt: string;
    /**
     * When the service removes the files. ISO 8601.
     */
    removedAt: string;
    /**
     * The agent's name, where the files have it.
     */
    agent: string | null;
    runtime: string | null;
    /**
     * Bytes on the disk, without what is shared with other machines.
     */
    bytes: number;
};

export type OrphanList = {
    data: Array<Orphan>;
};

export type PortList = {
    data: Array<ListeningPort>;
};

export type Program = {
    /**
     * Of the program, however often it is signed in.
     */
    id: string;
    /**
     * What it calls itself, or the host of its document.
     */
    name: string;
    /**
     * The https address of its document; null: it registered by a name that nobody has checked.
     */
    address: string | null;
    /**
     * The first sign-in that still counts.
     */
    signedInAt: string;
    /**
     * When it last renewed its token, which it does every ten minutes at work.
     */
    lastUsedAt: string;
};

/**
 * The programs that are signed in, the last used first; 100 at most.
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
     * What the command line tool is called at the provider.
     */
    berth_tool_client_id: string;
    berth_dashboard_client_id: string;
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
    };
};

export type ReplaceSigningKeys = {
    /**
     * Whether what the older keys signed ends at once, as after a theft.
     */
    now?: boolean;
};

export type Rollback = {
    /**
     * A snapshot's name or id.
     */
    snapshot: string;
};

export type RunCommand = {
    /**
     * A line that `bash -lc` runs, or a program and its arguments.
     */
    command: string | Array<string>;
    /**
     * The folder to run in: absolute, or from the home folder, which is the default.
     */
    cwd?: string;
    /**
     * Variables beside those of a login.
     */
    env?: {
        [key: string]: string;
    };
    /**
     * The command's whole input.
     */
    stdin?: string;
    /**
     * Leaves the input open for `POST …/stdin`; otherwise the command reads its end.
     */
    openStdin?: boolean;
    user?: 'agent' | 'root';
    /**
     * The command is killed after this time; an hour by default, and never for a detached one. The time in which its machine sleeps does not count.
     */
    timeoutSeconds?: number;
    /**
     * Answers at once. What the command leaves running when it ends is left running.
     */
    detach?: boolean;
    /**
     * Runs it on a terminal of that size.
     */
    terminal?: {
        cols: number;
        rows: number;
    };
};

export type Runtime = {
    name: string;
    /**
     * Its npm package.
     */
    package: string;
    /**
     * The package's version in this installation's guest image.
     */
    version: string | null;
    /**
     * Whose models it can use.
     */
    providers: Array<'anthropic' | 'openai' | 'demo'>;
    /**
     * The model of an agent that has none; null: the runtime chooses.
     */
    defaultModel: string | null;
    abilities: {
        instructions: {
            supported: boolean;
            /**
             * Why it is not supported, or in what it is less.
             */
            reason: string | null;
        };
        model: {
            supported: boolean;
            /**
             * Why it is not supported, or in what it is less.
             */
            reason: string | null;
        };
        reset: {
            supported: boolean;
            /**
             * Why it is not supported, or in what it is less.
             */
            reason: string | null;
        };
        cancel: {
            supported: boolean;
            /**
             * Why it is not supported, or in what it is less.
             */
            reason: string | null;
        };
        tools: {
            supported: boolean;
            /**
             * Why it is not supported, or in what it is less.
             */
            reason: string | null;
        };
        reasoning: {
            supported: boolean;
            /**
             * Why it is not supported, or in what it is less.
             */
            reason: string | null;
        };
        usage: {
            supported: boolean;
            /**
             * Why it is not supported, or in what it is less.
             */
            reason: string | null;
        };
    };
};

export type RuntimeList = {
    data: Array<Runtime>;
    nextCursor: null;
};

export type Secret = {
    name: string;
    hosts: Array<string>;
    headers: Array<string>;
    /**
     * What the agent's programs see and send in place of the value.
     */
    placeholder: string;
    createdAt: string;
    updatedAt: string;
};

/**
 * The agent's secrets by name, without their values.
 */
export type SecretList = {
    data: Array<Secret>;
    nextCursor: string | null;
};

export type SetSecret = {
    /**
     * Never shown again.
     */
    value: string;
    /**
     * Where the value may go: a host, or all names below it (`*.example.com`), with a port where it is not 443. Over TLS only, unless the host begins with `http://`.
     */
    hosts: Array<string>;
    /**
     * The request headers in which the placeholder is replaced, such as `x-api-key`.
     */
    headers?: Array<string>;
};

export type Share = {
    id: string;
    port: number;
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
    createdAt: string;
    expiresAt: string | null;
};

export type SignalCommand = {
    signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL' | 'SIGHUP' | 'SIGQUIT' | 'SIGUSR1' | 'SIGUSR2' | 'SIGSTOP' | 'SIGCONT' | 'SIGTSTP' | 'SIGALRM' | 'SIGABRT' | 'SIGWINCH';
};

export type SigningKeysReplaced = {
    /**
     * Until when tokens that the older keys signed are valid.
     */
    oldKeysUntil: string;
};

export type Snapshot = {
    id: string;
    name: string;
    createdAt: string;
    /**
     * `asked`: its owner asked for it. `rollback`: made before a rollback, so that it can be undone. `turn`: made before a turn, as `autoSnapshot` asks. `upgrade`: made before an upgrade, so that it can be undone.
     */
    reason: 'asked' | 'rollback' | 'turn' | 'upgrade';
    /**
     * Which runtime the agent had then.
     */
    runtime: string;
    /**
     * The number of the agent's conversation then.
     */
    conversation: number;
    /**
     * Whether programs continue, or the machine boots from the disk.
     */
    hasMemory: boolean;
    /**
     * What it takes on the host's disk, beside what it shares with others.
     */
    bytes: number;
    /**
     * The turn that ran then, or was about to. It is not gone on with.
     */
    turnId: string | null;
};

/**
 * An agent's snapshots, the oldest first.
 */
export type SnapshotList = {
    data: Array<Snapshot>;
};

export type SshAccess = {
    /**
     * For your key, as in `id_ed25519-cert.pub`.
     */
    certificate: string;
    /**
     * The public key by which the machine is known.
     */
    hostKey: string;
    expiresAt: string;
};

export type SshRequest = {
    /**
     * Your public key, of the kind ssh-ed25519, as in `id_ed25519.pub`.
     */
    publicKey: string;
    user?: 'agent' | 'root';
};

export type Ticket = {
    /**
     * Good once, as `?ticket=`, for this agent and purpose.
     */
    ticket: string;
    expiresAt: string;
    /**
     * Of a preview: the address to open in a browser.
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
     * The file or folder that it reads, with the agent's rights.
     */
    path: string;
} | {
    for: 'preview';
    port: number;
    /**
     * The page to show.
     */
    path?: string;
};

export type TopUp = {
    id: string;
    /**
     * The page on which to pay.
     */
    url: string;
    credits: string;
    /**
     * Until then the page can be used.
     */
    expiresAt: string;
};

export type Turn = {
    id: string;
    /**
     * 1, 2, …: a reset of the conversation begins the next.
     */
    conversation: number;
    message: string;
    /**
     * The reply's text as far as it has come, or its first 65,536 characters.
     */
    reply: string;
    /**
     * The reply is longer; all of it is in the turn's events.
     */
    replyTruncated: boolean;
    status: 'running' | 'completed' | 'failed' | 'cancelled';
    error: Fault | null;
    /**
     * The model that was asked; null: the runtime's own default.
     */
    model: string | null;
    usage: Usage;
    /**
     * The other agent's turn that asked for this one; null: a client did.
     */
    askedBy: {
        agent: string;
        turnId: string;
    } | null;
    /**
     * Whether its agent was rolled back to before its end, so that it knows nothing of it.
     */
    undone: boolean;
    createdAt: string;
    finishedAt: string | null;
};

export type TurnEvent = {
    type: 'response.created';
} | {
    type: 'response.queued';
    /**
     * 1: the next to get a place for its machine. Told again as it changes.
     */
    position: number;
} | {
    type: 'response.in_progress';
    /**
     * How long it took to have the agent's machine ready.
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
} | {
    /**
     * The agent waits for a function of its client.
     */
    type: 'response.function_call';
    callId: string;
    name: string;
    /**
     * JSON.
     */
    arguments: string;
    /**
     * Of the turn so far. Sent where `include` has `usage`.
     */
    usage?: Usage;
    /**
     * When it happened. Sent where `include` has `usage`.
     */
    at?: string;
} | {
    type: 'response.completed';
    /**
     * Of the turn so far. Sent where `include` has `usage`.
     */
    usage?: Usage;
    /**
     * When it happened. Sent where `include` has `usage`.
     */
    at?: string;
} | {
    type: 'response.failed';
    error: Fault;
    /**
     * Of the turn so far. Sent where `include` has `usage`.
     */
    usage?: Usage;
    /**
     * When it happened. Sent where `include` has `usage`.
     */
    at?: string;
} | {
    type: 'response.cancelled';
    /**
     * Of the turn so far. Sent where `include` has `usage`.
     */
    usage?: Usage;
    /**
     * When it happened. Sent where `include` has `usage`.
     */
    at?: string;
};

/**
 * The agent's turns, the newest first.
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
     * Its first 400 characters, as far as it has come.
     */
    reply: string;
    status: 'running' | 'completed' | 'failed' | 'cancelled';
    error: Fault | null;
    createdAt: string;
    finishedAt: string | null;
    /**
     * The agent's name.
     */
    agent: string;
};

export type Usage = {
    /**
     * All that the model read, from a cache or not.
     */
    inputTokens: number;
    /**
     * All that it wrote, reasoning included.
     */
    outputTokens: number;
    /**
     * Of the input, what came from the provider's cache.
     */
    cacheReadTokens: number;
    /**
     * Of the input, what the provider put into its cache.
     */
    cacheWriteTokens: number;
    /**
     * Of the output, what was reasoning, where the provider says it.
     */
    reasoningTokens: number;
    /**
     * The tokens at their price, as a decimal number of credits; null where it is not known.
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
     * Null: the time of the agent's machine.
     */
    model: string | null;
    credits: string;
    /**
     * Those of the cache included.
     */
    inputTokens: number;
    /**
     * Those of reasoning included.
     */
    outputTokens: number;
    cacheReadTokens: number;
    cacheWriteTokens: number;
    reasoningTokens: number;
    /**
     * For how long machines ran, to the millisecond.
     */
    machineSeconds: number;
};

/**
 * What was spent: the newest day first, or what cost most first; 1000 rows at most.
 */
export type UsageReport = {
    by: 'day' | 'agent' | 'model' | 'key';
    since: string;
    until: string;
    data: Array<UsageSum>;
};

export type UsageSum = {
    /**
     * The day of UTC, the agent's name, the model, or the key's id. Null: what has none, such as a machine's time for models and keys.
     */
    group: string | null;
    /**
     * The key's name, where it has one.
     */
    name: string | null;
    credits: string;
    /**
     * Those of the cache included.
     */
    inputTokens: number;
    /**
     * Those of reasoning included.
     */
    outputTokens: number;
    cacheReadTokens: number;
    cacheWriteTokens: number;
    reasoningTokens: number;
    /**
     * For how long machines ran, to the millisecond.
     */
    machineSeconds: number;
};

export type User = {
    name: string;
    /**
     * Shares the account of the one who looks after the installation.
     */
    operator: boolean;
    /**
     * invited: a password is still to be set, with a link.
     */
    status: 'invited' | 'active' | 'disabled';
    createdAt: string;
};

/**
 * The users, the oldest first.
 */
export type UserList = {
    data: Array<User>;
    nextCursor: string | null;
};

export type UserWithLink = {
    name: string;
    /**
     * Shares the account of the one who looks after the installation.
     */
    operator: boolean;
    /**
     * invited: a password is still to be set, with a link.
     */
    status: 'invited' | 'active' | 'disabled';
    createdAt: string;
    /**
     * Sets the password, once, within 72 hours. Shown this once.
     */
    link: string;
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
     * Of the bytes received, in hexadecimal.
     */
    sha256: string;
    /**
     * Whether there was nothing before.
     */
    created: boolean;
    /**
     * Null for an archive that was unpacked.
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
     * The request was refused, or it failed.
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
     * The request was refused, or it failed.
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
     * The request was refused, or it failed.
     */
    default: Error;
};

export type GetMetricsError = GetMetricsErrors[keyof GetMetricsErrors];

export type GetMetricsResponses = {
    /**
     * Default Response
     */
    200: unknown;
};

export type GetProtectedResourceData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/.well-known/oauth-protected-resource';
};

export type GetProtectedResourceErrors = {
    /**
     * The request was refused, or it failed.
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
     * The request was refused, or it failed.
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
         * How many, 1 to 100.
         */
        limit?: number;
        /**
         * The `nextCursor` of the page before.
         */
        cursor?: string;
    };
    url: '/agents';
};

export type ListAgentsErrors = {
    /**
     * The request was refused, or it failed.
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
         * For a request that may be sent again: with the same key and body within 24 hours, the first answer is given again, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path?: never;
    query?: {
        /**
         * Hold the answer until the agent is ready or has failed, 60 s at most.
         */
        wait?: 'ready';
    };
    url: '/agents';
};

export type CreateAgentErrors = {
    /**
     * The request was refused, or it failed.
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
     * The request was refused, or it failed.
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
     * The request was refused, or it failed.
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
         * Hold the answer until the agent is ready or has failed, 60 s at most.
         */
        wait?: 'ready';
    };
    url: '/agents/{name}';
};

export type ChangeAgentErrors = {
    /**
     * The request was refused, or it failed.
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
         * For a request that may be sent again: with the same key and body within 24 hours, the first answer is given again, with `idempotent-replayed: true`.
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
         * Hold the answer until the agent is ready or has failed, 60 s at most.
         */
        wait?: 'ready';
        /**
         * Where the agent's machine was lost, begin with an empty one: its files are gone.
         */
        machine?: 'new';
    };
    url: '/agents/{name}/restart';
};

export type RestartAgentErrors = {
    /**
     * The request was refused, or it failed.
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
         * For a request that may be sent again: with the same key and body within 24 hours, the first answer is given again, with `idempotent-replayed: true`.
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
         * Hold the answer until the agent is ready or has failed, 60 s at most.
         */
        wait?: 'ready';
    };
    url: '/agents/{name}/upgrade';
};

export type UpgradeAgentErrors = {
    /**
     * The request was refused, or it failed.
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
         * For a request that may be sent again: with the same key and body within 24 hours, the first answer is given again, with `idempotent-replayed: true`.
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
     * The request was refused, or it failed.
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
         * For a request that may be sent again: with the same key and body within 24 hours, the first answer is given again, with `idempotent-replayed: true`.
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
         * Hold the answer until the agent is ready or has failed, 60 s at most.
         */
        wait?: 'ready';
    };
    url: '/agents/{name}/resume';
};

export type ResumeAgentErrors = {
    /**
     * The request was refused, or it failed.
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
         * How many of the last lines, 0 to 1000.
         */
        tail?: number;
        /**
         * `true`: an event stream that continues with new lines.
         */
        follow?: 'true' | 'false';
    };
    url: '/agents/{name}/logs';
};

export type GetLogErrors = {
    /**
     * The request was refused, or it failed.
     */
    default: Error;
};

export type GetLogError = GetLogErrors[keyof GetLogErrors];

export type GetLogResponses = {
    /**
     * Default Response
     */
    200: AgentLog;
};

export type GetLogResponse = GetLogResponses[keyof GetLogResponses];

export type ResetConversationData = {
    body?: never;
    headers?: {
        /**
         * For a request that may be sent again: with the same key and body within 24 hours, the first answer is given again, with `idempotent-replayed: true`.
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
     * The request was refused, or it failed.
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
     * The request was refused, or it failed.
     */
    default: Error;
};

export type GetInstallStatusError = GetInstallStatusErrors[keyof GetInstallStatusErrors];

export type GetInstallStatusResponses = {
    /**
     * Default Response
     */
    200: InstallStatus;
};

export type GetInstallStatusResponse = GetInstallStatusResponses[keyof GetInstallStatusResponses];

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
     * The request was refused, or it failed.
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
         * For a request that may be sent again: with the same key and body within 24 hours, the first answer is given again, with `idempotent-replayed: true`.
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
     * The request was refused, or it failed.
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
     * The request was refused, or it failed.
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
         * For a request that may be sent again: with the same key and body within 24 hours, the first answer is given again, with `idempotent-replayed: true`.
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
         * Hold the answer until the agent is ready or has failed, 60 s at most.
         */
        wait?: 'ready';
    };
    url: '/agents/{name}/rollback';
};

export type RollBackErrors = {
    /**
     * The request was refused, or it failed.
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
         * `true`: the archive has the machine's whole disk, too, as a qcow2 image.
         */
        disk?: 'true' | 'false';
    };
    url: '/agents/{name}/export';
};

export type ExportAgentErrors = {
    /**
     * The request was refused, or it failed.
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
         * For a request that may be sent again: with the same key and body within 24 hours, the first answer is given again, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path?: never;
    query?: {
        /**
         * Hold the answer until the agent is ready or has failed, 60 s at most.
         */
        wait?: 'ready';
        /**
         * What the new agent is called; as it was where not given.
         */
        name?: string;
        /**
         * Its model here, an id of `GET /models`, or `default` for the runtime's own.
         */
        model?: string;
    };
    url: '/imports';
};

export type ImportAgentErrors = {
    /**
     * The request was refused, or it failed.
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
         * For a request that may be sent again: with the same key and body within 24 hours, the first answer is given again, with `idempotent-replayed: true`.
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
     * The request was refused, or it failed.
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
         * How many, 1 to 100.
         */
        limit?: number;
        /**
         * The `nextCursor` of the page before.
         */
        cursor?: string;
    };
    url: '/agents/{name}/turns';
};

export type ListTurnsErrors = {
    /**
     * The request was refused, or it failed.
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
         * How many, 1 to 100.
         */
        limit?: number;
        /**
         * The `nextCursor` of the page before.
         */
        cursor?: string;
        /**
         * Only turns that run, or that have ended since this time.
         */
        since?: string;
    };
    url: '/turns';
};

export type ListAccountTurnsErrors = {
    /**
     * The request was refused, or it failed.
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
     * The request was refused, or it failed.
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
         * Only events after this one's id.
         */
        after?: number;
        /**
         * As in the chat's request, with commas between.
         */
        include?: Array<'status' | 'reasoning' | 'tools' | 'usage'>;
    };
    url: '/agents/{name}/turns/{turnId}/events';
};

export type GetTurnEventsErrors = {
    /**
     * The request was refused, or it failed.
     */
    default: Error;
};

export type GetTurnEventsError = GetTurnEventsErrors[keyof GetTurnEventsErrors];

export type GetTurnEventsResponses = {
    /**
     * Default Response
     */
    200: TurnEvent;
};

export type GetTurnEventsResponse = GetTurnEventsResponses[keyof GetTurnEventsResponses];

export type CancelTurnData = {
    body?: never;
    headers?: {
        /**
         * For a request that may be sent again: with the same key and body within 24 hours, the first answer is given again, with `idempotent-replayed: true`.
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
     * The request was refused, or it failed.
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

export type OpenResponsesData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/v1/responses';
};

export type OpenResponsesErrors = {
    /**
     * The request was refused, or it failed.
     */
    default: Error;
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
         * For a request that may be sent again: with the same key and body within 24 hours, the first answer is given again, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
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
     * The request was refused, or it failed.
     */
    default: Error;
};

export type CreateResponseError = CreateResponseErrors[keyof CreateResponseErrors];

export type CreateResponseResponses = {
    /**
     * Default Response
     */
    200: OpenAiResponse;
};

export type CreateResponseResponse = CreateResponseResponses[keyof CreateResponseResponses];

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
     * The request was refused, or it failed.
     */
    default: Error;
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
         * `true`: the response's events.
         */
        stream?: 'true' | 'false';
        /**
         * Only events after this number.
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
     * The request was refused, or it failed.
     */
    default: Error;
};

export type GetResponseError = GetResponseErrors[keyof GetResponseErrors];

export type GetResponseResponses = {
    /**
     * Default Response
     */
    200: OpenAiResponse;
};

export type GetResponseResponse = GetResponseResponses[keyof GetResponseResponses];

export type CancelResponseData = {
    body?: never;
    headers?: {
        /**
         * For a request that may be sent again: with the same key and body within 24 hours, the first answer is given again, with `idempotent-replayed: true`.
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
     * The request was refused, or it failed.
     */
    default: Error;
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
         * The id of the last item of the page before.
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
     * The request was refused, or it failed.
     */
    default: Error;
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

export type CreateChatCompletionData = {
    body: CreateChatCompletion;
    headers?: {
        /**
         * For a request that may be sent again: with the same key and body within 24 hours, the first answer is given again, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
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
     * The request was refused, or it failed.
     */
    default: Error;
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
     * The request was refused, or it failed.
     */
    default: Error;
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
     * The request was refused, or it failed.
     */
    default: Error;
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
     * The request was refused, or it failed.
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
         * For a request that may be sent again: with the same key and body within 24 hours, the first answer is given again, with `idempotent-replayed: true`.
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
     * The request was refused, or it failed.
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
     * The request was refused, or it failed.
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
         * Only events after this number. The header `last-event-id` takes precedence.
         */
        after?: number;
    };
    url: '/agents/{name}/commands/{commandId}/events';
};

export type GetCommandEventsErrors = {
    /**
     * The request was refused, or it failed.
     */
    default: Error;
};

export type GetCommandEventsError = GetCommandEventsErrors[keyof GetCommandEventsErrors];

export type GetCommandEventsResponses = {
    /**
     * Default Response
     */
    200: CommandEvent;
};

export type GetCommandEventsResponse = GetCommandEventsResponses[keyof GetCommandEventsResponses];

export type WriteCommandInputData = {
    body: Blob | File;
    headers?: {
        /**
         * For a request that may be sent again: with the same key and body within 24 hours, the first answer is given again, with `idempotent-replayed: true`.
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
         * Closes the command's input after these bytes.
         */
        end?: 'true' | 'false';
    };
    url: '/agents/{name}/commands/{commandId}/stdin';
};

export type WriteCommandInputErrors = {
    /**
     * The request was refused, or it failed.
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
         * For a request that may be sent again: with the same key and body within 24 hours, the first answer is given again, with `idempotent-replayed: true`.
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
     * The request was refused, or it failed.
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
         * For a request that may be sent again: with the same key and body within 24 hours, the first answer is given again, with `idempotent-replayed: true`.
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
     * The request was refused, or it failed.
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
         * The session to join, with what it has shown lately. Without it, a new one begins.
         */
        session?: string;
        /**
         * Of the session, only what came after the event with this id: for a viewer who comes back.
         */
        after?: number;
        cols?: number;
        rows?: number;
        /**
         * The user of a new session.
         */
        user?: 'agent' | 'root';
        /**
         * In place of the header `authorization`: see tickets.
         */
        ticket?: string;
    };
    url: '/agents/{name}/terminal';
};

export type OpenTerminalErrors = {
    /**
     * The request was refused, or it failed.
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
         * Absolute, or from the agent's home folder. `.` and `..` are resolved, and stay inside `/`.
         */
        path: string;
    };
    query?: {
        /**
         * With whose rights, in the machine.
         */
        user?: 'agent' | 'root';
        /**
         * `true`: a folder with everything in it.
         */
        recursive?: 'true' | 'false';
    };
    url: '/agents/{name}/files/{path}';
};

export type RemoveFileErrors = {
    /**
     * The request was refused, or it failed.
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
         * Absolute, or from the agent's home folder. `.` and `..` are resolved, and stay inside `/`.
         */
        path: string;
    };
    query?: {
        /**
         * With whose rights, in the machine.
         */
        user?: 'agent' | 'root';
        /**
         * How many entries of a folder, 1 to 1000.
         */
        limit?: number;
        /**
         * The `nextCursor` of the page before.
         */
        cursor?: string;
        /**
         * `true`: also what is in the folder's folders.
         */
        recursive?: 'true' | 'false';
        /**
         * With `recursive`: how many levels, 1 to 100.
         */
        depth?: number;
        /**
         * `true`: the entry itself as JSON, not what is in it.
         */
        stat?: 'true' | 'false';
        /**
         * `true`: an event stream of the changes in the folder, or of the file.
         */
        watch?: 'true' | 'false';
        /**
         * A folder as an archive, as with `Accept`, which a link cannot say.
         */
        archive?: 'tar' | 'tar.gz' | 'zip';
        /**
         * In place of the header `authorization`: see tickets.
         */
        ticket?: string;
    };
    url: '/agents/{name}/files/{path}';
};

export type ReadFileErrors = {
    /**
     * The request was refused, or it failed.
     */
    default: Error;
};

export type ReadFileError = ReadFileErrors[keyof ReadFileErrors];

export type ReadFileResponses = {
    /**
     * Default Response
     */
    200: FileOrFolder;
};

export type ReadFileResponse = ReadFileResponses[keyof ReadFileResponses];

export type ChangeFileData = {
    body?: never;
    headers?: {
        /**
         * For a request that may be sent again: with the same key and body within 24 hours, the first answer is given again, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path: {
        /**
         * The agent's name.
         */
        name: string;
        /**
         * Absolute, or from the agent's home folder. `.` and `..` are resolved, and stay inside `/`.
         */
        path: string;
    };
    query: {
        /**
         * With whose rights, in the machine.
         */
        user?: 'agent' | 'root';
        action: 'move' | 'copy' | 'mkdir';
        /**
         * With `move` and `copy`: the new path, which must be free.
         */
        to?: string;
    };
    url: '/agents/{name}/files/{path}';
};

export type ChangeFileErrors = {
    /**
     * The request was refused, or it failed.
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
         * Absolute, or from the agent's home folder. `.` and `..` are resolved, and stay inside `/`.
         */
        path: string;
    };
    query?: {
        /**
         * With whose rights, in the machine.
         */
        user?: 'agent' | 'root';
        /**
         * The file's mode, such as 755. Otherwise that of the file it replaces, or 644.
         */
        mode?: string;
        /**
         * `true`: the body is a tar archive, and the path the folder to unpack it into.
         */
        extract?: 'true' | 'false';
    };
    url: '/agents/{name}/files/{path}';
};

export type WriteFileErrors = {
    /**
     * The request was refused, or it failed.
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
     * The request was refused, or it failed.
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
         * In place of the header `authorization`: see tickets.
         */
        ticket?: string;
    };
    url: '/agents/{name}/ports/{port}/connection';
};

export type ConnectPortErrors = {
    /**
     * The request was refused, or it failed.
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
         * For a request that may be sent again: with the same key and body within 24 hours, the first answer is given again, with `idempotent-replayed: true`.
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
     * The request was refused, or it failed.
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
     * The request was refused, or it failed.
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
     * The request was refused, or it failed.
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
         * For a request that may be sent again: with the same key and body within 24 hours, the first answer is given again, with `idempotent-replayed: true`.
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
     * The request was refused, or it failed.
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
         * In place of the header `authorization`: see tickets.
         */
        ticket?: string;
    };
    url: '/agents/{name}/ssh/connection';
};

export type ConnectSshErrors = {
    /**
     * The request was refused, or it failed.
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
         * How many, 1 to 100.
         */
        limit?: number;
        /**
         * The `nextCursor` of the page before.
         */
        cursor?: string;
    };
    url: '/models';
};

export type ListModelsErrors = {
    /**
     * The request was refused, or it failed.
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
     * The request was refused, or it failed.
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
     * The request was refused, or it failed.
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
     * The request was refused, or it failed.
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
         * How many, 1 to 100.
         */
        limit?: number;
        /**
         * The `nextCursor` of the page before.
         */
        cursor?: string;
        /**
         * Only those that were allowed, or refused.
         */
        verdict?: 'allowed' | 'refused';
    };
    url: '/agents/{name}/network/log';
};

export type ListConnectionsErrors = {
    /**
     * The request was refused, or it failed.
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
         * How many, 1 to 100.
         */
        limit?: number;
        /**
         * The `nextCursor` of the page before.
         */
        cursor?: string;
        /**
         * Only those that were allowed, or refused.
         */
        verdict?: 'allowed' | 'refused';
        /**
         * Only those that began at this time or later.
         */
        since?: string;
    };
    url: '/network/log';
};

export type ListAccountConnectionsErrors = {
    /**
     * The request was refused, or it failed.
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
     * The request was refused, or it failed.
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
         * The name of the variable in which the agent's programs find the placeholder.
         */
        secret: string;
    };
    query?: never;
    url: '/agents/{name}/secrets/{secret}';
};

export type RemoveSecretErrors = {
    /**
     * The request was refused, or it failed.
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
         * The name of the variable in which the agent's programs find the placeholder.
         */
        secret: string;
    };
    query?: never;
    url: '/agents/{name}/secrets/{secret}';
};

export type SetSecretErrors = {
    /**
     * The request was refused, or it failed.
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

export type GetAccountData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/account';
};

export type GetAccountErrors = {
    /**
     * The request was refused, or it failed.
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
     * The request was refused, or it failed.
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
     * The request was refused, or it failed.
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
     * The request was refused, or it failed.
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
         * How many, 1 to 100.
         */
        limit?: number;
        /**
         * The `nextCursor` of the page before.
         */
        cursor?: string;
    };
    url: '/keys';
};

export type ListKeysErrors = {
    /**
     * The request was refused, or it failed.
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
         * For a request that may be sent again: with the same key and body within 24 hours, the first answer is given again, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path?: never;
    query?: never;
    url: '/keys';
};

export type CreateKeyErrors = {
    /**
     * The request was refused, or it failed.
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
     * The request was refused, or it failed.
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
         * How many, 1 to 100.
         */
        limit?: number;
        /**
         * The `nextCursor` of the page before.
         */
        cursor?: string;
        /**
         * Only what was done with the agents of this name.
         */
        agent?: string;
        /**
         * Only what was done, or what was refused: a status of 400 or more.
         */
        outcome?: 'done' | 'refused';
        /**
         * Only entries with this in their operation, agent, address or code, in any case.
         */
        search?: string;
    };
    url: '/audit';
};

export type ListAuditEntriesErrors = {
    /**
     * The request was refused, or it failed.
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

export type GetBillingData = {
    body?: never;
    path?: never;
    query?: never;
    url: '/billing';
};

export type GetBillingErrors = {
    /**
     * The request was refused, or it failed.
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
     * The request was refused, or it failed.
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
         * How many, 1 to 100.
         */
        limit?: number;
        /**
         * The `nextCursor` of the page before.
         */
        cursor?: string;
        /**
         * Only of the agents of this name.
         */
        agent?: string;
        kind?: 'starting' | 'grant' | 'top_up' | 'refund' | 'model' | 'machine';
        /**
         * From this time on.
         */
        since?: string;
        /**
         * Before this time.
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
     * The request was refused, or it failed.
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
         * What the usage is summed up by.
         */
        by?: 'day' | 'agent' | 'model' | 'key';
        /**
         * From this time on; the beginning of this month of UTC if not given.
         */
        since?: string;
        /**
         * Before this time; now if not given. A year after `since` at most.
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
     * The request was refused, or it failed.
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
         * For a request that may be sent again: with the same key and body within 24 hours, the first answer is given again, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path?: never;
    query?: never;
    url: '/billing/top-ups';
};

export type CreateTopUpErrors = {
    /**
     * The request was refused, or it failed.
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
         * How many, 1 to 100.
         */
        limit?: number;
        /**
         * The `nextCursor` of the page before.
         */
        cursor?: string;
    };
    url: '/admin/users';
};

export type ListUsersErrors = {
    /**
     * The request was refused, or it failed.
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
         * For a request that may be sent again: with the same key and body within 24 hours, the first answer is given again, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path?: never;
    query?: never;
    url: '/admin/users';
};

export type CreateUserErrors = {
    /**
     * The request was refused, or it failed.
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
         * For a request that may be sent again: with the same key and body within 24 hours, the first answer is given again, with `idempotent-replayed: true`.
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
     * The request was refused, or it failed.
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
         * For a request that may be sent again: with the same key and body within 24 hours, the first answer is given again, with `idempotent-replayed: true`.
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
     * The request was refused, or it failed.
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
         * For a request that may be sent again: with the same key and body within 24 hours, the first answer is given again, with `idempotent-replayed: true`.
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
     * The request was refused, or it failed.
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
         * For a request that may be sent again: with the same key and body within 24 hours, the first answer is given again, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path?: never;
    query?: never;
    url: '/admin/signing-keys';
};

export type ReplaceSigningKeysErrors = {
    /**
     * The request was refused, or it failed.
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
     * The request was refused, or it failed.
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

export type CreateBackupData = {
    body?: never;
    headers?: {
        /**
         * For a request that may be sent again: with the same key and body within 24 hours, the first answer is given again, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path?: never;
    query?: never;
    url: '/admin/backups';
};

export type CreateBackupErrors = {
    /**
     * The request was refused, or it failed.
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
     * The request was refused, or it failed.
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
     * The request was refused, or it failed.
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
     * The request was refused, or it failed.
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
         * For a request that may be sent again: with the same key and body within 24 hours, the first answer is given again, with `idempotent-replayed: true`.
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
     * The request was refused, or it failed.
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
     * The request was refused, or it failed.
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
         * How many, 1 to 100.
         */
        limit?: number;
        /**
         * The `nextCursor` of the page before.
         */
        cursor?: string;
    };
    url: '/admin/credits';
};

export type ListCreditsErrors = {
    /**
     * The request was refused, or it failed.
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
         * For a request that may be sent again: with the same key and body within 24 hours, the first answer is given again, with `idempotent-replayed: true`.
         */
        'idempotency-key'?: string;
    };
    path?: never;
    query?: never;
    url: '/admin/credits/grants';
};

export type GrantCreditsErrors = {
    /**
     * The request was refused, or it failed.
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
     * The request was refused, or it failed.
     */
    default: Error;
};

export type McpError = McpErrors[keyof McpErrors];

export type McpResponses = {
    /**
     * Default Response
     */
    200: unknown;
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
         * In place of the header: the version, `1.0`.
         */
        'A2A-Version'?: string;
    };
    url: '/agents/{name}/a2a';
};

export type A2aErrors = {
    /**
     * The request was refused, or it failed.
     */
    default: Error;
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
         * For a request that may be sent again: with the same key and body within 24 hours, the first answer is given again, with `idempotent-replayed: true`.
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
     * The request was refused, or it failed.
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
     * The request was refused, or it failed.
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
