/** The service's addresses. With port 0, the port is known only once it listens. */
export class ServiceAddress {
  readonly #publicUrl: string | null;
  #listening = "";

  /** `publicUrl`: the configured URL; null: where the service listens. */
  constructor(publicUrl: string | null) {
    this.#publicUrl = publicUrl;
  }

  /** Sets where the service listens, `http://HOST:PORT`. */
  listensAt(url: string): void {
    this.#listening = url;
  }

  /** Where the service listens, `http://HOST:PORT`. */
  get listening(): string {
    return this.#listening;
  }

  /** The service's public URL, without a trailing slash. */
  get public(): string {
    return this.#publicUrl ?? this.#listening;
  }
}
