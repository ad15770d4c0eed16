/** Whether an `origin` header names the host that the request was sent to: its page is one of that host's. */
export function isOriginOf(origin: string, host: string | undefined): boolean {
  return URL.canParse(origin) && new URL(origin).host === host?.toLowerCase();
}
