import type { AccountEvent } from "@berth/client";
import { expect, test } from "vitest";
import { makesStale } from "./stale.ts";

const keys = [
  ["agents"],
  ["agents", "ada"],
  ["agents", "bob"],
  ["agents", "ada", "turns"],
  ["agents", "ada", "connections", "refused"],
  ["agents", "ada", "files", "."],
  ["recent turns", "all"],
  ["inbox", "unread"],
  ["billing"],
  ["billing", "usage", "day", "2026-11-01"],
  ["keys"],
  ["users"],
  ["me"],
  ["members", "the id"],
  ["invitations", "the id"],
  ["agents", "ada", "conversations"],
];

test.each<[string, number[]]>([
  ["agent.created", [0, 1, 15]],
  ["agent.changed", [0, 1, 15]],
  ["agent.deleted", [0, 1, 15]],
  ["turn.started", [0, 1, 6, 15]],
  ["turn.ended", [0, 1, 6, 15]],
  ["conversation.created", [15]],
  ["conversation.changed", [15]],
  ["conversation.deleted", [15]],
  ["host.refused", [4]],
  ["inbox.changed", [7]],
  ["credits.changed", [8, 9]],
  ["key.created", [10]],
  ["key.revoked", [10]],
  ["member.joined", [12, 13]],
  ["member.changed", [12, 13]],
  ["member.removed", [12, 13]],
  ["invitation.created", [14]],
  ["invitation.accepted", [14]],
  ["invitation.revoked", [14]],
  ["workspace.renamed", [12]],
  ["events.dropped", [0, 1, 2, 4, 6, 7, 8, 9, 10, 12, 13, 14, 15]],
])("%s makes the right queries stale", (type, stale) => {
  const event = { id: 1, type, agent: "ada" } as unknown as AccountEvent;
  expect(keys.flatMap((key, at) => (makesStale(event, key) ? [at] : []))).toEqual(stale);
});
