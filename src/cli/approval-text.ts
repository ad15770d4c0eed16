import type { Approval, TurnEvent } from "@berth/client";

export type ApprovalRequest = Extract<TurnEvent, { type: "response.approval.requested" }>;

const verbs: Readonly<Record<Approval["kind"], string>> = {
  read: "read",
  edit: "edit",
  execute: "execute",
  fetch: "fetch from",
  mcp: "call",
  other: "use",
};

/** The use of a tool that waits for an answer: `execute: rm -rf build`. */
export function approvalText({ kind, title, subject }: Pick<Approval, "kind" | "title" | "subject">): string {
  return `${verbs[kind]}: ${visible(subject ?? title)}`;
}

/** The whole text in one line, with line breaks and invisible characters spelled out: they could hide a part of it. */
function visible(text: string): string {
  return text
    .replaceAll("\n", " ↵ ")
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}

/** The keys that answer, with the decision of each. */
export const decisions = { y: "allow", n: "deny", a: "allow-always" } as const;
export const decisionKeys = "[y: allow, n: deny, a: always allow]";

export function decisionOf(key: string | undefined): (typeof decisions)[keyof typeof decisions] | null {
  return key !== undefined && key in decisions ? decisions[key as keyof typeof decisions] : null;
}
