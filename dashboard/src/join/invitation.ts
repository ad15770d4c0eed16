const stored = "berth invitation";

/**
 * Keeps the token of an invitation's link in this tab: the sign-in returns without the fragment, and the address bar
 * and the history should not have it.
 */
export function keepInvitation(token: string): void {
  sessionStorage.setItem(stored, token);
}

export function keptInvitation(): string | null {
  return sessionStorage.getItem(stored);
}

export function discardInvitation(): void {
  sessionStorage.removeItem(stored);
}
