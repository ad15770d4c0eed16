import { text } from "node:stream/consumers";

/** An argument's text: `-` reads all of standard input, anything else is literal. */
export async function textOf(argument: string): Promise<string> {
  return argument === "-" ? text(process.stdin) : argument;
}
