import type { FastifyPluginAsync } from "fastify";
import type { AgentState } from "../../agents/agent.ts";
import { findAgent } from "../../agents/find.ts";
import type { AppContext } from "../../context.ts";
import { routes } from "../../contract/routes.ts";
import { handle } from "../../core/http/handle.ts";

const pageSize = 500;

/** `/v1/models`: the agents that the caller may use. */
export function openAiModelRoutes(context: AppContext): FastifyPluginAsync {
  const { agents } = context;
  return async (app) => {
    handle(app, routes.listOpenAiModels, async ({ caller }) => {
      const data: ReturnType<typeof toModel>[] = [];
      // OpenAI's list has no pages.
      for (let after: string | null = null; ; ) {
        const page = await agents.list(caller, pageSize, after);
        data.push(...page.map(toModel));
        if (page.length < pageSize) return { object: "list" as const, data };
        after = page.at(-1)!.name;
      }
    });

    handle(app, routes.getOpenAiModel, async (request) =>
      toModel(await findAgent(agents, request, request.params.model)),
    );
  };
}

function toModel({ name, createdAt }: AgentState) {
  return { id: name, object: "model" as const, created: Math.floor(createdAt.getTime() / 1000), owned_by: "berth" };
}
