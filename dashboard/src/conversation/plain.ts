/** The words of a reply, without Markdown's syntax. */
export function plainOf(reply: string): string {
  return reply
    .replaceAll(/^```.*$|^[#>|\s-]+|\|/gm, " ")
    .replaceAll(/[*`]/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}
