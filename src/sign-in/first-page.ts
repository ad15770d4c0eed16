import { createHash } from "node:crypto";
import type { TurnList } from "../contract/chat.ts";
import type { FirstAnswers } from "./first-answers.ts";
import { Html, html } from "./html.ts";

/** The most of a reply that is in the document, in characters, and of all of them. The newest come first. */
const mostOfReply = 8_000;
const mostOfReplies = 24_000;

/** The frame of dashboard/src/shell/Shell.tsx and the turns of conversation/TurnView.tsx, in few bytes. */
const style = `
#first { position: fixed; inset: 0; z-index: 100; display: flex; background: light-dark(#fafafa, #0b0d10);
  color: light-dark(#14171c, #eceef1); font: 15px/1.5 ui-sans-serif, system-ui, "Segoe UI", "Helvetica Neue",
  "Noto Sans", sans-serif; color-scheme: light dark; overflow-wrap: anywhere; }
[data-theme=light] #first { color-scheme: light; }
[data-theme=dark] #first { color-scheme: dark; }
#first :is(.side, .head, .box, pre) { background: light-dark(#fff, #13161b); border: 0 solid light-dark(#e2e5ea, #262b34); }
#first .side { box-sizing: border-box; width: 14rem; flex-shrink: 0; padding: 1rem 1rem 1rem 3.3rem; border-right-width: 1px; }
#first .main { display: flex; flex: 1; min-width: 0; flex-direction: column; }
#first .head { padding: 1.3rem 1.5rem 2.95rem 3.5rem; border-bottom-width: 1px; }
#first .head b { margin-right: .5rem; font-size: 1.125rem; font-weight: 600; }
#first small { color: light-dark(#555c68, #9ba4b2); font-size: .875rem; }
#first .turns { display: flex; flex: 1; min-height: 0; flex-direction: column-reverse; overflow-y: auto; padding: 0 1rem 1.5rem; }
#first .turn { padding-bottom: 2.25rem; }
#first .turn, #first .box { box-sizing: border-box; width: 100%; max-width: 48rem; margin: 0 auto; }
#first .turn p { margin: .75rem 0; white-space: pre-wrap; unicode-bidi: plaintext; }
#first .turn .message { width: fit-content; max-width: 85%; margin: 1.5rem 0 .75rem auto; padding: .625rem 1rem; border-radius: 1rem;
  background: light-dark(#e8effd, #1a2744); }
#first pre { margin: 1rem 0; padding: 1rem; overflow-x: auto; border-width: 1px; border-radius: .75rem; font-size: .875rem; }
#first .foot { padding: 0 1rem 3rem; }
#first .box { padding: .75rem 1rem; border-width: 1px; border-radius: 1rem; }
@media (width < 48rem) { #first .side { display: none; } #first .head { padding: .8rem .75rem 2.7rem 2.75rem; } }
`;

/** Allows the style of the first page in a Content-Security-Policy. */
export const firstStyleSource = `'sha256-${createHash("sha256").update(style).digest("base64")}'`;

/** The scripts and styles of the built document, which wait, so that the first page is parsed and shown before it is fetched. */
const fetched = /[ \t]*<(?:script type="module"|link rel="(?:modulepreload|stylesheet)")[^>]*>(?:<\/script>)?\n?/g;

/**
 * The dashboard's document with a first page, which is shown until the dashboard's scripts have drawn the same, and with
 * the answers for their first requests. `index`: the built document.
 */
export function firstPage(index: string, first: FirstAnswers): string {
  const files = index.match(fetched)?.join("") ?? "";
  const { after, workspace, answers } = first;
  // Within a script element, only `<` can end the JSON.
  const json = JSON.stringify({ after, workspace, answers }).replaceAll("<", "\\u003c");
  const theme = first.theme === null ? "" : ` data-theme="${first.theme}"`;
  return index
    .replace(fetched, "")
    .replace('<html lang="en"', () => `<html lang="en"${theme}`)
    .replace("</head>", () => `<style>${style}</style></head>`)
    .replace(
      '<div id="root"></div>',
      () => `${body(first).text}<div id="root"></div>
${files}<script type="application/json" id="first-answers">${json}</script>`,
    );
}

/** Without headings and landmarks, which the dashboard's own page has below it. */
function body({ agent, turns }: FirstAnswers): Html {
  const head = agent && html`<div class="head"><b>${agent.name}</b><small>${agent.runtime}</small></div>`;
  const conversation =
    turns &&
    html`<div class="turns">${shown(turns.data)}</div><div class="foot"><div class="box"><small>Loading…</small></div></div>`;
  return html`<div id="first"><div class="side"><b>Berth</b></div><div class="main">${head}${conversation}</div></div>`;
}

/** The newest first, as the style expects. */
function shown(turns: TurnList["data"]): Html {
  let left = mostOfReplies;
  const parts: string[] = [];
  for (const { message, reply, status } of turns) {
    if (status === "queued" || left <= 0) continue;
    const text = reply.slice(0, Math.min(left, mostOfReply));
    left -= text.length + Math.min(message.length, mostOfReply);
    parts.push(
      html`<div class="turn"><p class="message">${message.slice(0, mostOfReply)}</p>${blocks(text)}</div>`.text,
    );
  }
  return new Html(parts.join(""));
}

/** Paragraphs, and code between fences. */
function blocks(reply: string): Html {
  const parts = reply.split(/^```.*$/m).flatMap((text, at) => {
    if (at % 2 === 1) return html`<pre>${text.trim()}</pre>`.text;
    const paragraphs = text.split(/\n{2,}/).filter((each) => each.trim() !== "");
    return paragraphs.map((each) => html`<p>${each.trim()}</p>`.text);
  });
  return new Html(parts.join(""));
}
