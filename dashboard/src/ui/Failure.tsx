import { messageOf } from "./message.ts";
import { Notice } from "./Notice.tsx";

/** The last error, in place; nothing if there is none. */
export function Failure({ of: error }: { of: unknown }) {
  return error !== null && <Notice tone="bad">{messageOf(error)}</Notice>;
}
