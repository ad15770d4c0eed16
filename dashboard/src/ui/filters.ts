import { useNavigate, useSearch } from "@tanstack/react-router";

type Filters<Name extends string> = Partial<Record<Name, string>>;

/** The filters of a route, which are in its address. Others, and empty ones, are left out. */
export function filtersIn<Name extends string>(...names: readonly Name[]) {
  return (search: Readonly<Record<string, unknown>>): Filters<Name> => {
    const given = names.map((name) => [name, search[name]] as const);
    const texts = given.filter(([, value]) => typeof value === "string" || typeof value === "number");
    return Object.fromEntries(
      texts.filter(([, value]) => value !== "").map(([name, value]) => [name, String(value)]),
    ) as Filters<Name>;
  };
}

/** The filters in the page's address, so that a reload and Back keep them. An empty text removes one. */
export function useFilters<Name extends string>(): [Filters<Name>, (change: Filters<Name>) => void] {
  const search: object = useSearch({ strict: false });
  const navigate = useNavigate();
  const change = (changed: Filters<Name>) =>
    void navigate({
      to: ".",
      search: (before: object) => ({ ...before, ...changed }),
      replace: true,
      resetScroll: false,
    });
  return [search as Filters<Name>, change];
}

/** The value, if it is one of the record's names. */
export function nameIn<Name extends string>(record: Readonly<Record<Name, unknown>>, value = ""): Name | undefined {
  return Object.hasOwn(record, value) ? (value as Name) : undefined;
}
