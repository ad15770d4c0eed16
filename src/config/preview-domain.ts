import type { Config } from "./config.ts";

/** Why previews are served unsafely: pages that agents wrote are as hostile as those of strangers. */
export function previewWarnings({ previewDomain, publicUrl }: Pick<Config, "previewDomain" | "publicUrl">): string[] {
  if (publicUrl === null || previewDomain === "localhost") return [];
  const { protocol, hostname } = new URL(publicUrl);
  const warnings: string[] = [];
  if (protocol !== "https:")
    warnings.push(
      "BERTH_PREVIEW_DOMAIN without TLS: browsers do not say which page asks, so agents' pages can load each other",
    );
  if (registrable(hostname) === registrable(previewDomain))
    warnings.push(
      `BERTH_PREVIEW_DOMAIN shares ${registrable(hostname)} with BERTH_PUBLIC_URL: agents' pages can set cookies there`,
    );
  return warnings;
}

/** The last two labels of a name: a guess at what one owner has registered, and what browsers take for one site. */
function registrable(name: string): string {
  return name.split(".").slice(-2).join(".");
}
