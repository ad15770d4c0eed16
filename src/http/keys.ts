import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { ListQuery } from "../contract/agents.ts";
import { BerthError } from "../contract/errors.ts";
import { isUuid, uuidPattern } from "../contract/ids.ts";
import { CreatedKey, CreateKey, KeyList, KeyParams } from "../contract/keys.ts";
import { type Keys, toKeyView } from "../service/keys.ts";
import { fromCursor, pageOf } from "./paging.ts";

/** `/keys`: the account's API keys. */
export function keyRoutes(keys: Keys): FastifyPluginAsyncZod {
  return async (app) => {
    const listSchema = { summary: "List the keys", querystring: ListQuery, response: { 200: KeyList } };
    app.get("/keys", { schema: listSchema }, async (request) => {
      const { limit, cursor } = request.query;
      const after = fromCursor(cursor, uuidPattern);
      const page = await keys.list(request.caller.accountId, limit + 1, after);
      return pageOf(page.map(toKeyView), limit, ({ id }) => id);
    });

    const createSchema = {
      summary: "Create a key",
      description: "The answer holds the key itself, this once. A key can make none that can do more than itself.",
      body: CreateKey,
      response: { 201: CreatedKey },
    };
    app.post("/keys", { schema: createSchema }, async (request, reply) => {
      const { stored, key } = await keys.create(request.caller, request.body, request.attempt);
      reply.code(201).header("location", `/keys/${stored.id}`).header("cache-control", "no-store");
      return { ...toKeyView(stored), key };
    });

    const revokeSchema = {
      summary: "Revoke a key, at once and for ever",
      params: KeyParams,
      response: { 204: z.null() },
    };
    app.delete("/keys/:id", { schema: revokeSchema }, async (request, reply) => {
      const { id } = request.params;
      // What is no id may be a key itself, and is not repeated.
      if (!isUuid(id)) throw new BerthError("key_not_found", "This is no key's id: GET /keys lists them.");
      const revoked = await keys.revoke(request.caller.accountId, id);
      if (!revoked) throw new BerthError("key_not_found", `There is no key ${id}.`);
      return reply.code(204).send(null);
    });
  };
}
