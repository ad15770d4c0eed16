import { useIsShown } from "./form-errors.ts";
import { messageOf } from "./message.ts";
import { Notice } from "./Notice.tsx";

/** The last error, in place; nothing if there is none. */
export function Failure({ of: error }: { of: unknown }) {
  return error !== null && <Notice tone="bad">{messageOf(error)}</Notice>;
}

/** The last error of a form, unless its fields say it. */
export function FormFailure({ of: error }: { of: unknown }) {
  return !useIsShown() && <Failure of={error} />;
}
