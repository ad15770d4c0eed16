import type { ModelPrice } from "../contract/models.ts";
/** All that an installation can set, checked. */
export interface Config {
  host: string;
  /** 0 takes a free one. */
  port: number;
  dataFolder: string;
  /** Null: PostgreSQL is run under the data folder. */
  databaseUrl: string | null;
  /** 32 bytes in base64; null: `secret.key` in the data folder. */
  secretKey: string | null;
  /** Where clients reach the service, without a slash at its end; null: where it listens. */
  publicUrl: string | null;
  /** The identity provider whose tokens are taken; null: the one that the service has itself. */
  oidc: ExternalIssuer | null;
  /** The built guest image; null: the one that the checkout's last build made. */
  imageFolder: string | null;
  accelerator: "auto" | "kvm" | "tcg";
  /** An agent that nobody needed for so long is suspended; 0: never. */
  idleMs: number;
  /** How many agents may be awake at once. */
  maximumAwake: number;
  /** The memory that all machines that run may have together, MiB. */
  memoryMiB: number;
  /** The part of the places for machines, above 0 and up to 1, that one account has at most where there are others. */
  accountShare: number;
  /** How many agents may wait for a place, and how long. */
  maximumWaiting: number;
  waitMs: number;
  /** A turn in which nothing has happened for so long has failed. */
  stallMs: number;
  /** A model's provider that sends nothing for so long is given up. */
  modelSilenceMs: number;
  /** For so long a model call that was refused for a passing reason is made again. */
  modelRetryMs: number;
  /** How often a minute; 0: as often as anybody wants. */
  rateLimits: {
    /** Requests of one key. */
    requests: number;
    /** Requests without a valid key, of one address. */
    address: number;
    /** Agents and keys made by one account. */
    agents: number;
    keys: number;
  };
  /** How many wrong passwords a user's name, and five times as many an address, may have in a quarter of an hour. */
  signInAttempts: number;
  /** What a new account begins with: a decimal number of credits. */
  startingCredits: string;
  /** For a GiB of a machine's memory and an hour: a decimal number of credits. */
  machinePrice: string;
  /** How many event streams one key may have open at one server. */
  maximumStreams: number;
  /** The origins, `https://HOST`, whose pages in a browser may call the interface. */
  corsOrigins: readonly string[];
  /** Addresses and networks of the proxies whose word on a client's address is taken. */
  trustedProxies: readonly string[];
  /** Where agents may connect to and where not, as rules in their normal spelling. */
  egress: { allow: string[]; deny: string[] };
  /** `HOST:PORT` that agents may connect with although their addresses are inside. */
  egressInside: readonly string[];
  /** For how long the log of agents' connections is kept. */
  networkLogDays: number;
  /** For how long the audit log is kept. */
  auditDays: number;
  logLevel: "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "silent";
  /**
   * The operator's own prices, in whole micro-credits for a million tokens, by models' ids; an id that ends in `*` is for
   * all that begin so.
   */
  prices: Readonly<Record<string, ModelPrice>>;
  /** Whether models without a price answer, for nothing. */
  allowUnpriced: boolean;
  /** A turn whose events take more bytes fails. */
  maximumTurnBytes: number;
  /** Names of tools that providers run and that every agent may use. */
  hostedTools: readonly string[];
  /** The models' providers that there are keys of. With neither, the demonstration model answers. */
  anthropic: ProviderAccount | null;
  openai: ProviderAccount | null;
  /** Card payments; null: none. */
  stripe: { secretKey: string; webhookSecret: string; apiUrl: string } | null;
}

/** An OpenID provider elsewhere. */
export interface ExternalIssuer {
  /** Exactly as its tokens name it. */
  issuer: string;
  /** What its tokens for this service have as `aud`. */
  audience: string;
  /** What the tool and the dashboard are called there. */
  clientId: string;
  /** Between two requests for its keys because of tokens that name one that is not known. */
  unknownKeyMs: number;
}

export interface ProviderAccount {
  /** Without a slash at its end. */
  baseUrl: string;
  apiKey: string;
}
