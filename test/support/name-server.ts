import { createSocket, type Socket } from "node:dgram";
import dns from "node:dns";
import { once } from "node:events";
import { isIPv4 } from "node:net";

/** The types of the queries (RFC 1035, 3596). */
const types = { A: 1, AAAA: 28 } as const;

/** A name server that this process asks for public names. Each name has the addresses that the test sets. */
export class NameServer implements Disposable {
  /** The addresses by name; the function is asked for each query. */
  readonly names: Record<string, () => string[]> = {};
  /** The queries that it answered, as `A name`. */
  readonly asked: string[] = [];
  readonly #socket: Socket;
  readonly #before = dns.getServers();

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("message", (query, { port }) => socket.send(this.#answer(query), port, "127.0.0.1"));
    dns.setServers([`127.0.0.1:${socket.address().port}`]);
  }

  static async start(): Promise<NameServer> {
    const socket = createSocket("udp4").bind(0, "127.0.0.1");
    await once(socket, "listening");
    return new NameServer(socket);
  }

  #answer(query: Buffer): Buffer {
    const labels: string[] = [];
    let at = 12;
    for (; query[at]! > 0; at += query[at]! + 1) labels.push(query.toString("latin1", at + 1, at + 1 + query[at]!));
    const end = at + 5;
    const type = query.readUInt16BE(at + 1);
    const name = labels.join(".").toLowerCase();
    this.asked.push(`${type === types.A ? "A" : "AAAA"} ${name}`);
    const all = this.names[name]?.();
    const found = (all ?? []).filter((address) => isIPv4(address) === (type === types.A)).map(bytesOf);
    const head = Buffer.from(query.subarray(0, 12));
    // An answer, with recursion; 3: no such name.
    head.writeUInt16BE(0x8180 | (all ? 0 : 3), 2);
    head.writeUInt16BE(found.length, 6);
    head.writeUInt32BE(0, 8);
    const records = found.map((data) => {
      const record = Buffer.alloc(12);
      record.writeUInt16BE(0xc00c, 0); // The name of the question.
      record.writeUInt16BE(type, 2);
      record.writeUInt16BE(1, 4);
      record.writeUInt16BE(data.length, 10);
      return Buffer.concat([record, data]);
    });
    return Buffer.concat([head, query.subarray(12, end), ...records]);
  }

  [Symbol.dispose](): void {
    dns.setServers(this.#before);
    this.#socket.close();
  }
}

/** Of IPv6 addresses, those with all their groups. */
function bytesOf(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split(".").map(Number));
  return Buffer.from(
    address
      .split(":")
      .map((group) => group.padStart(4, "0"))
      .join(""),
    "hex",
  );
}
