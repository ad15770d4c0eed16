import { InvalidArgumentError } from "commander";

const highest = 65_535;

/** A TCP port. For an argument. */
export function portNumber(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= highest) return port;
  throw new InvalidArgumentError(`A port is a number from 1 to ${highest}.`);
}

/** A port here and one in a machine. */
export interface Forwarding {
  /** 0: any free one. */
  local: number;
  remote: number;
}

/** `REMOTE` or `LOCAL:REMOTE`; collects several. For an argument. */
export function forwarding(text: string, before: Forwarding[] = []): Forwarding[] {
  const [first, second, ...more] = text.split(":") as [string, string?, ...string[]];
  if (more.length > 0) throw new InvalidArgumentError("A port is given as REMOTE or LOCAL:REMOTE, such as 8080:3000.");
  if (second === undefined) return [...before, { local: portNumber(first), remote: portNumber(first) }];
  return [...before, { local: first === "0" ? 0 : portNumber(first), remote: portNumber(second) }];
}
