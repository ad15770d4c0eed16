import { messageOf } from "./message.ts";
import { Notice } from "./Notice.tsx";

/** What went wrong last, in place; nothing where nothing did. */
export function Failure({ of: error }: { of: unknown }) {
  return error !== null && <Notice tone="bad">{messageOf(error)}</Notice>;
}
