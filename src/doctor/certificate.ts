import { failedOrder } from "../acme/acme.ts";
import type { CertificateFiles, Config } from "../config/config.ts";
import type { Finding } from "../contract/finding.ts";
import { Readiness } from "../contract/health.ts";
import { checkKeyPair, describe, isFor, readKeyPair } from "../https/certificate.ts";

/** Automatic renewals of certificates that are valid for 90 days run 30 days before the end. */
const wantedDays = 14;
const dayMs = 86_400_000;
const readyMs = 5_000;

type Result = Omit<Finding, "name">;

/** Checks the files of the certificate, or what the running server says about the one that it orders. */
export async function certificateFinding(config: Config): Promise<Result> {
  if (config.https === null) return { ok: true, found: "none: HTTP only" };
  return config.https.files ? ofFiles(config.https.files, config) : ofServer(config);
}

async function ofFiles(files: CertificateFiles, { publicUrl, previewDomain }: Config): Promise<Result> {
  const certificate = checkKeyPair(await readKeyPair(files));
  const { leaf, expiresAt } = certificate;
  const found = describe(certificate);
  const hosts = [new URL(publicUrl!).hostname, ...(previewDomain === "localhost" ? [] : [`preview.${previewDomain}`])];
  const missing = hosts.filter((host) => !isFor(leaf, host)).map((host) => host.replace(/^preview\./, "*."));
  if (missing.length > 0) {
    const problem = `The certificate is not for ${missing.join(" and ")}.`;
    return { ok: false, found, problem, fix: "add the name to the certificate, or change BERTH_PUBLIC_URL" };
  }
  const days = Math.floor((expiresAt.getTime() - Date.now()) / dayMs);
  if (days >= wantedDays) return { ok: true, found };
  const problem = `The certificate expires in ${days} days. The server uses renewed files within seconds.`;
  return { ok: false, found, problem, fix: "renew the certificate" };
}

async function ofServer({ host, port, https }: Config): Promise<Result> {
  const { name, directory } = https!.acme!;
  const at = { "0.0.0.0": "127.0.0.1", "::": "[::1]" }[host] ?? (host.includes(":") ? `[${host}]` : host);
  try {
    const response = await fetch(`http://${at}:${port}/readyz`, { signal: AbortSignal.timeout(readyMs) });
    const { certificate } = Readiness.parse(await response.json()).checks;
    if (!certificate) return { ok: true, found: `ordered by ACME; the server at port ${port} has other settings` };
    const { ok, message } = certificate;
    if (ok && !message.includes(failedOrder)) return { ok, found: message };
    return { ok: false, found: name, problem: message, fix: "correct the reason, then send SIGHUP to the server" };
  } catch {
    return { ok: true, found: `${name}, ordered from ${directory} while the server runs; it does not run now` };
  }
}
