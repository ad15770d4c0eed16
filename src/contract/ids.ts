/** An id of the service: a lowercase UUID. */
export const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether the text can be an id. The database rejects anything else. */
export function isUuid(text: string): boolean {
  return uuidPattern.test(text);
}
