/** Where the service is reached. The port is known once it listens, since 0 takes a free one. */
export class ServiceAddress {
  readonly #publicUrl: string | null;
  #listening = "";

  /** `publicUrl`: what the operator has configured; null: where the service listens. */
  constructor(publicUrl: string | null) {
    this.#publicUrl = publicUrl;
  }

  /** Notes where the service listens, `http://HOST:PORT`. */
  listensAt(url: string): void {
    this.#listening = url;
  }

  /** Where the service listens, `http://HOST:PORT`. */
  get listening(): string {
    return this.#listening;
  }

  /** Where clients reach the service, without a slash at its end. */
  get public(): string {
    return this.#publicUrl ?? this.#listening;
  }
}
