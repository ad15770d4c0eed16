import type { AgentState } from "../agents/agent.ts";
import type { AppContext } from "../context.ts";
import type { Caller } from "../core/http/caller.ts";
import type { MessageContent } from "../uploads/content.ts";
import type { TurnState } from "./turn.ts";
import type { TurnAdditions } from "./turns.ts";

/**
 * Begins a turn with a message that may have images and files. Keeps nothing of them if the turn is refused. Throws the
 * errors of `Uploads.attach` and `Turns.begin`.
 */
export async function beginContent(
  { turns, uploads }: Pick<AppContext, "turns" | "uploads">,
  id: string,
  agent: AgentState,
  { text, files }: MessageContent,
  caller: Caller,
  additions: TurnAdditions,
): Promise<TurnState> {
  const attachments = await uploads.attach(agent, caller, files);
  try {
    return await turns.begin(id, agent, text, caller, { ...additions, attachments });
  } catch (error) {
    await uploads.detach(files, attachments);
    throw error;
  }
}
