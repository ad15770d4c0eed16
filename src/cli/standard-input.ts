import { text } from "node:stream/consumers";

/** The text that an argument stands for: `-` for all of standard input, any other for itself. */
export async function textOf(argument: string): Promise<string> {
  return argument === "-" ? text(process.stdin) : argument;
}
