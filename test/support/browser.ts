/** A page in a browser. */
export interface Page {
  url: string;
  status: number;
  headers: Headers;
  text: string;
}

/**
 * The parts of a browser that forms need: cookies with paths, redirects, and the fields of a page's form. Does not
 * follow redirects to addresses other than the service's.
 */
export class Browser {
  readonly #cookies = new Map<string, { name: string; value: string; path: string }>();

  readonly #headers: Record<string, string>;

  /** `headers`: sent with each request. */
  constructor(headers: Record<string, string> = {}) {
    this.#headers = headers;
  }

  async get(url: string): Promise<Page> {
    return this.#go(url, { method: "GET" });
  }

  /** Submits the page's form with its own fields and these. */
  async submit({ url, text }: Page, fields: Record<string, string>): Promise<Page> {
    const action = attribute(/<form[^>]*>/.exec(text)![0], "action")!;
    const own = [...text.matchAll(/<input[^>]*>/g)]
      .map(([tag]) => [attribute(tag, "name"), attribute(tag, "value") ?? ""] as const)
      .filter((field): field is [string, string] => field[0] !== null);
    const body = new URLSearchParams({ ...Object.fromEntries(own), ...fields });
    return this.#go(new URL(action, url).href, { method: "POST", body });
  }

  /** Keeps the cookies of an answer that a page's script got. */
  take({ headers }: { headers: Headers }): void {
    for (const line of headers.getSetCookie()) this.#keep(line);
  }

  /** Loses a cookie. */
  forget(cookie: string): void {
    for (const [key, { name }] of this.#cookies) if (name === cookie) this.#cookies.delete(key);
  }

  /** Every secret it received, to search stored data for. */
  get secrets(): string[] {
    return [...this.#cookies.values()].map(({ value }) => value);
  }

  async #go(url: string, init: RequestInit): Promise<Page> {
    const { pathname, origin } = new URL(url);
    const sent = [...this.#cookies.values()].filter(({ path }) => pathname.startsWith(path));
    const cookie = sent.map(({ name, value }) => `${name}=${value}`).join("; ");
    const response = await fetch(url, {
      ...init,
      redirect: "manual",
      headers: { ...this.#headers, cookie, accept: "text/html" },
    });
    for (const line of response.headers.getSetCookie()) this.#keep(line);
    const { status, headers } = response;
    const location = headers.get("location");
    if (location === null) return { url, status, headers, text: await response.text() };
    const next = new URL(location, url);
    // The dashboard itself does not exist here. Its address, with the code, is the result.
    if (next.origin !== origin || next.pathname === "/") return { url: next.href, status, headers, text: "" };
    return this.#go(next.href, { method: "GET" });
  }

  #keep(line: string): void {
    const [pair, ...attributes] = line.split("; ");
    const [name, value] = [pair!.slice(0, pair!.indexOf("=")), pair!.slice(pair!.indexOf("=") + 1)];
    const path = attributes.find((each) => each.startsWith("path="))?.slice(5) ?? "/";
    const key = `${name} ${path}`;
    if (value === "") this.#cookies.delete(key);
    else this.#cookies.set(key, { name, value, path });
  }
}

function attribute(tag: string, name: string): string | null {
  const value = new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1];
  return value?.replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&amp;", "&") ?? null;
}
