import type { FilterResult, HookFilter } from "../contract/automation-hooks.ts";
import { storableValue } from "../turns/storable.ts";

/** The most values that a path selects, and the longest that a glob matches: this bounds the time of a filter. */
const maximumSelected = 100;
const maximumMatched = 1_024;
const maximumShown = 100;

/** The part of a delivery that filters read. */
export interface Filtered {
  body: unknown;
  headers: Readonly<Record<string, string>>;
}

/** Null: there are no filters. The first that does not match is in the result. */
export function filterResult(filters: readonly HookFilter[], delivery: Filtered): FilterResult | null {
  if (filters.length === 0) return null;
  const failed = filters.find((filter) => !matches(filter, valuesOf(filter, delivery)));
  if (!failed) return { matched: true, message: null };
  const [value, ...others] = valuesOf(failed, delivery);
  const shown = value === undefined ? "is missing" : `is ${shownText(value)}${others.length > 0 ? " and others" : ""}`;
  return { matched: false, message: `${failed.path ?? failed.header} ${shown}; ${wantedText(failed)}.` };
}

function matches({ equals, glob, exists }: HookFilter, values: readonly unknown[]): boolean {
  if (exists !== undefined) return values.length > 0 === exists;
  if (glob === undefined) return values.includes(equals);
  return values.some((value) => {
    if (typeof value !== "string" && typeof value !== "number") return false;
    const text = String(value);
    return text.length <= maximumMatched && matchesGlob(glob, text);
  });
}

function valuesOf({ path, header }: HookFilter, { body, headers }: Filtered): unknown[] {
  if (path !== undefined) return selected(path, body);
  const name = header!.toLowerCase();
  return Object.hasOwn(headers, name) ? [headers[name]] : [];
}

/** The values at a path, which the contract has checked. Each part is a name, an index or `*`. */
export function selected(path: string, body: unknown): unknown[] {
  let values = [body];
  for (const [, name, index, single, double] of path.matchAll(/\.([\w-]+|\*)|\[(?:(\d+|\*)|'([^']*)'|"([^"]*)")\]/g)) {
    const next: unknown[] = [];
    for (const value of values) {
      if (next.length >= maximumSelected) break;
      for (const each of childrenOf(value, name ?? index, single ?? double)) {
        if (next.push(each) >= maximumSelected) break;
      }
    }
    values = next;
  }
  return values;
}

/** `quoted`: a name in quotes, which may be `*`. */
function childrenOf(value: unknown, plain: string | undefined, quoted: string | undefined): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  if (plain === "*") return Object.values(value);
  const name = plain ?? quoted!;
  const isIndex = /^\d+$/.test(name) && quoted === undefined;
  if (Array.isArray(value) !== isIndex) return [];
  return Object.hasOwn(value, name) ? [(value as Record<string, unknown>)[name]] : [];
}

/** `*` is any text, `?` one character. Takes at most the product of both lengths. */
export function matchesGlob(glob: string, text: string): boolean {
  let [at, place] = [0, 0];
  let [star, retry] = [-1, 0];
  while (at < text.length) {
    if (glob[place] === "*") {
      star = place++;
      retry = at;
    } else if (glob[place] === "?" || glob[place] === text[at]) {
      at++;
      place++;
    } else if (star >= 0) {
      place = star + 1;
      at = ++retry;
    } else return false;
  }
  while (glob[place] === "*") place++;
  return place === glob.length;
}

function shownText(value: unknown): string {
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "an array" : "an object";
  const text = JSON.stringify(typeof value === "string" ? value.slice(0, maximumShown) : value);
  return storableValue(text);
}

function wantedText({ equals, glob, exists }: HookFilter): string {
  if (exists !== undefined) return exists ? "it must exist" : "it must not exist";
  if (glob !== undefined) return `it must match ${JSON.stringify(glob)}`;
  return `it must be ${JSON.stringify(equals)}`;
}
