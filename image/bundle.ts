import { dirname } from "node:path";
import { build } from "esbuild";

/** Bundles a program, such as the runner, into one JavaScript file for the guest's Node. */
export async function bundle(program: string): Promise<Uint8Array> {
  const { outputFiles } = await build({
    entryPoints: [program],
    bundle: true,
    write: false,
    platform: "node",
    target: "node24",
    format: "esm",
    // The import has a name of its own: the modules of the bundle import `createRequire`, too.
    banner: {
      js: "import { createRequire as bannerRequire } from 'node:module'; const require = bannerRequire(import.meta.url);",
    },
    // The same bytes in each folder, and where there is no tsconfig.json: images are named by them.
    absWorkingDir: dirname(import.meta.dirname),
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
    legalComments: "none",
    minifySyntax: true,
    minifyWhitespace: true,
  });
  return outputFiles[0]!.contents;
}
