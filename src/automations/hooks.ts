import type { AppContext } from "../context.ts";
import { keptBodyBytes, type Verdict } from "../contract/automation-hooks.ts";
import { BerthError } from "../contract/errors.ts";
import { uuidPattern } from "../contract/ids.ts";
import type { ListedAutomation } from "./automation.ts";
import { filterResult } from "./filters.ts";
import type { NewDelivery } from "./hook-delivery-store.ts";
import { type Payload, plainHeaders, readPayload } from "./payload.ts";
import { render } from "./template.ts";
import { type Delivered, refusalOf } from "./verify-delivery.ts";

/** An automation with a hook, and the secrets that are valid. */
export interface Hook {
  automation: ListedAutomation;
  secrets: readonly string[];
}

/** The result of a verified delivery. */
export interface HookOutcome {
  result: Exclude<Verdict, "failed" | "refused"> | "repeated";
  runId: string | null;
  payload: Payload;
}

/** Deliveries from senders that have a hook's secret. */
export class Hooks {
  readonly #context: AppContext;

  constructor(context: AppContext) {
    this.#context = context;
  }

  /** Null: there is none with this id. */
  async find(id: string): Promise<Hook | null> {
    if (!uuidPattern.test(id)) return null;
    const { automations, hooks } = this.#context.stores;
    const secrets = await hooks.secretsOf(id);
    const automation = secrets && (await automations.byId(id));
    return automation && { automation, secrets };
  }

  /** Null: the delivery is verified. Otherwise the reason why it is refused. */
  refusal({ automation, secrets }: Hook, delivered: Delivered): string | null {
    if (secrets.length === 0) return "The hook's secret is encrypted with another secret key: rotate it.";
    return refusalOf(triggerOf(automation).verify, delivered, secrets);
  }

  /** Stores that a delivery was refused. */
  async refuse({ automation }: Hook, id: string, delivered: Delivered, reason: string): Promise<void> {
    const { stores, metrics } = this.#context;
    await stores.hookDeliveries.refuse(automation.id, id, reason, delivered.body.length);
    metrics.hookDelivered("refused");
  }

  /**
   * Stores a verified delivery, and its run if it starts one. `id` is that of the delivery and of the run. Throws
   * `request_invalid` if its body or the template cannot be used, and `hook_not_found`.
   */
  async take({ automation }: Hook, id: string, delivered: Delivered): Promise<HookOutcome> {
    const { stores, scheduler, metrics } = this.#context;
    const { body, now, headers } = delivered;
    const bare = { id, deliveryId: null, event: null, filter: null, headers: plainHeaders(headers), receivedAt: now };
    const payload = await this.#orFailed(automation, bare, body, () =>
      readPayload(triggerOf(automation).verify, delivered),
    );
    const filter = filterResult(triggerOf(automation).filters ?? [], { ...bare, body: payload.body });
    const delivery: NewDelivery = { ...bare, deliveryId: payload.deliveryId, event: payload.event, filter };
    const leaveOut = async (result: "answered" | "paused" | "filtered", reason: string): Promise<HookOutcome> => {
      await stores.hookDeliveries.leaveOut(automation.id, delivery, body, result, reason);
      metrics.hookDelivered(result);
      return { result, runId: null, payload };
    };
    const { agentId } = automation;
    if (payload.isTest) return leaveOut("answered", "It tests the address.");
    if (automation.paused || agentId === null) return leaveOut("paused", "The automation was paused.");
    if (filter?.matched === false) return leaveOut("filtered", filter.message!);
    const message = await this.#orFailed(automation, delivery, body, () =>
      messageOf(automation.message, delivery, payload.body),
    );
    const taken = await stores.hookDeliveries.take({ ...automation, agentId, message }, delivery, body, id);
    if (!taken) return noHook();
    scheduler.wake();
    const { runId, isRepeated, isSkipped } = taken;
    const result = isRepeated ? "repeated" : isSkipped ? "skipped" : "run";
    metrics.hookDelivered(result);
    if (result === "skipped") metrics.runEnded("skipped");
    return { result, runId, payload };
  }

  /** The message for an earlier delivery. Throws `delivery_not_found`, `delivery_not_kept`, `request_invalid`. */
  async messageAgain({ id, trigger, message }: ListedAutomation, deliveryId: string): Promise<string> {
    const found = trigger.type === "hook" ? await this.#context.stores.hookDeliveries.find(id, deliveryId) : null;
    if (!found || trigger.type !== "hook") {
      throw new BerthError("delivery_not_found", "The automation has no such delivery, or does not keep it any more.");
    }
    const { headers, body, bodyBytes, createdAt } = found;
    if (body === null) throw new BerthError("delivery_not_kept", "The delivery was refused: its body is not kept.");
    if (bodyBytes > keptBodyBytes) {
      const kept = `bodies of up to ${keptBodyBytes / 1024} KiB are kept`;
      throw new BerthError("delivery_not_kept", `The delivery's body has ${bodyBytes} bytes: ${kept}.`);
    }
    const payload = readPayload(trigger.verify, { headers, body, now: createdAt });
    return messageOf(message, { ...payload, headers, receivedAt: createdAt }, payload.body);
  }

  /** The result of `work`. A delivery for which it throws is stored with the reason. */
  async #orFailed<Result>(
    { id }: ListedAutomation,
    delivery: NewDelivery,
    body: Buffer,
    work: () => Result,
  ): Promise<Result> {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof BerthError)) throw error;
      const { stores, metrics } = this.#context;
      await stores.hookDeliveries.leaveOut(id, delivery, body, "failed", error.message);
      metrics.hookDelivered("failed");
      throw error;
    }
  }
}

type Sent = Pick<NewDelivery, "deliveryId" | "event" | "headers" | "receivedAt">;

function messageOf(template: string, { deliveryId, event, headers, receivedAt }: Sent, body: unknown): string {
  return render(template, { body, headers, delivery: { id: deliveryId, event, receivedAt } });
}

function triggerOf({ trigger }: ListedAutomation) {
  if (trigger.type !== "hook") throw new Error("an automation with a secret has no hook");
  return trigger;
}

export function noHook(): never {
  throw new BerthError("hook_not_found", "There is no such hook.");
}
