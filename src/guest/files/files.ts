import { posix } from "node:path";
import type { FileUser } from "../../contract/files.ts";
import type { RuntimeContext } from "../../runtimes/runtime.ts";
import type { GuestHandlers } from "../control.ts";
import type { Downloads } from "../downloads.ts";
import { receiveArchive, sendArchive } from "./archives.ts";
import { editFiles } from "./edits.ts";
import { openFile, receiveFile, sendFile } from "./transfers.ts";
import { Unfinished } from "./unfinished.ts";
import { watchFiles } from "./watch.ts";
import { type Rights, Worker } from "./workers.ts";

type FileCalls =
  | "statFile"
  | "listFolder"
  | "changeFile"
  | "readFile"
  | "openFile"
  | "writeFile"
  | "archiveFolder"
  | "extractArchive"
  | "watchFiles"
  | "editFiles";

export class GuestFiles {
  readonly #home: string;
  readonly #rights: Record<FileUser, Rights>;
  readonly #workers: Record<FileUser, Worker>;
  readonly #unfinished: Unfinished;
  readonly #downloads: Downloads;

  constructor(
    { home, uid, gid, stateFolder }: Pick<RuntimeContext, "home" | "uid" | "gid" | "stateFolder">,
    downloads: Downloads,
  ) {
    this.#home = home;
    this.#downloads = downloads;
    this.#unfinished = new Unfinished(`${stateFolder}/transfers`);
    this.#rights = { agent: { uid, gid }, root: { uid: process.getuid!(), gid: process.getgid!() } };
    const worker = (user: FileUser) =>
      new Worker(user, this.#rights[user], home, (begun) =>
        this.#unfinished.clear(user, (paths) => begun.askAtOnce("removeUnfinished", { paths })),
      );
    this.#workers = { agent: worker("agent"), root: worker("root") };
  }

  handlers(): Pick<GuestHandlers, FileCalls> {
    const [workers, rights] = [this.#workers, this.#rights];
    const absolute = <Request extends { path: string }>(request: Request): Request => ({
      ...request,
      path: this.#absolute(request.path),
    });
    return {
      statFile: (asked) => workers[asked.user].ask("stat", absolute(asked)),
      listFolder: (asked) => workers[asked.user].ask("list", absolute(asked)),
      changeFile: (asked, { gone }) => {
        const request = absolute(asked);
        const whole = "to" in request ? { ...request, to: this.#absolute(request.to) } : request;
        return workers[asked.user].ask("change", whole, gone);
      },
      readFile: (asked) => sendFile(workers[asked.user], absolute(asked)),
      openFile: (asked) => openFile(workers[asked.user], absolute(asked)),
      writeFile: (asked) => receiveFile(workers[asked.user], this.#unfinished, this.#downloads, absolute(asked)),
      archiveFolder: (asked, { gone }) => sendArchive(workers[asked.user], rights[asked.user], absolute(asked), gone),
      extractArchive: (asked) =>
        receiveArchive(workers[asked.user], rights[asked.user], this.#unfinished, absolute(asked)),
      watchFiles: (asked, { gone }) => watchFiles(workers[asked.user], rights[asked.user], absolute(asked), gone),
      editFiles: ({ edits }) => editFiles(workers.agent, this.#unfinished, this.#home, edits),
    };
  }

  end(): void {
    for (const worker of Object.values(this.#workers)) worker.end();
  }

  /** From the agent's home, also for root. `..` stays inside `/`. */
  #absolute(path: string): string {
    const whole = posix.normalize(path.startsWith("/") ? path : `${this.#home}/${path}`);
    return whole.length > 1 ? whole.replace(/\/+$/, "") : whole;
  }
}
