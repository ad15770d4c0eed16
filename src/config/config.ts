import type { ModelPrice } from "../contract/models.ts";
import type { MailConfig } from "./mail.ts";
/** The validated configuration. */
export interface Config {
  host: string;
  /** This server's name in measurements and traces, which distinguishes it from the installation's others. */
  serverName: string;
  /** The variables that are set, as they are given, without those that hold secrets. */
  settings: Readonly<Record<string, string>>;
  /** 0 picks a free port. */
  port: number;
  dataFolder: string;
  /** Null: run PostgreSQL in the data folder. */
  databaseUrl: string | null;
  /** 32 bytes in base64; null: `secret.key` in the data folder. */
  secretKey: string | null;
  /** The service's public URL, without a trailing slash; null: where it listens. */
  publicUrl: string | null;
  /** Null: the service speaks HTTP only. */
  https: HttpsConfig | null;
  /** Where this installation's other servers reach this one, without a trailing slash; null: where it listens. */
  internalUrl: string | null;
  /** The domain under which the pages that agents serve have their hosts. */
  previewDomain: string;
  /** The identity provider whose tokens are accepted; null: the built-in one. */
  oidc: ExternalIssuer | null;
  /** The built guest image; null: the checkout's last build. */
  imageFolder: string | null;
  /** The names of the runtimes that new agents may have, their default first. */
  runtimes: readonly string[];
  /** Which accelerator machines use, and how long a trial guest may take to prove KVM. */
  acceleration: { choice: "auto" | "kvm" | "tcg"; probeMs: number };
  /** Where machines are pods of a Kubernetes cluster; null: processes of this host. */
  kubernetes: KubernetesConfig | null;
  /** Suspend an agent after it has been idle for this long; 0: never. */
  idleMs: number;
  /** How long a stop of the server may take to suspend awake agents; 0: their machines keep running. */
  stopSuspendMs: number;
  /** How long an approval waits for an answer before it is denied. */
  approvalMs: number;
  /** The maximum number of agents awake at once. */
  maximumAwake: number;
  /** Total memory of all running machines, in MiB. */
  memoryMiB: number;
  /** How many machines wait for new agents, one for each runtime that was used lately. */
  spares: number;
  /** None is made while the share of the processors' time in use is at this or above. Above 1: no limit. */
  spareLoad: number;
  /** The most that one account may have of all slots when others want some: above 0, up to 1. */
  accountShare: number;
  /** How many agents may wait for a slot, and for how long. */
  maximumWaiting: number;
  /** How many webhooks an account may have. */
  maximumWebhooksPerAccount: number;
  /** How many automations an account may have. */
  maximumAutomationsPerAccount: number;
  /** How many agents an account may have. */
  maximumAgentsPerAccount: number;
  waitMs: number;
  /** Fail a turn after this many silent milliseconds, unless a tool is running. */
  stallMs: number;
  /** How long a WebSocket of `/v1/responses` takes requests. */
  responseSocketMs: number;
  /** Abandon a model call after this many silent milliseconds. */
  modelSilenceMs: number;
  /** Retry transient model errors for this many milliseconds. */
  modelRetryMs: number;
  /** Per minute; 0: no limit. */
  rateLimits: {
    /** Requests per key. */
    requests: number;
    /** Requests per account, with all its keys and people. */
    account: number;
    /** Requests without a valid key, per address. */
    address: number;
    /** New agents, and new keys, per account. */
    agents: number;
    keys: number;
    /** Verified deliveries per hook. */
    hooks: number;
  };
  /** Failed sign-ins per user name within 15 minutes. An address may have five times as many. */
  signInAttempts: number;
  /** A new account's balance, as decimal credits. */
  startingCredits: string;
  /** Price per GiB of machine memory and hour, as decimal credits. */
  machinePrice: string;
  /** The most that all turns may cost that agents ask of each other within one turn of a client, as decimal credits. */
  askedCredits: string;
  /** How many event streams a key may have open at one server. */
  maximumStreams: number;
  /** How many event streams an account may have open at one server. */
  maximumAccountStreams: number;
  /** The origins, `https://HOST`, whose web pages may call the API. */
  corsOrigins: readonly string[];
  /** Whether programs may be known to the sign-in by a document on the web. */
  clientDocuments: boolean;
  /** Addresses and networks of the proxies that are trusted to report a client's address. */
  trustedProxies: readonly string[];
  /** Where agents may and may not connect, as rules in normal form. */
  egress: { allow: string[]; deny: string[] };
  /** `HOST:PORT` that agents may connect to although their addresses are private. */
  egressInside: readonly string[];
  /** `HOST:PORT` that webhooks may call although their addresses are private, also by http. */
  webhooksInside: readonly string[];
  /** `HOST:PORT` that workspaces' providers of models may be at although their addresses are private, also by http. */
  providersInside: readonly string[];
  /** `HOST:PORT` that skills may be read from although their addresses are private, also by http. */
  skillsInside: readonly string[];
  /** Null: the server sends no mail. */
  mail: MailConfig | null;
  /** How long the log of agents' connections is kept. */
  networkLogDays: number;
  /** How long the audit log is kept. */
  auditDays: number;
  /** Null: text on a terminal, otherwise JSON. */
  logFormat: "json" | "text" | null;
  /**
   * The address for traces, as OTLP in JSON over HTTP, and the sampled fraction, from 0 to 1; null: no traces. The SDK
   * reads other variables, `OTEL_…`, itself.
   */
  traces: { url: string; ratio: number } | null;
  logLevel: "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "silent";
  /**
   * The operator's own prices by model id, in whole micro-credits per million tokens. An id that ends in `*` matches a
   * prefix.
   */
  prices: Readonly<Record<string, ModelPrice>>;
  /** Whether models without a price may be used, for free. */
  allowUnpriced: boolean;
  /** Free space of the data folder's disk below which nothing new begins, in bytes. */
  diskReserveBytes: number;
  /** How many days files without a row stay in the quarantine. */
  quarantineDays: number;
  /** How long finished turns are kept; 0: for ever. */
  turnDays: number;
  /** How many bytes an account's finished turns may take, beyond which the oldest go; 0: no limit. */
  maximumStoredBytes: number;
  /** The limit of a turn's events, in bytes; a turn that exceeds it fails. */
  maximumTurnBytes: number;
  /** Names of tools that providers run and that every agent may use. */
  hostedTools: readonly string[];
  /** Model providers; null without a key. If all are null, the demo model answers. */
  anthropic: ProviderAccount | null;
  openai: ProviderAccount | null;
  google: ProviderAccount | null;
  subscriptions: SubscriptionUrls;
  /** Card payments; null: disabled. */
  stripe: { secretKey: string; webhookSecret: string; apiUrl: string } | null;
}

/** A certificate with its chain, and its private key, in PEM. */
export interface CertificateFiles {
  certificateFile: string;
  keyFile: string;
}

/** Where a server listens. */
export interface ListenAddress {
  /** Null: all addresses. */
  host: string | null;
  /** 0 picks a free port. */
  port: number;
}

/** Where the service speaks HTTPS, in addition to HTTP at `host` and `port`. */
export interface HttpsConfig extends ListenAddress {
  /** The files of the certificate; null: `acme`. */
  files: CertificateFiles | null;
  /** How the certificate is ordered; null: `files`. */
  acme: AcmeConfig | null;
  /** Where plain HTTP is redirected to the public URL; null: nowhere. */
  redirect: ListenAddress | null;
  /** For how long browsers use HTTPS only (RFC 6797); 0: not sent. */
  hstsSeconds: number;
}

/** Where a certificate is ordered (RFC 8555), whose terms of service the operator has agreed to. */
export interface AcmeConfig {
  /** The name that the certificate is for. */
  name: string;
  /** The URL of the directory. */
  directory: string;
  /** The authorities, in PEM, of the directory's own certificate; null: the public ones. */
  caFile: string | null;
  challenge: "http-01" | "tls-alpn-01";
  /** Where the directory may write to; null: it gets no address. */
  email: string | null;
}

/** A cluster whose pods are the machines. */
export interface KubernetesConfig extends ClusterConfig {
  image: string;
}

export interface ClusterConfig {
  /** The namespace of the machines. Servers with the same one lead the same machines. */
  namespace: string;
  /** The container image of machines' pods; null: machines are not in pods. */
  image: string | null;
  imagePullPolicy: "IfNotPresent" | "Never" | "Always";
  /** Null: the cluster's default. */
  storageClass: string | null;
  /** The resource of a device plugin for /dev/kvm, such as `devices.kubevirt.io/kvm`; null: machines are emulated. */
  kvmResource: string | null;
  /** A file that says where the cluster is; null: this server is a pod of it. */
  kubeconfig: string | null;
}

/** An external OpenID provider. */
export interface ExternalIssuer {
  /** Exactly as in its tokens. */
  issuer: string;
  /** The `aud` of its tokens for this service. */
  audience: string;
  /** The client id of the CLI and the dashboard there. */
  clientId: string;
  /** Pause between two fetches of keys that are caused by tokens with an unknown key. */
  unknownKeyMs: number;
}

export interface ProviderAccount {
  /** Without a trailing slash. */
  baseUrl: string;
  apiKey: string;
}

/** The vendors' addresses for subscriptions. */
interface SubscriptionUrls {
  claude: string;
  /** ChatGPT's backend for Codex. */
  chatGpt: string;
  chatGptLogin: string;
}
