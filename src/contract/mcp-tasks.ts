/** The turn that is a task. */
export interface TaskPlace {
  agent: string;
  turnId: string;
}

/** The id of a task: the agent's name and the turn's id. Also the beginning of the ids of requests about a turn. */
export function taskIdOf({ agent, turnId }: TaskPlace): string {
  return `${agent}.${turnId}`;
}

/** Undefined for an invalid id. `rest` is empty in a task's id. */
export function placeIn(id: unknown): (TaskPlace & { rest: string }) | undefined {
  const [, agent, turnId, rest = ""] = (typeof id === "string" && pattern.exec(id)) || [];
  return agent === undefined ? undefined : { agent, turnId: turnId!, rest };
}

const pattern = /^([a-z][a-z0-9-]{2,29})\.([0-9a-f-]{36})(?:\.([0-9a-f-]{36}))?$/;
