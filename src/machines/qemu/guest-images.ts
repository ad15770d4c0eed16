import { remedies } from "../../config/installed.ts";
import { BerthError } from "../../contract/errors.ts";
import type { DiskReserve } from "../../core/disk-reserve.ts";
import { pause } from "../../core/retry.ts";
import { readRecord } from "./files.ts";
import { type Image, type ImageRecord, recordOfBuilt, takeImage } from "./image.ts";
import type { Layout } from "./layout.ts";

/**
 * How often and how long apart to check for an image that is still being built: for half an hour. The build has the
 * lowest priority, and on a busy host took six minutes.
 */
const tries = 1_800;
const pauseMs = 1_000;

export class GuestImages {
  /** The image of most runtimes. The others' images have the same kernel, initial RAM disk and root file system. */
  readonly plain: Image;
  /** The runtimes that it was built for; null: unknown. */
  readonly runtimes: readonly string[] | null;
  /** Those that have their own image, which may be built later. */
  readonly #apart: readonly string[];
  readonly #built: string;
  readonly #layout: Layout;
  readonly #reserve: DiskReserve;
  readonly #taken = new Map<string, Promise<Image>>();
  readonly #closing = new AbortController();

  private constructor(plain: Image, record: ImageRecord, built: string, layout: Layout, reserve: DiskReserve) {
    this.plain = plain;
    this.runtimes = record.runtimes ?? null;
    this.#apart = record.apart ?? [];
    this.#built = built;
    this.#layout = layout;
    this.#reserve = reserve;
  }

  /** Imports the available images. Throws `image_missing`, `image_invalid` or `disk_full`. */
  static async open(built: string | null, layout: Layout, reserve: DiskReserve): Promise<GuestImages> {
    const plain = await takeImage(built, layout, reserve);
    const images = new GuestImages(plain, await recordOfBuilt(built), built!, layout, reserve);
    // They must not disappear with a cache.
    for (const runtime of images.#apart) await images.#take(runtime).catch(unlessMissing);
    return images;
  }

  /** Their ids, including images that are not available yet. */
  get ids(): Set<string> {
    return new Set([this.plain.id, ...this.#apart.map((runtime) => this.#idOf(runtime))]);
  }

  /** Throws `runtime_not_available` if the image was built without the runtime. */
  async of(runtime: string): Promise<Image> {
    if (!this.has(runtime)) throw withoutRuntime(runtime);
    if (!this.#apart.includes(runtime)) return this.plain;
    for (let left = tries; left > 1; left--) {
      const image = await this.#take(runtime).catch(unlessMissing);
      if (image) return image;
      await pause(pauseMs, this.#closing.signal);
      if (this.#closing.signal.aborted) throw new BerthError("shutting_down", "The service is shutting down.");
    }
    return this.#take(runtime);
  }

  has(runtime: string): boolean {
    return this.runtimes?.includes(runtime) ?? true;
  }

  close(): void {
    this.#closing.abort();
  }

  #idOf(runtime: string): string {
    return `${this.plain.id}.${runtime}`;
  }

  /** Nothing else may import the same image at the same time. */
  #take(runtime: string): Promise<Image> {
    const known = this.#taken.get(runtime);
    if (known) return known;
    const taken = this.#find(runtime);
    this.#taken.set(runtime, taken);
    taken.catch(() => this.#taken.delete(runtime));
    return taken;
  }

  async #find(runtime: string): Promise<Image> {
    const id = this.#idOf(runtime);
    const files = this.#layout.image(id);
    if (await readRecord(files.record)) return { id, files };
    return takeImage(`${this.#built}.${runtime}`, this.#layout, this.#reserve, this.plain.files);
  }
}

function withoutRuntime(runtime: string): BerthError {
  return new BerthError(
    "runtime_not_available",
    `The guest image was built without ${runtime}. Add it to BERTH_RUNTIMES, and build the image again: ${remedies.image}`,
  );
}

function unlessMissing(error: unknown): null {
  if (error instanceof BerthError && error.code === "image_missing") return null;
  throw error;
}
