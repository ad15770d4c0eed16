import type { ServiceAddress } from "../config/address.ts";
/** The host names of previews: `PORT--AGENT--ACCOUNT.DOMAIN`. */
export class PreviewHosts {
  readonly #suffix: string;
  readonly #address: ServiceAddress;

  /** Previews have the scheme and the port of the service's own `address`. */
  constructor(domain: string, address: ServiceAddress) {
    this.#suffix = `.${domain}`;
    this.#address = address;
  }

  /**
   * The label before the domain in a `Host` header; null if the host is none of a preview. A label with `--` is always a
   * preview's, so that none of these names ever reaches the API.
   */
  labelIn(host: string | undefined): string | null {
    const name = host?.toLowerCase().replace(/:\d*$/, "").replace(/\.$/, "");
    if (!name?.endsWith(this.#suffix)) return null;
    const label = name.slice(0, -this.#suffix.length);
    return label.includes("--") ? label : null;
  }

  /** The address of a preview's page, whose `path` begins with a slash. */
  url(label: string, path: string): string {
    const own = new URL(this.#address.public);
    return `${own.protocol}//${label}${this.#suffix}${own.port === "" ? "" : `:${own.port}`}${path}`;
  }

  /** The origins of all previews, for a Content-Security-Policy. */
  get source(): string {
    return this.url("*", "");
  }

  /** The origin that may frame previews: the dashboard's. */
  get framer(): string {
    return new URL(this.#address.public).origin;
  }

  /** Whether previews are served over TLS. */
  get isSecure(): boolean {
    return this.#address.public.startsWith("https:");
  }
}
