/** Not white space to any of the runtimes, so none of them trims it. */
const zeroWidthSpace = "\u200b";

/**
 * The text to send to a runtime for a message. Every runtime reads a text that begins with a slash as one of its own
 * commands, such as `/clear`; for an agent it is text.
 */
export function asText(message: string): string {
  return message.trimStart().startsWith("/") ? zeroWidthSpace + message : message;
}
