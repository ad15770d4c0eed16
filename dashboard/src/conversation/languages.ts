import { createBundledHighlighter } from "shiki/core";
import { createJavaScriptRegexEngine } from "shiki/engine/javascript";

// Replaces `shiki` in the build: the languages that agents write, in place of three hundred, some of them larger than
// all of the dashboard. Code in any other is shown as plain text.

export const bundledLanguages = {
  c: () => import("shiki/langs/c.mjs"),
  cpp: () => import("shiki/langs/cpp.mjs"),
  csharp: () => import("shiki/langs/csharp.mjs"),
  css: () => import("shiki/langs/css.mjs"),
  diff: () => import("shiki/langs/diff.mjs"),
  docker: () => import("shiki/langs/docker.mjs"),
  go: () => import("shiki/langs/go.mjs"),
  html: () => import("shiki/langs/html.mjs"),
  ini: () => import("shiki/langs/ini.mjs"),
  java: () => import("shiki/langs/java.mjs"),
  javascript: () => import("shiki/langs/javascript.mjs"),
  json: () => import("shiki/langs/json.mjs"),
  jsx: () => import("shiki/langs/jsx.mjs"),
  kotlin: () => import("shiki/langs/kotlin.mjs"),
  lua: () => import("shiki/langs/lua.mjs"),
  makefile: () => import("shiki/langs/makefile.mjs"),
  markdown: () => import("shiki/langs/markdown.mjs"),
  php: () => import("shiki/langs/php.mjs"),
  python: () => import("shiki/langs/python.mjs"),
  ruby: () => import("shiki/langs/ruby.mjs"),
  rust: () => import("shiki/langs/rust.mjs"),
  shellscript: () => import("shiki/langs/shellscript.mjs"),
  sql: () => import("shiki/langs/sql.mjs"),
  swift: () => import("shiki/langs/swift.mjs"),
  toml: () => import("shiki/langs/toml.mjs"),
  tsx: () => import("shiki/langs/tsx.mjs"),
  typescript: () => import("shiki/langs/typescript.mjs"),
  xml: () => import("shiki/langs/xml.mjs"),
  yaml: () => import("shiki/langs/yaml.mjs"),
};

/** Their other names. */
export const bundledLanguagesInfo = [
  { id: "cpp", aliases: ["c++"] },
  { id: "csharp", aliases: ["cs", "c#"] },
  { id: "docker", aliases: ["dockerfile"] },
  { id: "ini", aliases: ["properties"] },
  { id: "javascript", aliases: ["js", "mjs", "cjs"] },
  { id: "kotlin", aliases: ["kt", "kts"] },
  { id: "makefile", aliases: ["make"] },
  { id: "markdown", aliases: ["md"] },
  { id: "python", aliases: ["py"] },
  { id: "ruby", aliases: ["rb"] },
  { id: "rust", aliases: ["rs"] },
  { id: "shellscript", aliases: ["sh", "bash", "zsh", "shell", "console"] },
  { id: "typescript", aliases: ["ts", "mts", "cts"] },
  { id: "yaml", aliases: ["yml"] },
];

export const createHighlighter = createBundledHighlighter({
  langs: bundledLanguages,
  themes: {
    "github-light": () => import("shiki/themes/github-light.mjs"),
    "github-dark": () => import("shiki/themes/github-dark.mjs"),
  },
  engine: () => createJavaScriptRegexEngine({ forgiving: true }),
});
