/**
 * The token of a link that was opened, kept in this tab: the sign-in returns without the fragment, and the address bar and
 * the history should not have it.
 */
class LinkToken {
  readonly #stored: string;

  constructor(stored: string) {
    this.#stored = stored;
  }

  keep(token: string): void {
    sessionStorage.setItem(this.#stored, token);
  }

  kept(): string | null {
    return sessionStorage.getItem(this.#stored);
  }

  discard(): void {
    sessionStorage.removeItem(this.#stored);
  }
}

export const invitationToken = new LinkToken("berth invitation");
export const mailToken = new LinkToken("berth mail");
