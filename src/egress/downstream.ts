import type { ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { Writable } from "node:stream";
import { bytesBeforeDownload, downloadedHeader } from "../contract/guest.ts";
import type { OpenDownload } from "../machines/connections.ts";

/**
 * The bytes from a tunnel into the machine: the first ones over its stream, the rest over a download, if the machine
 * accepts it. The tunnel must be answered with `waitForTrailers`. It is reset if the download breaks.
 */
export class Downstream extends Writable {
  readonly #tunnel: ServerHttp2Stream;
  #open: (() => Promise<Socket>) | null;
  #download: Socket | null = null;
  /** Called when the machine has closed the download, once everything is sent. */
  #ending: (() => void) | null = null;
  #sent = 0;
  #downloaded = 0;

  /** `name` is the tunnel's name in the machine. */
  constructor(tunnel: ServerHttp2Stream, name: string, open: OpenDownload) {
    super();
    this.#tunnel = tunnel;
    this.#open = () => open({ tunnel: name, after: this.#sent });
    tunnel.once("wantTrailers", () => tunnel.sendTrailers({ [downloadedHeader]: String(this.#downloaded) }));
    tunnel.once("close", () => this.destroy());
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    const open = this.#sent < bytesBeforeDownload ? null : this.#open;
    if (!open) {
      this.#send(chunk, done);
      return;
    }
    this.#open = null;
    open()
      .then((download) => this.#take(download))
      .catch(() => {}) // Everything goes over the stream.
      .then(() => this.#send(chunk, done));
  }

  /**
   * The machine closes the download once its program has read everything. The tunnel ends only then, since until then
   * only the tunnel can report a break.
   */
  override _final(done: (error?: Error | null) => void): void {
    this.#ending = () => this.#tunnel.end(done);
    if (this.#download) this.#download.end();
    else this.#ending();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (!this.writableFinished) {
      this.#download?.destroy();
      this.#tunnel.destroy(error ?? new Error("the tunnel was broken"));
    }
    done(error);
  }

  #take(download: Socket): void {
    this.#download = download;
    download.resume(); // A machine has nothing to send here; anything it sends is discarded.
    download.on("error", () => {});
    download.once("close", () => (this.#ending ? this.#ending() : this.destroy()));
    if (this.destroyed) download.destroy();
  }

  #send(chunk: Buffer, done: () => void): void {
    const to = this.#download ?? this.#tunnel;
    if (this.#download) this.#downloaded += chunk.length;
    else this.#sent += chunk.length;
    if (to.write(chunk)) done();
    else to.once("drain", done);
  }
}
