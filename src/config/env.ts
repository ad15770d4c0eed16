import { homedir, hostname, totalmem } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { maximumMemoryMiB } from "../contract/agents.ts";
import { authorityText, parseAuthority, parseRule, ruleForms, ruleText } from "../contract/egress-rules.ts";
import { chosenRuntimes } from "./chosen-runtimes.ts";
import type { ClusterConfig, Config, ExternalIssuer, KubernetesConfig, ProviderAccount } from "./config.ts";
import { https, httpsVariables } from "./https.ts";
import { mail, mailVariables } from "./mail.ts";
import { readPrices } from "./prices.ts";
import { fileVariables, secretVariables, withFiles } from "./secret-variables.ts";
import { ConfigError, parse, path, port, present } from "./variables.ts";

const webUrl = z.url({ protocol: /^https?$/, error: "Must be a URL that begins with http:// or https://." });
const httpUrl = webUrl.transform((url) => url.replace(/\/+$/, ""));

/** Short enough for a label of a preview before it, within the 253 characters of a host name. */
const domain = z
  .string()
  .max(200)
  .regex(
    /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/,
    "A domain is such as previews.example.com, in small letters.",
  );

/** Per minute; 0: no limit. */
const rate = z.coerce.number().int().min(0).max(1_000_000);
const list = z.string().transform((text) => text.split(",").map((part) => part.trim()));
const origin = z
  .string()
  .refine((text) => URL.canParse(text) && new URL(text).origin === text, "An origin is such as https://example.com.");
const rule = z.string().transform((text, context) => {
  const parsed = parseRule(text);
  if (parsed) return ruleText(parsed);
  context.issues.push({ code: "custom", input: text, message: `A rule is ${ruleForms}; commas between.` });
  return z.NEVER;
});
const authority = z.string().transform((text, context) => {
  const parsed = parseAuthority(text);
  if (parsed) return authorityText(parsed);
  context.issues.push({ code: "custom", input: text, message: "A list of HOST:PORT, with commas between." });
  return z.NEVER;
});
const runtimes = z.string().transform((text, context) => {
  try {
    return chosenRuntimes(text);
  } catch (error) {
    context.issues.push({ code: "custom", input: text, message: (error as Error).message });
    return z.NEVER;
  }
});
const network = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], "An address or a network, such as 10.0.0.0/8.");

const mebibyte = 1024 ** 2;

/** The default share of the host's memory for machines. */
const usualMemoryPart = 0.75;
/** By default a spare for each so much memory of all machines, and not more than so many. */
const memoryForSpareMiB = 8_192;
const mostSpares = 3;

/** How long tokens with an unknown key do not cause another fetch of the issuer's keys. */
const unknownKeyMs = 30_000;

/** As OpenAI's. */
const responseSocketMs = 3_600_000;

const credits = z
  .string()
  .regex(/^\d{1,9}(\.\d{1,6})?$/, "A number of credits, such as 12.5, with six decimal places at most.");

/** OpenTelemetry's names for which traces are kept. With each, a trace that was begun is kept or not as a whole. */
const samplers = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

/** Where machines in pods are, and how they are made. */
const clusterVariables = {
  BERTH_KUBERNETES_IMAGE: z.string().min(1).max(500).optional(),
  BERTH_KUBERNETES_PULL: z.enum(["IfNotPresent", "Never", "Always"]).default("IfNotPresent"),
  BERTH_KUBERNETES_NAMESPACE: z
    .string()
    .regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, "A namespace has small letters, digits and hyphens.")
    .default("berth-machines"),
  BERTH_KUBERNETES_STORAGE_CLASS: z.string().min(1).max(253).optional(),
  BERTH_KUBERNETES_KVM: z
    .string()
    .regex(/^[a-z0-9.-]+\/[a-z0-9._-]+$/i, "A resource is such as devices.kubevirt.io/kvm.")
    .optional(),
  KUBECONFIG: z.string().min(1).optional(),
};

/** All variables with their values and defaults. Keep in sync with the table in the README. */
const variables = z.object({
  BERTH_HOST: z.string().min(1).default("127.0.0.1"),
  BERTH_PORT: port.default(7420),
  BERTH_SERVER_NAME: z.string().min(1).max(100).optional(),
  BERTH_DATA_DIR: path.optional(),
  BERTH_DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/, error: "Must be a URL that begins with postgres:// or postgresql://." })
    .optional(),
  BERTH_SECRET_KEY: z
    .base64()
    .refine((key) => Buffer.from(key, "base64").length === 32, "32 bytes in base64 are allowed.")
    .optional(),
  BERTH_PUBLIC_URL: httpUrl.optional(),
  ...httpsVariables,
  BERTH_INTERNAL_URL: z
    .url({ protocol: /^http$/, error: "Must be a URL that begins with http://." })
    .refine((url) => new URL(url).pathname === "/", "It has no path.")
    .transform((url) => url.replace(/\/+$/, ""))
    .optional(),
  BERTH_PREVIEW_DOMAIN: domain.default("localhost"),
  BERTH_OIDC_ISSUER: webUrl.optional(),
  BERTH_OIDC_AUDIENCE: z.string().min(1).max(500).optional(),
  BERTH_OIDC_CLIENT_ID: z.string().min(1).max(500).default("berth"),
  BERTH_IMAGE_DIR: path.optional(),
  BERTH_RUNTIMES: runtimes.default(chosenRuntimes(undefined)),
  BERTH_ACCEL: z.enum(["auto", "kvm", "tcg"]).default("auto"),
  BERTH_KVM_PROBE_SECONDS: z.coerce.number().min(1).max(3_600).default(30),
  ...clusterVariables,
  BERTH_IDLE_SECONDS: z.coerce.number().min(0).max(2_592_000).default(300),
  BERTH_STOP_SUSPEND_SECONDS: z.coerce.number().min(0).max(3_600).default(0),
  BERTH_APPROVAL_SECONDS: z.coerce
    .number()
    .min(1)
    .max(20 * 86_400)
    .default(86_400),
  BERTH_MAX_AGENTS: z.coerce.number().int().min(1).max(100_000).default(1_000),
  BERTH_MEMORY_MIB: z.coerce.number().int().min(1_024).optional(),
  BERTH_SPARES: z.coerce.number().int().min(0).max(100).optional(),
  BERTH_SPARE_LOAD: z.coerce.number().min(0).max(1_000).default(0.5),
  BERTH_ACCOUNT_SHARE: z.coerce.number().min(0.01).max(1).default(0.8),
  BERTH_MAX_WEBHOOKS_PER_ACCOUNT: z.coerce.number().int().min(0).max(1_000).default(20),
  BERTH_MAX_AUTOMATIONS_PER_ACCOUNT: z.coerce.number().int().min(0).max(100_000).default(100),
  BERTH_MAX_AGENTS_PER_ACCOUNT: z.coerce.number().int().min(1).max(1_000_000).default(1_000),
  BERTH_MAX_WAITING: z.coerce.number().int().min(0).max(100_000).default(100),
  BERTH_WAIT_SECONDS: z.coerce.number().min(1).max(86_400).default(300),
  BERTH_STALL_SECONDS: z.coerce.number().min(1).max(86_400).default(300),
  BERTH_MODEL_SILENCE_SECONDS: z.coerce.number().min(1).max(3_600).default(50),
  BERTH_MODEL_RETRY_SECONDS: z.coerce.number().min(0).max(600).default(15),
  BERTH_PRICES_FILE: z.string().min(1).optional(),
  BERTH_MAX_TURN_MIB: z.coerce.number().int().min(1).max(4096).default(64),
  BERTH_TURN_DAYS: z.coerce.number().int().min(0).max(36_500).default(0),
  BERTH_MAX_STORED_MIB: z.coerce.number().int().min(0).max(1_000_000_000).default(0),
  BERTH_DISK_RESERVE_MIB: z.coerce.number().int().min(0).max(1_000_000_000).default(1_024),
  BERTH_QUARANTINE_DAYS: z.coerce.number().int().min(3).max(36_500).default(14),
  BERTH_HOSTED_TOOLS: list.default([]),
  BERTH_UNPRICED_MODELS: z.enum(["refuse", "allow"]).default("refuse"),
  BERTH_RATE_LIMIT: rate.default(1_200),
  BERTH_RATE_LIMIT_ACCOUNT: rate.default(6_000),
  BERTH_RATE_LIMIT_ADDRESS: rate.default(120),
  BERTH_RATE_LIMIT_AGENTS: rate.default(30),
  BERTH_RATE_LIMIT_KEYS: rate.default(30),
  BERTH_RATE_LIMIT_HOOKS: rate.default(60),
  BERTH_SIGN_IN_ATTEMPTS: z.coerce.number().int().min(1).max(1_000).default(10),
  BERTH_MAX_STREAMS_ACCOUNT: z.coerce.number().int().min(1).max(100_000).default(400),
  BERTH_MAX_STREAMS: z.coerce.number().int().min(1).max(100_000).default(100),
  BERTH_STARTING_CREDITS: credits.default("1000"),
  BERTH_MACHINE_PRICE: credits.default("1"),
  BERTH_ASKED_CREDITS: credits.default("100"),
  BERTH_CLIENT_DOCUMENTS: z.stringbool().default(true),
  BERTH_CORS_ORIGINS: list.pipe(z.array(origin)).default([]),
  BERTH_TRUSTED_PROXIES: list.pipe(z.array(network)).default([]),
  BERTH_WEB_ALLOW: list.pipe(z.array(rule)).default(["*"]),
  BERTH_WEB_DENY: list.pipe(z.array(rule)).default([]),
  BERTH_WEB_INSIDE: list.pipe(z.array(authority)).default([]),
  BERTH_WEBHOOKS_INSIDE: list.pipe(z.array(authority)).default([]),
  BERTH_PROVIDERS_INSIDE: list.pipe(z.array(authority)).default([]),
  BERTH_SKILLS_INSIDE: list.pipe(z.array(authority)).default([]),
  ...mailVariables,
  BERTH_NETWORK_LOG_DAYS: z.coerce.number().int().min(1).max(3_650).default(30),
  BERTH_AUDIT_DAYS: z.coerce.number().int().min(1).max(3_650).default(90),
  BERTH_LOG_FORMAT: z.enum(["json", "text"]).optional(),
  BERTH_LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
  ANTHROPIC_API_KEY: z.string().min(1).optional(),
  BERTH_CLAUDE_URL: httpUrl.default("https://api.anthropic.com"),
  BERTH_CHATGPT_URL: httpUrl.default("https://chatgpt.com/backend-api/codex"),
  BERTH_CHATGPT_LOGIN_URL: httpUrl.default("https://auth.openai.com"),
  ANTHROPIC_BASE_URL: httpUrl.default("https://api.anthropic.com"),
  OPENAI_API_KEY: z.string().min(1).optional(),
  OPENAI_BASE_URL: httpUrl.default("https://api.openai.com/v1"),
  GEMINI_API_KEY: z.string().min(1).optional(),
  GEMINI_BASE_URL: httpUrl.default("https://generativelanguage.googleapis.com/v1beta"),
  STRIPE_SECRET_KEY: z.string().min(1).optional(),
  STRIPE_WEBHOOK_SECRET: z.string().min(1).optional(),
  STRIPE_BASE_URL: httpUrl.default("https://api.stripe.com"),
  OTEL_SDK_DISABLED: z.stringbool().default(false),
  OTEL_TRACES_EXPORTER: z.enum(["otlp", "none"]).default("otlp"),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: webUrl.optional(),
  OTEL_TRACES_SAMPLER: z.enum(samplers).default("parentbased_always_on"),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1),
});

/** Reads the environment; nothing else does. An empty variable counts as unset. Throws `ConfigError`. */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  const set = withFiles(present(environment));
  const values = parse(variables, set);
  const pods = kubernetes(values);
  return {
    settings: plainSettings(environment),
    host: values.BERTH_HOST,
    serverName: values.BERTH_SERVER_NAME ?? serverName(values.BERTH_PORT),
    port: values.BERTH_PORT,
    dataFolder: values.BERTH_DATA_DIR ?? defaultDataFolder(set.XDG_DATA_HOME),
    databaseUrl: values.BERTH_DATABASE_URL ?? null,
    secretKey: values.BERTH_SECRET_KEY ?? null,
    publicUrl: values.BERTH_PUBLIC_URL ?? localAddress(values.BERTH_HOST, values.BERTH_PORT),
    https: https(values),
    internalUrl: values.BERTH_INTERNAL_URL ?? null,
    previewDomain: values.BERTH_PREVIEW_DOMAIN,
    oidc: externalIssuer(values),
    imageFolder: values.BERTH_IMAGE_DIR ?? null,
    runtimes: values.BERTH_RUNTIMES,
    acceleration: { choice: values.BERTH_ACCEL, probeMs: values.BERTH_KVM_PROBE_SECONDS * 1000 },
    kubernetes: pods,
    idleMs: values.BERTH_IDLE_SECONDS * 1000,
    stopSuspendMs: values.BERTH_STOP_SUSPEND_SECONDS * 1000,
    approvalMs: values.BERTH_APPROVAL_SECONDS * 1000,
    maximumAwake: values.BERTH_MAX_AGENTS,
    ...capacity(values, pods),
    spareLoad: values.BERTH_SPARE_LOAD,
    accountShare: values.BERTH_ACCOUNT_SHARE,
    maximumWebhooksPerAccount: values.BERTH_MAX_WEBHOOKS_PER_ACCOUNT,
    maximumAutomationsPerAccount: values.BERTH_MAX_AUTOMATIONS_PER_ACCOUNT,
    maximumAgentsPerAccount: values.BERTH_MAX_AGENTS_PER_ACCOUNT,
    maximumWaiting: values.BERTH_MAX_WAITING,
    waitMs: values.BERTH_WAIT_SECONDS * 1000,
    stallMs: values.BERTH_STALL_SECONDS * 1000,
    responseSocketMs,
    rateLimits: {
      requests: values.BERTH_RATE_LIMIT,
      account: values.BERTH_RATE_LIMIT_ACCOUNT,
      address: values.BERTH_RATE_LIMIT_ADDRESS,
      agents: values.BERTH_RATE_LIMIT_AGENTS,
      keys: values.BERTH_RATE_LIMIT_KEYS,
      hooks: values.BERTH_RATE_LIMIT_HOOKS,
    },
    signInAttempts: values.BERTH_SIGN_IN_ATTEMPTS,
    startingCredits: values.BERTH_STARTING_CREDITS,
    machinePrice: values.BERTH_MACHINE_PRICE,
    askedCredits: values.BERTH_ASKED_CREDITS,
    maximumStreams: values.BERTH_MAX_STREAMS,
    maximumAccountStreams: values.BERTH_MAX_STREAMS_ACCOUNT,
    clientDocuments: values.BERTH_CLIENT_DOCUMENTS,
    corsOrigins: values.BERTH_CORS_ORIGINS,
    trustedProxies: values.BERTH_TRUSTED_PROXIES,
    egress: { allow: values.BERTH_WEB_ALLOW, deny: values.BERTH_WEB_DENY },
    egressInside: values.BERTH_WEB_INSIDE,
    webhooksInside: values.BERTH_WEBHOOKS_INSIDE,
    providersInside: values.BERTH_PROVIDERS_INSIDE,
    skillsInside: values.BERTH_SKILLS_INSIDE,
    mail: mail(values),
    networkLogDays: values.BERTH_NETWORK_LOG_DAYS,
    auditDays: values.BERTH_AUDIT_DAYS,
    logFormat: values.BERTH_LOG_FORMAT ?? null,
    logLevel: values.BERTH_LOG_LEVEL,
    traces: traces(values),
    maximumTurnBytes: values.BERTH_MAX_TURN_MIB * mebibyte,
    turnDays: values.BERTH_TURN_DAYS,
    maximumStoredBytes: values.BERTH_MAX_STORED_MIB * mebibyte,
    diskReserveBytes: values.BERTH_DISK_RESERVE_MIB * mebibyte,
    quarantineDays: values.BERTH_QUARANTINE_DAYS,
    stripe: stripe(values),
    ...models(values),
  };
}

/**
 * The address of a service that is not reachable from elsewhere. Passkeys need a name, and browsers trust `localhost`
 * without HTTPS. Null if it listens for others, or at a port that is not known yet.
 */
function localAddress(host: string, port: number): string | null {
  return ["127.0.0.1", "::1", "localhost"].includes(host) && port !== 0 ? `http://localhost:${port}` : null;
}

/** The machines that this server may have. */
function capacity(values: z.output<typeof variables>, pods: KubernetesConfig | null) {
  // A cluster's capacity is known to its scheduler; the memory of the server's own node does not matter.
  const usualMemoryMiB = pods
    ? values.BERTH_MAX_AGENTS * maximumMemoryMiB
    : Math.floor((totalmem() / mebibyte) * usualMemoryPart);
  const memoryMiB = values.BERTH_MEMORY_MIB ?? usualMemoryMiB;
  const usualSpares = pods ? 0 : Math.min(mostSpares, Math.floor(memoryMiB / memoryForSpareMiB));
  return { memoryMiB, spares: values.BERTH_SPARES ?? usualSpares };
}

/** Model providers, and calls of their models. */
function models(values: z.output<typeof variables>) {
  return {
    modelSilenceMs: values.BERTH_MODEL_SILENCE_SECONDS * 1000,
    modelRetryMs: values.BERTH_MODEL_RETRY_SECONDS * 1000,
    prices: pricesIn(values.BERTH_PRICES_FILE),
    hostedTools: values.BERTH_HOSTED_TOOLS,
    allowUnpriced: values.BERTH_UNPRICED_MODELS === "allow",
    anthropic: account(values.ANTHROPIC_BASE_URL, values.ANTHROPIC_API_KEY),
    openai: account(values.OPENAI_BASE_URL, values.OPENAI_API_KEY),
    google: account(values.GEMINI_BASE_URL, values.GEMINI_API_KEY),
    subscriptions: {
      claude: values.BERTH_CLAUDE_URL,
      chatGpt: values.BERTH_CHATGPT_URL,
      chatGptLogin: values.BERTH_CHATGPT_LOGIN_URL,
    },
  };
}

/** Reads where machines in pods are to be, whatever else is set. Throws `ConfigError`. */
export function readClusterConfig(environment: NodeJS.ProcessEnv): ClusterConfig {
  return cluster(parse(z.object(clusterVariables), present(environment)));
}

function kubernetes(values: z.output<typeof variables>): KubernetesConfig | null {
  const image = values.BERTH_KUBERNETES_IMAGE;
  if (image === undefined) return null;
  const missing = (["BERTH_DATABASE_URL", "BERTH_SECRET_KEY"] as const).filter((name) => values[name] === undefined);
  if (missing.length > 0) {
    throw new ConfigError(
      `With BERTH_KUBERNETES_IMAGE, ${missing.join(" and ")} must be set: nothing of the service is in one server's folder.`,
    );
  }
  return { ...cluster(values), image };
}

function cluster(values: z.output<z.ZodObject<typeof clusterVariables>>): ClusterConfig {
  return {
    image: values.BERTH_KUBERNETES_IMAGE ?? null,
    imagePullPolicy: values.BERTH_KUBERNETES_PULL,
    namespace: values.BERTH_KUBERNETES_NAMESPACE,
    storageClass: values.BERTH_KUBERNETES_STORAGE_CLASS ?? null,
    kvmResource: values.BERTH_KUBERNETES_KVM ?? null,
    kubeconfig: values.KUBECONFIG ?? null,
  };
}

/** The non-secret settings that are set: a backup contains them for setting the service up again. */
function plainSettings(environment: NodeJS.ProcessEnv): Record<string, string> {
  const secret = new Set<string>(secretVariables);
  const names = [...Object.keys(variables.shape).filter((name) => !secret.has(name)), ...fileVariables()];
  return Object.fromEntries(names.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])));
}

function externalIssuer(values: z.infer<typeof variables>): ExternalIssuer | null {
  const { BERTH_OIDC_ISSUER: issuer, BERTH_OIDC_AUDIENCE: audience, BERTH_OIDC_CLIENT_ID: clientId } = values;
  if (issuer === undefined) {
    if (audience === undefined) return null;
    throw new ConfigError("BERTH_OIDC_AUDIENCE: it is for an issuer; BERTH_OIDC_ISSUER is not set.");
  }
  if (audience === undefined) {
    throw new ConfigError("BERTH_OIDC_AUDIENCE: with BERTH_OIDC_ISSUER it is needed: the `aud` of its tokens.");
  }
  return { issuer, audience, clientId, unknownKeyMs };
}

function stripe(values: z.infer<typeof variables>): Config["stripe"] {
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecret, STRIPE_BASE_URL: apiUrl } = values;
  if (secretKey === undefined) return null;
  if (webhookSecret !== undefined) return { secretKey, webhookSecret, apiUrl };
  throw new ConfigError("STRIPE_WEBHOOK_SECRET: with STRIPE_SECRET_KEY it is needed: the webhook's `whsec_…`.");
}

/** Several servers may be on one machine. A port that is to be found is not known yet. */
function serverName(port: number): string {
  return port === 0 ? hostname() : `${hostname()}:${port}`;
}

function traces(values: z.infer<typeof variables>): Config["traces"] {
  const base = values.OTEL_EXPORTER_OTLP_ENDPOINT;
  const url = values.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? (base === undefined ? null : `${base}/v1/traces`);
  if (url === null || values.OTEL_SDK_DISABLED || values.OTEL_TRACES_EXPORTER === "none") return null;
  const { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: part } = values;
  return { url, ratio: sampler.endsWith("always_off") ? 0 : sampler.endsWith("always_on") ? 1 : part };
}

function pricesIn(file: string | undefined): Config["prices"] {
  if (file === undefined) return {};
  try {
    return readPrices(file);
  } catch (error) {
    throw new ConfigError(`BERTH_PRICES_FILE: ${(error as Error).message}`, { cause: error });
  }
}

function account(baseUrl: string, apiKey: string | undefined): ProviderAccount | null {
  return apiKey === undefined ? null : { baseUrl, apiKey };
}

/** Not in root's home, which the users of machines and the database cannot enter. */
function defaultDataFolder(xdgDataHome: string | undefined): string {
  if (process.getuid?.() === 0) return "/var/lib/berth";
  return join(xdgDataHome ?? join(homedir(), ".local", "share"), "berth");
}
