import { spawn } from "node:child_process";
import { once } from "node:events";

/** Whether the desktop has opened the address. */
export async function openInBrowser(url: string): Promise<boolean> {
  const opener = process.platform === "darwin" ? "open" : "xdg-open";
  const child = spawn(opener, [url], { stdio: "ignore", detached: true });
  try {
    const [code] = (await once(child, "exit")) as [number | null];
    return code === 0;
  } catch {
    return false; // There is no such program.
  }
}
