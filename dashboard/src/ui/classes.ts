/** Joins the classes that are set. */
export function classes(...each: (string | false | null | undefined)[]): string {
  return each.filter(Boolean).join(" ");
}
