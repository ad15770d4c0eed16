import { BerthError } from "../contract/errors.ts";
import { isPair, type Unit, unitsOf } from "./words.ts";

/** A part of a search: units that follow each other in a text. */
export interface Term {
  units: readonly Unit[];
  /** Whether a longer word that begins with the last unit matches, too. */
  isOpen: boolean;
}

/** A shorter word matches whole words only, since too many words begin with it. */
const leastOpenLetters = 3;

/** The most terms: each is compared with the words of each candidate. */
const maximumTerms = 20;

const parts = /"([^"]*)"?|[^\s"]+/gu;

/** The terms of a search. Throws `request_invalid` if it has no letter, digit or emoji, or too many words. */
export function termsOf(search: string): Term[] {
  const terms: Term[] = [];
  const plain = search
    .toWellFormed()
    .normalize("NFC")
    .replaceAll(/[“”„«»「」『』]/gu, '"');
  for (const [part, quoted] of plain.matchAll(parts)) {
    const units = [...unitsOf(quoted ?? part)];
    const last = units.at(-1);
    if (last) terms.push({ units, isOpen: quoted === undefined && isLong(last) });
  }
  if (terms.length > maximumTerms) {
    throw new BerthError("request_invalid", `q: a search is limited to ${maximumTerms} words.`);
  }
  if (terms.length > 0) return terms;
  throw new BerthError("request_invalid", "q: has no letter, digit or emoji to search for.");
}

function isLong({ kind, word }: Unit): boolean {
  return kind !== "word" || [...word].length >= leastOpenLetters;
}

/** The PostgreSQL query that finds texts with all words of the terms, in any order. */
export function queryOf(terms: readonly Term[], scope: readonly string[]): string {
  const words = terms.flatMap(({ units, isOpen }) => lexemesOf(units, isOpen));
  return [...new Set([...scope.map(quoted), ...words])].join(" & ");
}

function lexemesOf(units: readonly Unit[], isOpen: boolean): string[] {
  return units.flatMap((unit, at) => {
    const next = units[at + 1];
    if (unit.kind !== "character") return [quoted(unit.word) + (next === undefined && isOpen ? ":*" : "")];
    if (next && isPair(unit, next)) {
      const isLast = at + 2 === units.length;
      return [quoted(unit.word + next.word) + (isLast && isOpen ? ":*" : "")];
    }
    // The last of a run is in the pair before it. A single one may begin a pair.
    const previous = units[at - 1];
    return previous && isPair(previous, unit) ? [] : [`${quoted(unit.word)}:*`];
  });
}

function quoted(word: string): string {
  return `'${word.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}

export interface Range {
  start: number;
  end: number;
}

/** Where a text in the form NFC matches, in order and without overlaps; null if it lacks a term. */
export function matchesIn(text: string, terms: readonly Term[]): Range[] | null {
  const units = [...unitsOf(text)];
  const places = placesOf(units);
  const found: Range[] = [];
  for (const term of terms) {
    const ranges = rangesOf(term, units, places);
    if (ranges.length === 0) return null;
    found.push(...ranges);
  }
  return merged(found);
}

/** The places of each word among the units, and of each beginning of a word that a term can ask for. */
function placesOf(units: readonly Unit[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  units.forEach(({ word }, at) => {
    const all = places.get(word);
    if (all) all.push(at);
    else places.set(word, [at]);
  });
  return places;
}

/** The most matches of a term that are looked at: an excerpt shows a few. */
const maximumMatches = 1_000;

function rangesOf({ units: asked, isOpen }: Term, units: readonly Unit[], places: Map<string, number[]>): Range[] {
  const ranges: Range[] = [];
  const [first] = asked;
  const isOne = asked.length === 1;
  const begins = isOne && isOpen ? units.keys() : (places.get(first!.word) ?? []);
  for (const begin of begins) {
    if (!isAt(begin, asked, isOpen, units)) continue;
    ranges.push({ start: units[begin]!.start, end: units[begin + asked.length - 1]!.end });
    if (ranges.length === maximumMatches) break;
  }
  return ranges;
}

function isAt(begin: number, asked: readonly Unit[], isOpen: boolean, units: readonly Unit[]): boolean {
  return asked.every(({ word }, at) => {
    const found = units[begin + at];
    if (!found) return false;
    return found.word === word || (isOpen && at === asked.length - 1 && found.word.startsWith(word));
  });
}

function merged(ranges: readonly Range[]): Range[] {
  const all: Range[] = [];
  for (const range of ranges.toSorted((one, other) => one.start - other.start)) {
    const last = all.at(-1);
    if (last && range.start <= last.end) last.end = Math.max(last.end, range.end);
    else all.push({ ...range });
  }
  return all;
}
