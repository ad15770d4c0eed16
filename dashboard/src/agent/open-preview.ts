import { berth } from "../api/client.ts";

/** A tab that is opened after the click has passed would be taken for an advertisement, so it is opened first. */
export async function openPreview(name: string, port: number): Promise<void> {
  const tab = window.open("about:blank");
  try {
    const url = await berth.agent(name).ports.preview(port);
    if (!tab) return location.assign(url);
    // The page is the agent's work: it gets no hold of this one.
    tab.opener = null;
    tab.location.replace(url);
  } catch (error) {
    tab?.close();
    throw error;
  }
}

/** Whether a frame can sign in to a preview: browsers take its cookie with TLS, and on this machine. */
export const canFrame = isSecureContext;
