import { type Message, type Part, Role, type StreamResponse, type Task, TaskState } from "@a2a-js/sdk";
import { type SequencedEvent, statusAfter, type TurnEvent, type TurnStatus } from "../../contract/chat.ts";
import { type PastTurn, shownStatus, type TurnState } from "../../turns/turn.ts";
import { queuedText } from "../queued-text.ts";

/** The one artifact of a task: the agent's reply. */
const replyId = "reply";

const states: Readonly<Record<TurnStatus, TaskState>> = {
  queued: TaskState.TASK_STATE_SUBMITTED,
  running: TaskState.TASK_STATE_WORKING,
  waiting: TaskState.TASK_STATE_INPUT_REQUIRED,
  completed: TaskState.TASK_STATE_COMPLETED,
  failed: TaskState.TASK_STATE_FAILED,
  cancelled: TaskState.TASK_STATE_CANCELED,
};

/** The id of the context that a turn belongs to: its conversation. */
function contextIdOf(conversation: number): string {
  return `conversation-${conversation}`;
}

/** The conversation of a context; undefined for an invalid id. */
export function conversationOf(contextId: string): number | undefined {
  const [, number] = /^conversation-([1-9]\d{0,8})$/.exec(contextId) ?? [];
  return number === undefined ? undefined : Number(number);
}

/** The status of turns whose tasks have this state; undefined: no turn has. */
export function statusOf(state: TaskState): TurnStatus | undefined {
  return (Object.keys(states) as TurnStatus[]).find((status) => states[status] === state);
}

/** A turn as a task: the message in its history, the reply as its artifact. */
export function taskOf(turn: PastTurn, { historyLength = 1, withReply = true } = {}): Task {
  const { id, reply, replyTruncated, error, createdAt, finishedAt } = turn;
  const contextId = contextIdOf(turn.conversation);
  const note = replyTruncated ? { truncated: true } : undefined;
  const artifacts = withReply && reply !== "" ? [{ ...artifactOf(reply), metadata: note }] : [];
  return {
    id,
    contextId,
    status: {
      state: states[shownStatus(turn)],
      message: error ? saidByAgent(turn, `${error.code}: ${error.message}`) : undefined,
      timestamp: (finishedAt ?? createdAt).toISOString(),
    },
    artifacts,
    history: historyLength > 0 ? [saidByUser(turn)] : [],
    metadata: undefined,
  };
}

/**
 * A batch of a turn's events as updates of its task. Text that arrived together is sent together; `isFirst`: there was
 * no text before.
 */
export function* updatesOf(
  turn: TurnState,
  batch: readonly SequencedEvent[],
  isFirst: boolean,
): Generator<StreamResponse> {
  let [text, append] = ["", !isFirst];
  for (const { event } of batch) {
    if (event.type === "response.output_text.delta") {
      text += event.delta;
      continue;
    }
    const status = statusUpdateOf(turn, event);
    if (!status) continue;
    if (text !== "") yield artifactUpdateOf(turn, text, append);
    if (text !== "") [text, append] = ["", true];
    yield status;
  }
  if (text !== "") yield artifactUpdateOf(turn, text, append);
}

function artifactUpdateOf(turn: TurnState, text: string, append: boolean): StreamResponse {
  const ids = { taskId: turn.id, contextId: contextIdOf(turn.conversation) };
  const value = { ...ids, artifact: artifactOf(text), append, lastChunk: false, metadata: undefined };
  return { payload: { $case: "artifactUpdate", value } };
}

/** Null for an event that does not change the task's status. */
function statusUpdateOf(turn: TurnState, event: TurnEvent): StreamResponse | null {
  const said = remarkOf(event);
  const status = statusAfter(event);
  if (said === null && status === "running") return null;
  const shown = event.type === "response.approval.requested" ? "waiting" : status;
  const ids = { taskId: turn.id, contextId: contextIdOf(turn.conversation) };
  const message = said ? saidByAgent(turn, said) : undefined;
  const value = {
    ...ids,
    status: { state: states[shown], message, timestamp: new Date().toISOString() },
    metadata: undefined,
  };
  return { payload: { $case: "statusUpdate", value } };
}

/** A text for the status; empty for none, null for an event that reports no status. */
function remarkOf(event: TurnEvent): string | null {
  switch (event.type) {
    case "response.in_progress":
    case "response.approval.resolved":
      return "";
    case "response.approval.requested":
      return `Waits for an approval: ${event.title}`;
    case "response.queued":
      return queuedText(event);
    case "response.tool_call.started":
      return `Uses ${event.title ?? event.name ?? "a tool"}`;
    case "response.failed":
      return `${event.error.code}: ${event.error.message}`;
    default:
      return null;
  }
}

function artifactOf(text: string) {
  return {
    artifactId: replyId,
    name: "Reply",
    description: "",
    parts: [partOf(text)],
    metadata: undefined,
    extensions: [],
  };
}

function saidByUser(turn: TurnState): Message {
  return messageOf(turn, Role.ROLE_USER, `${turn.id}-message`, turn.message);
}

function saidByAgent(turn: TurnState, text: string): Message {
  return messageOf(turn, Role.ROLE_AGENT, `${turn.id}-status`, text);
}

function messageOf({ id: taskId, conversation }: TurnState, role: Role, messageId: string, text: string): Message {
  const contextId = contextIdOf(conversation);
  const nothing = { metadata: undefined, extensions: [], referenceTaskIds: [] };
  return { messageId, contextId, taskId, role, parts: [partOf(text)], ...nothing };
}

function partOf(value: string): Part {
  return { content: { $case: "text", value }, metadata: undefined, filename: "", mediaType: "text/plain" };
}
