/** The service's addresses. With port 0, the port is known only once it listens. */
export class ServiceAddress {
  readonly #publicUrl: string | null;
  #listening = "";
  #secure: string | null = null;

  /** `publicUrl`: the configured URL; null: where the service listens. */
  constructor(publicUrl: string | null) {
    this.#publicUrl = publicUrl;
  }

  /** Sets where the service listens, `http://HOST:PORT`. */
  listensAt(url: string): void {
    this.#listening = url;
  }

  /** Sets where it speaks HTTPS, `https://HOST:PORT`. */
  listensSecurelyAt(url: string): void {
    this.#secure = url;
  }

  /** All addresses where the service listens. */
  get listening(): string[] {
    return this.#secure === null ? [this.#listening] : [this.#listening, this.#secure];
  }

  /** The service's public URL, without a trailing slash. */
  get public(): string {
    return this.#publicUrl ?? this.#listening;
  }
}
