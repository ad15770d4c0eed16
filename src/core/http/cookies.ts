export function cookiesIn(header: string | undefined): string[] {
  return (header ?? "").split(";").flatMap((cookie) => cookie.trim() || []);
}

/** All values of a cookie, in the browser's order: a page of a neighbouring host may have added some. */
export function valuesOf(header: string | undefined, name: string): string[] {
  const start = `${name}=`;
  return cookiesIn(header).flatMap((cookie) => (cookie.startsWith(start) ? cookie.slice(start.length) : []));
}
