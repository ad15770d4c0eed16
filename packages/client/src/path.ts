import { UnsendableError } from "./errors.ts";

/** Values for a path or query. A list is joined with commas; what is undefined, null or an empty list is left out. */
export type Fields = Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>;

/**
 * The path of a request. Throws `UnsendableError` for a value that would change the path: an empty one, or dots.
 */
export function pathOf(path: string, params: Fields = {}, query: Fields = {}): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, field: string) => {
    const value = String(params[field] ?? "");
    if (/^\.{0,2}$/.test(value)) throw new UnsendableError(`${JSON.stringify(value)} cannot be a ${field} in ${path}.`);
    return encodeURIComponent(value);
  });
  const isGiven = (value: Fields[string]) => value !== undefined && value !== null && String(value) !== "";
  const given = Object.entries(query).filter(([, value]) => isGiven(value));
  if (given.length === 0) return filled;
  const asked = new URLSearchParams(given.map(([field, value]): [string, string] => [field, String(value)]));
  return `${filled}?${String(asked).replaceAll("%2C", ",")}`;
}
