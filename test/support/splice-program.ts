import { join } from "node:path";

/** The program that moves downloads in a machine, here in the source. */
export const spliceProgram = join(import.meta.dirname, "../../image/rootfs/usr/lib/berth/splice");
