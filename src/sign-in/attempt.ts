/** An attempt to sign in or, without a name, to enter a device code. */
export interface SignInAttempt {
  /** As `userNameKey` returns it. */
  name: string | null;
  address: string;
  /** The browser's id, if that user has used it before. */
  device: string | null;
}
