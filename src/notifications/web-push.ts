import type { Push } from "../push/push.ts";
import type { Channel, Notification, SendFailure } from "./channel.ts";
import type { ProfileState } from "./profile.ts";

/** The person's browsers. */
export class WebPush implements Channel {
  readonly name = "push";
  readonly #push: Push;

  constructor(push: Push) {
    this.#push = push;
  }

  async missing({ personId }: ProfileState): Promise<string | null> {
    return (await this.#push.reaches(personId))
      ? null
      : "No browser shows notifications. Turn them on in the dashboard.";
  }

  async send({ personId }: ProfileState, { title, body, url, tag }: Notification): Promise<SendFailure> {
    const { sent, again } = await this.#push.send(personId, { title, body, url, tag });
    if (sent > 0) return null;
    return { message: "No browser took the notification. The list of browsers says why.", isFinal: !again };
  }
}
