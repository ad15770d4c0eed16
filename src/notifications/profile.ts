import type { ChannelFailures, Notify, QuietHours } from "../contract/notifications.ts";

/** A person's settings, with what the sign-in says where they have none of their own. */
export interface ProfileState {
  personId: string;
  /** The address for mail; null: unknown. */
  email: string | null;
  emailVerified: boolean;
  pendingEmail: string | null;
  emailNotifications: boolean;
  /** The person's own choice; null: that of the sign-in. */
  timeZone: string | null;
  /** That of the sign-in; null: unknown. */
  signInTimeZone: string | null;
  quietHours: QuietHours | null;
  notify: Notify;
  ntfyUrl: string | null;
  /** Encrypted; null: none. */
  ntfyToken: Buffer | null;
  failures: ChannelFailures;
}

/** The fields that a person changes; those that are left out stay. */
export interface ProfileChange {
  /** Null: the address of the sign-in. */
  email?: null;
  emailNotifications?: boolean;
  timeZone?: string | null;
  quietHours?: QuietHours | null;
  notify?: Notify;
  ntfy?: { url: string; token?: string | null } | null;
}
