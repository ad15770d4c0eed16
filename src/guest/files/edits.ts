import type { FileEdit } from "../../contract/changes.ts";
import { GuestRefusalCode } from "../../contract/guest.ts";
import type { EditResult } from "../../contract/guest-file-calls.ts";
import { GuestError } from "../control.ts";
import type { EditPlan } from "./edit-plans.ts";
import type { Unfinished } from "./unfinished.ts";
import type { Worker } from "./workers.ts";

/** Edits files below `home`. All are checked before the first is written; the first write that fails is the last. */
export async function editFiles(
  worker: Worker,
  unfinished: Unfinished,
  home: string,
  edits: readonly FileEdit[],
): Promise<EditResult> {
  const result: EditResult = { edited: [], faults: [] };
  const plans: EditPlan[] = [];
  for (const edit of edits) {
    try {
      plans.push(await worker.ask("planEdit", { home, edit }));
    } catch (error) {
      result.faults.push(faultOf(edit.name, error));
    }
  }
  if (result.faults.length > 0) return result;
  for (const [at, plan] of plans.entries()) {
    const { name, change } = edits[at]!;
    try {
      result.edited.push({ name, change, etag: await perform(worker, unfinished, plan) });
    } catch (error) {
      result.faults.push(faultOf(name, error));
      break;
    }
  }
  return result;
}

/** The tag of the written file; null for a deleted one. */
async function perform(worker: Worker, unfinished: Unfinished, { path, etag, text }: EditPlan): Promise<string | null> {
  if (text === null) {
    await worker.ask("removeUnchanged", { path, etag: etag! });
    return null;
  }
  const temporary = await worker.ask("unfinishedName", { path });
  const record = await unfinished.add(worker.user, temporary);
  try {
    const conditions = { mode: null, ifMatch: etag === null ? null : [etag], ifNoneMatch: etag === null };
    const request = { path, user: worker.user, ...conditions };
    return (await worker.ask("writeText", { request, temporary, text })).etag;
  } finally {
    await record.remove();
  }
}

/** Throws errors that are no refusals. */
function faultOf(name: string, error: unknown): EditResult["faults"][number] {
  if (!(error instanceof GuestError)) throw error;
  // The file changed between the check and the write.
  const code = error.code === "precondition_failed" ? "file_changed" : error.code;
  const refusal = GuestRefusalCode.safeParse(code);
  if (!refusal.success) throw error;
  return { name, code: refusal.data, message: error.message.slice(0, 1_000).toWellFormed() };
}
