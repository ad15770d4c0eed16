import type { Outbound } from "../outbound/outbound.ts";
import { type Channel, failureOfCall, type Notification, type SendFailure } from "./channel.ts";
import type { ProfileState } from "./profile.ts";
import type { ProfileStore } from "./profile-store.ts";

/** https://docs.ntfy.sh/publish/#message-priority */
const highPriority = 4;
const usualPriority = 3;

/** Topics of ntfy servers, by JSON (https://docs.ntfy.sh/publish/#publish-as-json). */
export class Ntfy implements Channel {
  readonly name = "ntfy";
  readonly #outbound: Outbound;
  readonly #profiles: ProfileStore;
  /** The service's public URL. */
  readonly #address: { readonly public: string };

  constructor(outbound: Outbound, profiles: ProfileStore, address: { readonly public: string }) {
    this.#outbound = outbound;
    this.#profiles = profiles;
    this.#address = address;
  }

  async missing(profile: ProfileState): Promise<string | null> {
    if (profile.ntfyUrl === null) return "There is no ntfy topic.";
    if (profile.ntfyToken === null || this.#profiles.openToken(profile) !== null) return null;
    return "The token was encrypted with another secret key. Set it again.";
  }

  async send(profile: ProfileState, notification: Notification, signal: AbortSignal): Promise<SendFailure> {
    const { personId, ntfyUrl } = profile;
    const { origin, pathname } = new URL(ntfyUrl!);
    const token = this.#profiles.openToken(profile);
    const body = JSON.stringify({
      topic: pathname.slice(1),
      title: notification.title,
      message: notification.body,
      click: this.#address.public + notification.url,
      priority: notification.isUrgent ? highPriority : usualPriority,
      tags: ["robot"],
    });
    const headers = {
      "content-type": "application/json",
      ...(token !== null && { authorization: `Bearer ${token}` }),
    };
    try {
      const { status } = await this.#outbound.post({ accountId: personId, url: `${origin}/`, headers, body, signal });
      return failureOf(status);
    } catch (error) {
      return failureOfCall(error, signal);
    }
  }
}

function failureOf(status: number): SendFailure {
  if (status >= 200 && status < 300) return null;
  const isFinal = status >= 400 && status < 500 && status !== 408 && status !== 429;
  const hint = status === 401 || status === 403 ? " Check the token." : "";
  return { message: `The ntfy server answered ${status}.${hint}`, isFinal };
}
