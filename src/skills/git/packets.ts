/** The longest line of a packet, without its length (gitprotocol-common). */
const maximumLine = 65_516;

/** A line of a packet stream, or one of its special packets (gitprotocol-v2). */
export type Packet = Buffer | "flush" | "delimiter" | "response-end";

const specials: Readonly<Record<number, Exclude<Packet, Buffer>>> = { 0: "flush", 1: "delimiter", 2: "response-end" };

/** The answer of a git server is not of its protocol. */
export class GitAnswerInvalid extends Error {}

/** The packets of an answer. Throws `GitAnswerInvalid`. */
export function* packetsIn(bytes: Buffer): Generator<Packet> {
  for (let at = 0; at < bytes.length; ) {
    const digits = bytes.toString("latin1", at, at + 4);
    if (!/^[0-9a-f]{4}$/i.test(digits)) throw new GitAnswerInvalid("a packet has no length");
    const length = Number.parseInt(digits, 16);
    const special = specials[length];
    if (special) {
      yield special;
      at += 4;
      continue;
    }
    if (length < 4 || at + length > bytes.length) throw new GitAnswerInvalid("a packet is cut off");
    yield bytes.subarray(at + 4, at + length);
    at += length;
  }
}

/** A line without its line feed. */
export function textOf(packet: Buffer): string {
  return packet.toString("utf8").replace(/\n$/, "");
}

/** A request: capabilities, a delimiter, arguments. */
export function requestOf(command: string, capabilities: readonly string[], args: readonly string[]): Buffer {
  const lines = [`command=${command}`, ...capabilities].map(packetOf);
  return Buffer.from([...lines, "0001", ...args.map(packetOf), "0000"].join(""));
}

function packetOf(line: string): string {
  const length = Buffer.byteLength(line) + 1;
  if (length > maximumLine) throw new Error("a line is too long for a packet");
  return `${(length + 4).toString(16).padStart(4, "0")}${line}\n`;
}
