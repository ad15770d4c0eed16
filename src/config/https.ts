import { isIP } from "node:net";
import { z } from "zod";
import type { AcmeConfig, Config, HttpsConfig } from "./config.ts";
import { ConfigError, path, port } from "./variables.ts";

/** Two years: browsers' lists ask for one. */
const mostHstsSeconds = 63_072_000;

/** Where the service speaks HTTPS, and where its certificate is from. */
export const httpsVariables = {
  BERTH_TLS_CERT_FILE: path.optional(),
  BERTH_TLS_KEY_FILE: path.optional(),
  BERTH_TLS_HOST: z.string().min(1).optional(),
  BERTH_TLS_PORT: port.default(7443),
  BERTH_ACME: z.stringbool().default(false),
  BERTH_ACME_AGREE_TERMS: z.stringbool().default(false),
  BERTH_ACME_EMAIL: z.email("An address such as admin@example.com.").max(320).optional(),
  BERTH_ACME_CHALLENGE: z.enum(["http-01", "tls-alpn-01"]).default("http-01"),
  BERTH_ACME_DIRECTORY: z
    .url({ protocol: /^https$/, error: "Must be a URL that begins with https://." })
    .max(2_000)
    .default("https://acme-v02.api.letsencrypt.org/directory"),
  BERTH_ACME_DIRECTORY_CA_FILE: path.optional(),
  BERTH_HTTP_REDIRECT_HOST: z.string().min(1).optional(),
  BERTH_HTTP_REDIRECT_PORT: port.optional(),
  BERTH_HSTS_SECONDS: z.coerce.number().int().min(0).max(mostHstsSeconds).default(0),
};

type Values = z.output<z.ZodObject<typeof httpsVariables>> & {
  BERTH_PUBLIC_URL?: string | undefined;
  BERTH_PREVIEW_DOMAIN: string;
};

/** Throws `ConfigError`. */
export function https(values: Values): Config["https"] {
  const files = certificateFiles(values);
  const acme = values.BERTH_ACME ? acmeOf(values, files) : null;
  if (files === null && acme === null) {
    requireUnset(values);
    return null;
  }
  if (!values.BERTH_PUBLIC_URL?.startsWith("https:")) {
    const setting = acme ? "BERTH_ACME" : "BERTH_TLS_CERT_FILE";
    throw new ConfigError(
      `BERTH_PUBLIC_URL: with ${setting}, set it to the address of the service, such as https://berth.example:7443.`,
    );
  }
  const host = values.BERTH_TLS_HOST ?? null;
  return {
    files,
    acme,
    host,
    port: values.BERTH_TLS_PORT,
    redirect: redirect(values, acme, host),
    hstsSeconds: values.BERTH_HSTS_SECONDS,
  };
}

function certificateFiles(values: Values): HttpsConfig["files"] {
  const { BERTH_TLS_CERT_FILE: certificateFile, BERTH_TLS_KEY_FILE: keyFile } = values;
  if (certificateFile === undefined && keyFile === undefined) return null;
  if (certificateFile !== undefined && keyFile !== undefined) return { certificateFile, keyFile };
  throw new ConfigError("BERTH_TLS_CERT_FILE and BERTH_TLS_KEY_FILE: set both, or neither.");
}

function acmeOf(values: Values, files: HttpsConfig["files"]): AcmeConfig {
  if (files !== null) throw new ConfigError("BERTH_ACME and BERTH_TLS_CERT_FILE: set one of them.");
  if (!values.BERTH_ACME_AGREE_TERMS) {
    throw new ConfigError(
      "BERTH_ACME_AGREE_TERMS: read the terms of service of BERTH_ACME_DIRECTORY, and set it to true if you agree. Let's Encrypt's are at https://letsencrypt.org/repository/.",
    );
  }
  const name = URL.parse(values.BERTH_PUBLIC_URL ?? "")?.hostname ?? "";
  if (isIP(name.replace(/^\[(.*)\]$/, "$1")) || !name.includes(".")) {
    throw new ConfigError(
      "BERTH_PUBLIC_URL: with BERTH_ACME, set it to https:// and a public name, such as https://berth.example.com.",
    );
  }
  if (values.BERTH_PREVIEW_DOMAIN !== "localhost") {
    throw new ConfigError(
      "BERTH_PREVIEW_DOMAIN: its pages need a wildcard certificate, which needs the challenge DNS-01. BERTH_ACME does not offer it: use certificate files, or a proxy.",
    );
  }
  return {
    name,
    directory: values.BERTH_ACME_DIRECTORY,
    caFile: values.BERTH_ACME_DIRECTORY_CA_FILE ?? null,
    challenge: values.BERTH_ACME_CHALLENGE,
    email: values.BERTH_ACME_EMAIL ?? null,
  };
}

/** Directories connect to port 80 for HTTP-01. */
function redirect(values: Values, acme: AcmeConfig | null, host: string | null): HttpsConfig["redirect"] {
  const number = values.BERTH_HTTP_REDIRECT_PORT ?? (acme?.challenge === "http-01" ? 80 : null);
  return number === null ? null : { host: values.BERTH_HTTP_REDIRECT_HOST ?? host, port: number };
}

function requireUnset(values: Values): void {
  const names = ["BERTH_HTTP_REDIRECT_PORT", "BERTH_HSTS_SECONDS"] as const;
  const set = names.find((name) => values[name]);
  if (set) throw new ConfigError(`${set}: it needs HTTPS; set BERTH_TLS_CERT_FILE or BERTH_ACME too.`);
}
