import { randomUUID } from "node:crypto";
import {
  A2A_CONTENT_TYPE,
  A2A_PROTOCOL_VERSION,
  A2A_VERSION_HEADER,
  StreamResponse,
  type TaskPushNotificationConfig,
} from "@a2a-js/sdk";
import { RequestMalformedError, TaskNotFoundError } from "@a2a-js/sdk/errors";
import type { AppContext } from "../../context.ts";
import { BerthError } from "../../contract/errors.ts";
import { accessTo } from "../../core/http/access.ts";
import type { Caller } from "../../core/http/caller.ts";
import type { PastTurn, TurnState } from "../../turns/turn.ts";
import type { Message } from "../../webhooks/deliverer.ts";
import type { ClaimedDelivery } from "../../webhooks/delivery-store.ts";
import type { TaskOfCaller } from "./notification-store.ts";
import { type PushSecret, type PushTarget, pushTargetOf, toPushConfig } from "./push-config.ts";
import { taskOf } from "./tasks.ts";

/** The header by which a receiver knows the task's token (A2A 1.0). */
const tokenHeader = "x-a2a-notification-token";

/** Push notifications of tasks. The deliverer of the webhooks sends them. */
export class TaskNotifications {
  readonly #context: AppContext;

  constructor(context: AppContext) {
    this.#context = context;
  }

  /** A configuration that can be set. Throws A2A's error for one that cannot. */
  async check(config: TaskPushNotificationConfig): Promise<PushTarget> {
    const target = pushTargetOf(config);
    try {
      await this.#context.outbound.requireAllowed(target.url);
    } catch (error) {
      throw error instanceof BerthError ? new RequestMalformedError(error.message) : error;
    }
    return target;
  }

  /** Throws `too_many_webhooks`. */
  async set(caller: Caller, turn: TurnState, target: PushTarget): Promise<TaskPushNotificationConfig> {
    const named = { ...target, id: target.id || randomUUID() };
    await this.#context.stores.taskNotifications.set(ownOf(caller, turn), randomUUID(), named);
    this.#context.deliverer.wake();
    return toPushConfig(turn.id, named);
  }

  async list(caller: Caller, turn: TurnState): Promise<TaskPushNotificationConfig[]> {
    const targets = await this.#context.stores.taskNotifications.list(ownOf(caller, turn));
    return targets.map((target) => toPushConfig(turn.id, target));
  }

  async find(caller: Caller, turn: TurnState, id: string): Promise<TaskPushNotificationConfig> {
    const found = (await this.list(caller, turn)).find((each) => each.id === id);
    if (found) return found;
    throw new TaskNotFoundError("The task has no push notification configuration with this id.");
  }

  async remove(caller: Caller, turn: TurnState, id: string): Promise<void> {
    await this.#context.stores.taskNotifications.remove(ownOf(caller, turn), id);
  }

  async sweep(): Promise<void> {
    await this.#context.stores.taskNotifications.removeEnded();
  }

  /** The request with the task's current state. Null: the caller may no longer read the task; its configuration was removed. */
  async messageOf(delivery: ClaimedDelivery, turnId: string, secret: string): Promise<Message | null> {
    const turn = await this.#turnOf(delivery, turnId);
    if (!turn) {
      await this.#context.stores.taskNotifications.drop(delivery.webhookId);
      return null;
    }
    const response: StreamResponse = { payload: { $case: "task", value: taskOf(turn) } };
    const { token, authentication } = JSON.parse(secret) as PushSecret;
    return {
      headers: {
        "content-type": A2A_CONTENT_TYPE,
        [A2A_VERSION_HEADER.toLowerCase()]: A2A_PROTOCOL_VERSION,
        "webhook-id": delivery.id,
        ...(token !== "" && { [tokenHeader]: token }),
        ...(authentication && { authorization: `${authentication.scheme} ${authentication.credentials}` }),
      },
      body: JSON.stringify(StreamResponse.toJSON(response)),
    };
  }

  async #turnOf(delivery: ClaimedDelivery, turnId: string): Promise<PastTurn | null> {
    const { stores } = this.#context;
    const { accountId, personId } = delivery;
    const role = await this.#roleOf(delivery);
    const agentId = await stores.taskNotifications.agentIdOf(turnId);
    const agent = agentId && (await stores.agents.byId(agentId));
    const isRead =
      role && agent && agent.accountId === accountId && accessTo(agent, { accountId, personId, role }) === "all";
    return isRead ? stores.pastTurns.read(agent.id, turnId) : null;
  }

  /** Null: its key or its membership ended. */
  async #roleOf({ accountId, keyId, personId }: ClaimedDelivery) {
    const { keys, people } = this.#context.stores;
    if (keyId !== null) return keys.roleOf(keyId);
    return personId === null ? null : people.roleIn(personId, accountId, null);
  }
}

function ownOf(by: Caller, { id: turnId }: TurnState): TaskOfCaller {
  return { accountId: by.accountId, turnId, by };
}
