import { build } from "esbuild";

/** Bundles the runner into one JavaScript file for the guest's Node. */
export async function bundleRunner(sources: string): Promise<Uint8Array> {
  const { outputFiles } = await build({
    entryPoints: [`${sources}/guest/program.ts`],
    bundle: true,
    write: false,
    platform: "node",
    target: "node24",
    format: "esm",
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    legalComments: "none",
    minifySyntax: true,
    minifyWhitespace: true,
  });
  return outputFiles[0]!.contents;
}
