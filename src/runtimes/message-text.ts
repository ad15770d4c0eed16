/** Not white space to any of the runtimes, so none of them trims it. */
const zeroWidthSpace = "\u200b";

/**
 * A message as a runtime has to be sent it. All of them read a text that begins with a slash as a command of their own,
 * such as `/clear`; to an agent it is text.
 */
export function asText(message: string): string {
  return message.trimStart().startsWith("/") ? zeroWidthSpace + message : message;
}
