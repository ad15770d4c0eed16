import type { Readable } from "node:stream";
import type { FastifyPluginAsync } from "fastify";
import type { AppContext } from "../context.ts";
import { BerthError } from "../contract/errors.ts";
import { routes } from "../contract/routes.ts";
import { maximumSkillArchive } from "../contract/skills.ts";
import { handle } from "../core/http/handle.ts";
import { toSkillSummary } from "./skill.ts";

/** `/skills`: skills of the workspace. */
export function skillRoutes({ skills, streams }: AppContext): FastifyPluginAsync {
  return async (app) => {
    handle(app, routes.listSkills, async ({ caller }) => ({
      data: (await skills.list(caller)).map(toSkillSummary),
      nextCursor: null,
    }));

    handle(app, routes.getSkill, async ({ caller, params }) => skills.find(caller, params.skill));

    handle(app, routes.setSkill, async ({ caller, params, body }, reply) => {
      const { skill, made } = await skills.set(caller, params.skill, body);
      return reply.code(made ? 201 : 200).send(skill);
    });

    handle(app, routes.removeSkill, async ({ caller, params }) => {
      await skills.remove(caller.accountId, params.skill);
      return null;
    });

    await app.register(async (bytes) => {
      bytes.removeAllContentTypeParsers();
      bytes.addContentTypeParser("*", (_request, body, done) => done(null, body));
      handle(bytes, routes.uploadSkill, async (request, reply) => {
        const { caller, params, query } = request;
        using _ = streams.enter(request);
        // Without a content type, there may be no body stream.
        const archive = await archiveIn((request.body ?? request.raw) as Readable);
        const agents = query.agents === undefined ? undefined : query.agents.split(",").filter((name) => name !== "");
        const { skill, made } = await skills.receive(caller, params.skill, archive, { agents, hash: query.hash });
        return reply.code(made ? 201 : 200).send(skill);
      });
    });
  };
}

/** Throws `body_too_large`. A sender that is still sending gets its response when everything has arrived. */
async function archiveIn(body: Readable): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of body) {
    size += (piece as Buffer).length;
    if (size <= maximumSkillArchive) pieces.push(piece as Buffer);
    else pieces.length = 0;
  }
  if (size <= maximumSkillArchive) return Buffer.concat(pieces);
  throw new BerthError("body_too_large", `An archive of a skill is limited to ${maximumSkillArchive / 1024 ** 2} MiB.`);
}
