import { type ChangeFilters, changeFiltersIn } from "../changes/source.ts";
import { type FilePlace, filePlaceIn } from "../files/place.ts";

const names = ["changes", "files", "terminal", "ports"] as const;
/** A view that can be shown next to a conversation. */
export type SideName = (typeof names)[number];

/** The view next to a conversation, in the page's address, and its place. */
export interface Side extends FilePlace, ChangeFilters {
  beside?: SideName | undefined;
  /** The port whose page is shown. */
  port?: number | undefined;
}

export function sideIn(search: object): Side {
  const given: Readonly<Record<string, unknown>> = { ...search };
  const beside = names.find((name) => name === given.beside);
  return { ...(beside && { beside }), ...portIn(given), ...filePlaceIn(given), ...changeFiltersIn(given) };
}

/** The port whose page the ports show; none: the list. */
export function portIn({ port }: Readonly<Record<string, unknown>>): Pick<Side, "port"> {
  return Number.isInteger(port) && Number(port) > 0 && Number(port) < 65_536 ? { port: Number(port) } : {};
}

const shownStored = "berth side view";
const shareStored = "berth split";

/** The width of the conversation, in percent of both. */
export const shares = { least: 25, usual: 50, most: 75 } as const;

/** The split of this browser. */
export const rememberedSplit = {
  /** The view that was open next to a conversation; undefined: none. */
  get shown(): SideName | undefined {
    return names.find((name) => name === localStorage.getItem(shownStored));
  },
  set shown(side: SideName | undefined) {
    if (side === undefined) localStorage.removeItem(shownStored);
    else localStorage.setItem(shownStored, side);
  },
  get share(): number {
    const share = Number(localStorage.getItem(shareStored));
    return share >= shares.least && share <= shares.most ? share : shares.usual;
  },
  set share(share: number) {
    localStorage.setItem(shareStored, String(share));
  },
};
