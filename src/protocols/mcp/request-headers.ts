/** The headers of a request by HTTP/1.1 or HTTP/2 in fetch's form, without the credential, which no handler needs. */
export function requestHeaders({ authorization: _, ...headers }: NodeJS.Dict<string | string[]>): Headers {
  const pairs = Object.entries(headers).filter(([name]) => !name.startsWith(":"));
  return new Headers(pairs.filter((pair): pair is [string, string] => typeof pair[1] === "string"));
}
