import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { ListQuery } from "../contract/agents.ts";
import { BerthError } from "../contract/errors.ts";
import { uuidPattern } from "../contract/ids.ts";
import { CreateUser, UserList, UserName, UserParams, UserRecord, UserWithLink } from "../contract/users.ts";
import { toUserView, type Users } from "../service/users.ts";
import { fromCursor, pageOf } from "./paging.ts";

/** `/admin/users`: who signs in at the service's own identity provider. For the operator. */
export function userRoutes(users: Users): FastifyPluginAsyncZod {
  return async (app) => {
    const listSchema = { summary: "List the users", querystring: ListQuery, response: { 200: UserList } };
    app.get("/admin/users", { schema: listSchema }, async ({ query: { limit, cursor } }) => {
      const page = await users.list(limit + 1, fromCursor(cursor, uuidPattern));
      const { data, nextCursor } = pageOf(page, limit, ({ id }) => id);
      return { data: data.map(toUserView), nextCursor };
    });

    const createSchema = {
      summary: "Add a user",
      description: "The answer has a link, this once, with which the user sets a password.",
      body: CreateUser,
      response: { 201: UserWithLink },
    };
    app.post("/admin/users", { schema: createSchema }, async ({ body }, reply) => {
      const { user, link } = await users.create(body.name);
      reply.code(201).header("cache-control", "no-store");
      return { ...toUserView(user), link };
    });

    const resetSchema = {
      summary: "Take a user's password away and answer a link for a new one",
      description: "Ends what the user has signed in.",
      params: UserParams,
      response: { 200: UserWithLink },
    };
    app.post("/admin/users/:name/reset", { schema: resetSchema }, async ({ params }, reply) => {
      const { user, link } = await users.reset(possibleName(params.name));
      reply.header("cache-control", "no-store");
      return { ...toUserView(user), link };
    });

    for (const [verb, disabled] of [
      ["disable", true],
      ["enable", false],
    ] as const) {
      const summary = disabled ? "Refuse a user and the keys of its account, at once" : "Let a user in again";
      const schema = { summary, params: UserParams, response: { 200: UserRecord } };
      app.post(`/admin/users/:name/${verb}`, { schema }, async ({ params }) =>
        toUserView(await users.setDisabled(possibleName(params.name), disabled)),
      );
    }
  };
}

/** Throws `user_not_found` for what nobody can be called, which the database may not even take. */
function possibleName(name: string): string {
  if (UserName.safeParse(name).success) return name;
  throw new BerthError("user_not_found", "There is no user of this name.");
}
