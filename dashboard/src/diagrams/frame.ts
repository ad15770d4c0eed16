import mermaid from "mermaid";
import type { Drawing, Report } from "./messages.ts";

// The page of the frame that draws a diagram. It has an origin of its own and no access to anything: neither to the
// dashboard nor to the network.

const report = (what: Report) => parent.postMessage(what, "*");
const place = document.querySelector<HTMLElement>("#diagram")!;

async function draw({ text, isDark }: Drawing): Promise<void> {
  document.documentElement.style.colorScheme = isDark ? "dark" : "light";
  mermaid.initialize({ startOnLoad: false, securityLevel: "strict", theme: isDark ? "dark" : "default" });
  try {
    const { svg } = await mermaid.render("drawn", text);
    place.innerHTML = svg;
    report({ type: "drawn", height: Math.ceil(place.getBoundingClientRect().height) });
  } catch (error) {
    report({ type: "failed", reason: error instanceof Error ? error.message : String(error) });
  }
}

addEventListener("message", ({ source, data }: MessageEvent<Drawing>) => {
  if (source === parent) void draw(data);
});
report({ type: "ready" });
