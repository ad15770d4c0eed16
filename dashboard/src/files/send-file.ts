import { ApiError, NoAnswerError } from "@berth/client";
import { reachability, requestHeaders, session } from "../api/client.ts";

interface SentFile {
  agent: string;
  path: string;
  file: File;
  headers: Readonly<Record<string, string>>;
  signal: AbortSignal;
  onProgress: (bytes: number) => void;
}

/**
 * Writes a file in an agent's machine. `fetch` does not report how many bytes were sent. Throws `ApiError`,
 * `NoAnswerError`, or the signal's reason.
 */
export async function sendFile({ agent, path, file, headers, signal, onProgress }: SentFile): Promise<void> {
  const all = { ...(await requestHeaders()), "content-type": "application/octet-stream", ...headers };
  signal.throwIfAborted();
  const request = new XMLHttpRequest();
  const answered = new Promise<void>((resolve, reject) => {
    request.onload = () => resolve();
    request.onerror = () => reject(new NoAnswerError("The connection to the server was lost."));
    request.onabort = () => reject(signal.reason);
  });
  request.upload.onprogress = ({ loaded }) => onProgress(loaded);
  request.open("PUT", `/agents/${encodeURIComponent(agent)}/files/${encodeURIComponent(path)}`);
  for (const [name, value] of Object.entries(all)) request.setRequestHeader(name, value);
  const abort = () => request.abort();
  signal.addEventListener("abort", abort);
  request.send(file);
  try {
    await answered;
  } catch (error) {
    if (error instanceof NoAnswerError) reachability.report(false);
    throw error;
  } finally {
    signal.removeEventListener("abort", abort);
  }
  reachability.report(true);
  if (request.status === 401) session.discard();
  if (request.status >= 400) throw new ApiError(request.status, bodyOf(request.responseText), null);
}

/** A proxy's error page is not JSON. */
function bodyOf(text: string): ConstructorParameters<typeof ApiError>[1] {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === "object" && body !== null ? body : {};
  } catch {
    return {};
  }
}
