import { randomUUID } from "node:crypto";
import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import type { AppContext } from "../context.ts";
import type { SlackAnswer } from "../contract/automation-hooks.ts";
import { BerthError } from "../contract/errors.ts";
import { routes } from "../contract/routes.ts";
import { handle } from "../core/http/handle.ts";
import { clientOf, limit, limitAddress } from "../core/http/rate-limits.ts";
import { type HookOutcome, noHook } from "./hooks.ts";
import type { Delivered } from "./verify-delivery.ts";

/** `/hooks`: deliveries from senders, which have a hook's secret and no key. */
export function hookRoutes(context: AppContext): FastifyPluginAsync {
  const { hooks, stores } = context;
  return async (app) => {
    // The signature covers the bytes that were sent.
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
    handle(app, routes.deliverToHook, async (request, reply) => {
      const id = randomUUID();
      const hook = await hooks.find(request.params.hookId);
      if (!hook) {
        await limitAddress(context, request, reply);
        return noHook();
      }
      const sender = `${hook.automation.id} ${clientOf(request.ip)}`;
      if (isCompressed(request)) {
        await limit(reply, stores.limiters.address, sender);
        throw new BerthError(
          "content_type_unsupported",
          "A compressed body is not accepted: leave out content-encoding.",
        );
      }
      const delivered = deliveredBy(request);
      const reason = hooks.refusal(hook, delivered);
      if (reason !== null) {
        await limit(reply, stores.limiters.address, sender);
        await hooks.refuse(hook, id, delivered, reason);
        throw new BerthError("credentials_invalid", `The delivery is not verified. ${reason}`);
      }
      await limit(reply, stores.limiters.hooks, hook.automation.id);
      const outcome = await hooks.take(hook, id, delivered);
      const { trigger } = hook.automation;
      if (trigger.type === "hook" && trigger.verify === "slack") return reply.code(200).send(slackAnswer(outcome));
      return reply.code(202).send({ result: outcome.result, runId: outcome.runId });
    });
  };
}

/** Such a body could become larger than what is allowed. */
function isCompressed({ headers }: FastifyRequest): boolean {
  return (headers["content-encoding"] ?? "identity") !== "identity";
}

function deliveredBy({ headers, body }: FastifyRequest): Delivered {
  return { headers, body: Buffer.isBuffer(body) ? body : Buffer.alloc(0), now: new Date() };
}

function slackAnswer({ result, payload }: HookOutcome): SlackAnswer {
  if (payload.challenge !== null) return { challenge: payload.challenge };
  if (!payload.isCommand) return {};
  return { response_type: "ephemeral", text: commandTexts[result] };
}

const commandTexts: Readonly<Record<HookOutcome["result"], string>> = {
  run: "The agent has started.",
  repeated: "The agent has started.",
  skipped: "The agent is still at work on the command before. Try again when it has finished.",
  filtered: "This command is not for the agent.",
  paused: "The automation is paused.",
  answered: "",
};
