import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

// The server serves what is built as it is, and compressed where the browser takes that. For work on the dashboard
// itself, `vite dev` in this folder passes everything else on to a server at 7420.

const folder = import.meta.dirname;
/** The form for other runtimes than browsers, which `import` of the package's name leads to here. */
const htmlParser = fileURLToPath(import.meta.resolve("hast-util-from-html-isomorphic"));
const server = "http://127.0.0.1:7420";

export default defineConfig({
  root: folder,
  resolve: {
    alias: [
      { find: /^shiki$/, replacement: join(folder, "src/conversation/languages.ts") },
      // In browsers it uses `innerHTML`, which the server's policy forbids.
      { find: /^hast-util-from-html-isomorphic$/, replacement: htmlParser },
    ],
  },
  plugins: [react(), tailwind(), compressed()],
  build: {
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: {
      input: {
        index: join(folder, "index.html"),
        diagram: join(folder, "diagram.html"),
        push: join(folder, "worker/push.ts"),
      },
      // A service worker keeps its address, and controls the pages below it.
      output: { entryFileNames: ({ name }) => (name === "push" ? "push.js" : "assets/[name]-[hash].js") },
    },
  },
  server: { proxy: { "^/(?!-/|src/|node_modules/|@|assets/|$)": { target: server, ws: true } } },
});

/** The best takes ten times as long, for a few hundredths. */
const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

/** Writes each file's compressed forms beside it. */
function compressed(): Plugin {
  return {
    name: "compressed",
    apply: "build",
    async writeBundle({ dir }) {
      const assets = join(dir!, "assets");
      const names = (await readdir(assets)).filter((name) => /\.(js|css|svg)$/.test(name));
      await Promise.all(
        names.map(async (name) => {
          const file = join(assets, name);
          const content = await readFile(file);
          await writeFile(`${file}.br`, await promisify(brotliCompress)(content, brotli));
          await writeFile(`${file}.gz`, await promisify(gzip)(content));
        }),
      );
    },
  };
}
