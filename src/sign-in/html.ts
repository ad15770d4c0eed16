import { createHash } from "node:crypto";

/** Text that is already HTML. Anything else is escaped when it becomes part of a page. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** HTML with interpolated values, which are escaped unless they are HTML; null becomes empty. */
export function html(strings: TemplateStringsArray, ...values: (string | number | Html | null)[]): Html {
  const parts = strings.map((string, index) => string + (index < values.length ? toText(values[index]!) : ""));
  return new Html(parts.join(""));
}

function toText(value: string | number | Html | null): string {
  if (value === null) return "";
  return value instanceof Html ? value.text : escaped(String(value));
}

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character]!);
}

/** The dashboard's own colours and shapes (dashboard/src/styles.css). */
const style = `
:root { color-scheme: light dark; font: 15px/1.5 ui-sans-serif, system-ui, "Segoe UI", sans-serif; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: light-dark(#fafafa, #0b0d10);
  color: light-dark(#14171c, #eceef1); }
main { box-sizing: border-box; width: calc(100% - 2rem); max-width: 25rem; margin: 1rem; padding: 2rem;
  background: light-dark(#fff, #13161b); border: 1px solid light-dark(#e2e5ea, #262b34); border-radius: 1rem; }
h1 { font-size: 1.375rem; line-height: 1.25; margin: 0 0 1rem; }
p { margin: 0 0 1rem; overflow-wrap: anywhere; }
label { display: block; margin: 0 0 1rem; font-size: .875rem; font-weight: 500; }
input { box-sizing: border-box; display: block; width: 100%; margin-top: .375rem; padding: .5rem .75rem; font: inherit;
  border: 1px solid light-dark(#767d89, #6b7482); border-radius: .5rem; background: light-dark(#fff, #13161b);
  color: inherit; }
button { box-sizing: border-box; width: 100%; margin: .25rem 0 .5rem; padding: .5rem .75rem; font: inherit;
  font-weight: 500; border: 1px solid transparent; border-radius: .5rem; background: light-dark(#1d4ed8, #2f62e0);
  color: #fff; cursor: pointer; }
button.second { background: transparent; color: inherit; border-color: light-dark(#e2e5ea, #262b34); }
:focus-visible { outline: 2px solid light-dark(#1d4ed8, #7aa7ff); outline-offset: 2px; }
.code { font: 600 1.5rem ui-monospace, monospace; letter-spacing: .1em; }
.wrong { border-left: .25rem solid light-dark(#b3201f, #ff8f8a); padding-left: .75rem; }
.mark { font-weight: 700; margin-bottom: 1.5rem; }
small { color: light-dark(#555c68, #9ba4b2); }
`;

/**
 * Headers of every page. The page loads nothing, runs no script (`script-src` is empty; the provider adds the hash of
 * its one script, which submits a form), and cannot be framed.
 */
export const pageHeaders: Readonly<Record<string, string>> = {
  "content-security-policy": [
    "default-src 'none'",
    `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
    "script-src",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

export function page(title: string, body: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Berth</title>
<style>${new Html(style)}</style>
</head>
<body>
<main>
<p class="mark">Berth</p>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`.text;
}
