/** A failure's message for users. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
