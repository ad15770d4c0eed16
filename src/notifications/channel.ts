import type { ChannelName } from "../contract/notifications.ts";
import { CallFailed } from "../outbound/outbound.ts";
import type { ProfileState } from "./profile.ts";

/** A message to a person. */
export interface Notification {
  /** Stays the same at later tries. */
  id: string;
  title: string;
  body: string;
  /** A path of the dashboard. */
  url: string;
  /** A later notification of the same tag replaces an earlier one, where the channel can. */
  tag: string;
  /** The workspace that it is about, or the first of several. */
  workspaceId: string;
  /** All items of the person's inbox that it is about; empty: it is about others, too, or about very many. */
  items: readonly string[];
  /** Whether something waits for the person. */
  isUrgent: boolean;
  /** The agent's reply, for channels that have room for it; null: none. */
  reply: string | null;
}

/** Null: it was sent. */
export type SendFailure = {
  /** Contains nothing that the other side sent. */
  message: string;
  /** Whether later tries are refused as well. */
  isFinal: boolean;
} | null;

/** A way to reach people. */
export interface Channel {
  readonly name: ChannelName;
  /** Why it does not reach the person, and what to do; null: it does. */
  missing(profile: ProfileState): Promise<string | null>;
  /** Sends once. To be called only if nothing is missing. Rejects if `signal` aborts. */
  send(profile: ProfileState, notification: Notification, signal: AbortSignal): Promise<SendFailure>;
}

/** Why a call of `Outbound` has no answer. Throws if the signal has aborted, and any other error. */
export function failureOfCall(error: unknown, signal: AbortSignal): SendFailure {
  signal.throwIfAborted();
  if (!(error instanceof CallFailed)) throw error;
  return { message: error.message, isFinal: error.fault === "refused" };
}
