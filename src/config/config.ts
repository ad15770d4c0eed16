/** All that an installation can set, checked. */
export interface Config {
  host: string;
  /** 0 takes a free one. */
  port: number;
  dataFolder: string;
  /** Null: PostgreSQL is run under the data folder. */
  databaseUrl: string | null;
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
  logLevel: "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "silent";
  /** The models' providers that there are keys of. With neither, the demonstration model answers. */
  anthropic: ProviderAccount | null;
  openai: ProviderAccount | null;
}

export interface ProviderAccount {
  /** Without a slash at its end. */
  baseUrl: string;
  apiKey: string;
}
