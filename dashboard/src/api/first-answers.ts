import { chosenWorkspace } from "../workspace/choice.ts";

/** Part of the document: src/sign-in/first-answers.ts. */
interface Given {
  after: number;
  workspace: string | null;
  answers: Record<string, unknown>;
}

/** Answers for the page's first requests, which came with its document. Each is used once, and none after `clear`. */
export class FirstAnswers {
  #answers: Record<string, unknown> = {};
  /** The id of the newest event before the answers; undefined if there are none. */
  readonly after: number | undefined;

  constructor() {
    const given = JSON.parse(document.getElementById("first-answers")?.textContent ?? "null") as Given | null;
    if (given === null || given.workspace !== chosenWorkspace()) return;
    this.#answers = given.answers;
    this.after = given.after;
  }

  /** The answer for a request; null if there is none. */
  take({ method, url }: Request): Response | null {
    const { pathname, search } = new URL(url);
    const path = pathname + search;
    if (method !== "GET" || !Object.hasOwn(this.#answers, path)) return null;
    const { [path]: body, ...rest } = this.#answers;
    this.#answers = rest;
    return Response.json(body);
  }

  /** Drops the rest, which may not be true any more. */
  clear(): void {
    this.#answers = {};
  }
}

export const firstAnswers = new FirstAnswers();

/** Removes the page that the server has drawn: the same is shown by the dashboard itself, or something else is. */
export function removeFirstPage(): void {
  document.getElementById("first")?.remove();
}
