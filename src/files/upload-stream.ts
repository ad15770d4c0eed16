import { once } from "node:events";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { bytesBeforeDownload } from "../contract/guest.ts";
import { toFrames } from "../core/frames.ts";
import type { OpenDownload } from "../machines/connections.ts";

/** Bytes to a guest: the first ones in frames on a call's stream, the rest over a download if the guest offers one. */
export class UploadStream {
  readonly #frames = toFrames(() => (this.#download ? String(this.#downloaded) : ""));
  /** Null once it was called. */
  #open: OpenDownload | null;
  /** The download that the guest offers. */
  #offered: string | null = null;
  #download: Socket | null = null;
  #sent = 0;
  #downloaded = 0;

  /** Without `open`, everything goes in frames. */
  constructor(stream: Duplex, open: OpenDownload | null) {
    this.#open = open;
    this.#frames.on("error", () => {}); // The reader of the call's response gets the error.
    this.#frames.pipe(stream);
  }

  /** Accepts the guest's offer of a download, once. */
  offer(tunnel: string): void {
    this.#offered = tunnel;
  }

  /** Resolves when the next bytes can be sent. Drops bytes that the guest does not read any more. */
  async send(chunk: Buffer, over: AbortSignal): Promise<void> {
    if (this.#sent >= bytesBeforeDownload) await this.#continue();
    const to = this.#download ?? this.#frames;
    if (this.#download) this.#downloaded += chunk.length;
    else this.#sent += chunk.length;
    if (to.destroyed || to.write(chunk)) return;
    const gone = new AbortController();
    const ended = () => gone.abort();
    to.once("close", ended);
    await once(to, "drain", { signal: AbortSignal.any([over, gone.signal]) }).catch(() => {});
    to.off("close", ended);
  }

  end(): void {
    this.#download?.end();
    this.#frames.end();
  }

  destroy(): void {
    this.#download?.destroy();
  }

  /** Opens the download, if the guest offers one. */
  async #continue(): Promise<void> {
    const open = this.#open;
    if (!open || this.#offered === null) return;
    this.#open = null;
    this.#download = await open({ tunnel: this.#offered, after: this.#sent }).catch(() => null);
    // The guest has nothing to send here, and reports a failure in the call's response.
    this.#download?.resume().on("error", () => {});
  }
}
