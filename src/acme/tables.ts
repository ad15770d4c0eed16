import type { Generated } from "kysely";
import type { AcmeConfig } from "../config/config.ts";

/** The tables of ACME, after all migrations. */
export interface AcmeTables {
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
}
