/** An id of ours: a UUID in small letters. */
export const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** False for what cannot be an id of ours, which the database would refuse as one. */
export function isUuid(text: string): boolean {
  return uuidPattern.test(text);
}
