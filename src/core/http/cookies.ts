/** The cookies of a request, `name=value` each. */
export function cookiesIn(header: string | undefined): string[] {
  return (header ?? "").split(";").flatMap((cookie) => cookie.trim() || []);
}

/** All values of a cookie, in the order in which the browser sent them: a neighbouring host's page may have added some. */
export function valuesOf(header: string | undefined, name: string): string[] {
  const start = `${name}=`;
  return cookiesIn(header).flatMap((cookie) => (cookie.startsWith(start) ? cookie.slice(start.length) : []));
}
