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
  /** A turn in which nothing has happened for so long has failed. */
  stallMs: number;
  logLevel: "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "silent";
  /** Null: the demonstration model answers. */
  anthropic: { baseUrl: string; apiKey: string } | null;
}
