/** The header `content-disposition` of a download with this file name (RFC 6266, RFC 8187). */
export function attachmentNamed(name: string): string {
  // encodeURIComponent leaves these, which RFC 8187 does not allow.
  const encoded = encodeURIComponent(name.toWellFormed()).replace(/['()*]/g, percentEncoded);
  return `attachment; filename*=UTF-8''${encoded}`;
}

function percentEncoded(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
