/** An id of the service: a lowercase UUID. */
export const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether the text can be an id. The database rejects anything else. */
export function isUuid(text: string): boolean {
  return uuidPattern.test(text);
}

/** An id's 32 hexadecimal digits. */
export function hexOf(id: string): string {
  return id.replaceAll("-", "");
}

/** The id with these 32 hexadecimal digits; the text itself if it is anything else. */
export function uuidOf(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
