import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { contextWith } from "../../test/support/context.ts";
import type { Author } from "../contract/authors.ts";
import { signed } from "./signed-event.ts";
import type { TurnState } from "./turn.ts";

const author = (name: string): Author => ({ kind: "person", id: randomUUID(), name, person: name });
const [id, message] = [randomUUID(), "only the unit tests"];
const forged = { seq: 4, event: { type: "response.steered" as const, id, message, createdBy: author("Mallory") } };

function authorFor(known: Map<string, Author | null>, of: () => Promise<Map<string, Author | null>>) {
  const context = contextWith({ stores: { authors: { of } }, log: () => {} });
  return signed(forged, { turn: { id, agentId: "ada" } as TurnState, authors: known }, context);
}

const signedBy = (createdBy: Author | null) => ({
  seq: 4,
  event: { type: "response.steered", id, message, createdBy },
});

test("a message has the author that this server knows, not the machine's", async () => {
  const ada = author("Ada");
  const unused = () => Promise.reject(new Error("not needed"));
  expect(await authorFor(new Map([[id, ada]]), unused)).toEqual(signedBy(ada));
  expect(await authorFor(new Map([[id, null]]), unused)).toEqual(signedBy(null));
});

test("a message that an earlier server sent has its stored author", async () => {
  const ada = author("Ada");
  expect(await authorFor(new Map(), async () => new Map([[id, ada]]))).toEqual(signedBy(ada));
  expect(await authorFor(new Map(), async () => new Map())).toEqual(signedBy(null));
});

test("a tool's call has the times of this server, not the machine's", async () => {
  const context = contextWith({ stores: {}, log: () => {} });
  const turn = { turn: { id, agentId: "ada" } as TurnState, authors: new Map() };
  const before = Date.now();
  for (const type of ["response.tool_call.started", "response.tool_call.completed"] as const) {
    const event = { type, id: "call-1", at: "1999-01-01T00:00:00.000Z" };
    const { event: stamped } = await signed({ seq: 5, event }, turn, context);
    if (!("at" in stamped)) throw new Error("it has no time");
    expect(Date.parse(stamped.at!)).toBeGreaterThanOrEqual(before);
  }
});

test("the author is unknown while the database does not respond", async () => {
  expect(await authorFor(new Map(), () => Promise.reject(new Error("ECONNREFUSED")))).toEqual(signedBy(null));
});
