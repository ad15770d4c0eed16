import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { StringDecoder } from "node:string_decoder";
import { z } from "zod";

/** A record of pi's on its standard output. https://pi.dev/docs/rpc */
const PiRecord = z.looseObject({ type: z.string() });
export type PiRecord = z.infer<typeof PiRecord>;

const Response = z.object({
  type: z.literal("response"),
  id: z.string(),
  success: z.boolean(),
  data: z.unknown().optional(),
  error: z.string().optional(),
});

interface Waiting {
  resolve: (data: unknown) => void;
  reject: (error: Error) => void;
}

/** A connection to `pi --mode rpc`: one JSON object per line on its standard input and output. */
export class PiProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<void>;
  readonly #waiting = new Map<string, Waiting>();
  readonly #listeners = new Set<(record: PiRecord) => void>();
  #hasEnded = false;

  constructor(child: ChildProcess, ended: Promise<void>) {
    this.child = child;
    this.ended = ended;
    const decoder = new StringDecoder("utf8");
    let begun: string[] = [];
    // Not by `readline`, which ends lines at characters that are allowed inside JSON, too.
    child.stdout!.on("data", (bytes: Buffer) => {
      const [first, ...others] = decoder.write(bytes).split("\n");
      begun.push(first!);
      for (const next of others) {
        this.#take(begun.join(""));
        begun = [next];
      }
    });
    void ended.then(() => {
      this.#hasEnded = true;
      for (const { reject } of this.#waiting.values()) reject(new Error("pi ended"));
      this.#waiting.clear();
    });
  }

  /** Sends a command and resolves with its data. Rejects with pi's own message, or when pi ends. */
  request(command: { type: string } & Record<string, unknown>): Promise<unknown> {
    if (this.#hasEnded) return Promise.reject(new Error("pi ended"));
    const id = randomUUID();
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.send({ id, ...command });
    });
  }

  send(record: object): void {
    this.child.stdin!.write(`${JSON.stringify(record)}\n`);
  }

  /** Calls `listener` with each record that is not a response, until the returned function is called. */
  subscribe(listener: (record: PiRecord) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #take(line: string): void {
    const record = parse(line);
    if (!record) return;
    if (record.type !== "response") {
      for (const listener of this.#listeners) listener(record);
      return;
    }
    const response = Response.safeParse(record).data;
    if (!response) return;
    const waiting = this.#waiting.get(response.id);
    this.#waiting.delete(response.id);
    if (response.success) waiting?.resolve(response.data);
    else waiting?.reject(new Error(response.error ?? "pi refused a command"));
  }
}

function parse(line: string): PiRecord | undefined {
  try {
    return PiRecord.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
