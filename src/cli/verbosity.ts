/** How much the tool prints in addition to the result, on stderr. */
type Verbosity = "quiet" | "usual" | "verbose";

let chosen: Verbosity = "usual";

/** Set once, from the command's options. */
export function setVerbosity(verbosity: Verbosity): void {
  chosen = verbosity;
}

export const isQuiet = () => chosen === "quiet";

/** Prints a line in addition to the result, unless the user wants it quiet. */
export function note(text: string): void {
  if (!isQuiet()) console.error(text);
}

/** `fetch` that logs each request if the user wants that: its status, its time and its id in the server's log. */
export async function tellingFetch(request: Request): Promise<Response> {
  if (chosen !== "verbose") return fetch(request);
  const { method, url } = request;
  const begun = performance.now();
  const told = (outcome: string) =>
    console.error(`${method} ${new URL(url).pathname} ${outcome} ${Math.round(performance.now() - begun)} ms`);
  try {
    const response = await fetch(request);
    told(`${response.status} ${response.headers.get("x-request-id") ?? "no request id"}`);
    return response;
  } catch (error) {
    told("no answer");
    throw error;
  }
}
