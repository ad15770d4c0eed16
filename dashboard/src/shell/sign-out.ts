import { session } from "../api/client.ts";
import { unsubscribe } from "../notifications/browser.ts";

/** Signs out in this browser, or in all of the person's. They show no more notifications. Throws `NoAnswerError`. */
export async function signOut(everywhere: boolean): Promise<void> {
  await unsubscribe(everywhere);
  await session.signOut(everywhere);
}
