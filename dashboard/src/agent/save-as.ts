/**
 * Lets the browser download an address itself, whatever its size. `name`: if the address has none. Failures show up
 * among its downloads.
 */
export function download(url: string, name = ""): void {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
}

/** Offers bytes as a file to keep. */
export function saveAs(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  download(url, name);
  // The browser has taken it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
