import { z } from "zod";
import { AgentName } from "./agents.ts";

/** `needs-me`: what waits for the person or failed. `all`: also what completed. */
export const notifyChoices = ["all", "needs-me", "none"] as const;

const time = z.iso.datetime();

export const Notify = z.enum(notifyChoices).meta({
  id: "Notify",
  description:
    "`needs-me`: what waits for the person or failed. `all`: also what completed, and what waits for others. `none`: nothing.",
});
export type Notify = z.infer<typeof Notify>;

/** Notifications older than this are dropped. */
export const notificationHours = 24;

const clockTime = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/, "A time of day is such as 22:00.")
  .meta({ examples: ["22:00"] });

export const QuietHours = z
  .strictObject({ from: clockTime, to: clockTime })
  .refine(({ from, to }) => from !== to, { message: "quietHours: from and to are the same. Null: no quiet hours." })
  .meta({
    id: "QuietHours",
    description: "Notifications wait from `from` to `to`, by the clock of the person's time zone, also over midnight.",
  });
export type QuietHours = z.infer<typeof QuietHours>;

const timeZone = z
  .string()
  .max(64)
  .refine(isTimeZone, "timeZone: not in the IANA database. An example: Europe/Berlin.")
  .meta({ examples: ["Europe/Berlin"] });

const topicUrl = z
  .string()
  .max(500)
  .regex(/^https?:\/\/[^/?#]+\/[-_A-Za-z0-9]{1,64}$/, "ntfy.url: an address is https://HOST/TOPIC.")
  .meta({ examples: ["https://ntfy.sh/my-secret-topic"] });

export const ChangeProfile = z
  .strictObject({
    email: z.email("Must be an e-mail address.").max(254).nullable().optional().meta({
      description:
        "The address for mail. Another one than the verified one gets a link that confirms it. Null: the address of the sign-in.",
    }),
    emailNotifications: z.boolean().optional().meta({ description: "Whether notifications are sent by mail." }),
    timeZone: timeZone.nullable().optional().meta({ description: "Null: the one of the sign-in." }),
    quietHours: QuietHours.nullable().optional(),
    notify: Notify.optional().meta({ description: "For agents without a choice of their own, and for the workspace." }),
    ntfy: z
      .strictObject({
        url: topicUrl,
        token: z
          .string()
          .min(1)
          .max(200)
          .regex(/^[\x21-\x7e]+$/, "ntfy.token: letters, digits and signs without spaces are allowed.")
          .nullable()
          .optional()
          .meta({ description: "An access token. Null: none. Without it, the token of the same address stays." }),
      })
      .nullable()
      .optional()
      .meta({ description: "A topic of an ntfy server. Null: none." }),
  })
  .refine((change) => Object.keys(change).length > 0, { message: "At least one field is required." })
  .meta({ id: "ChangeProfile" });
export type ChangeProfile = z.infer<typeof ChangeProfile>;

const ChannelName = z.enum(["push", "email", "ntfy"]);
export type ChannelName = z.infer<typeof ChannelName>;

const Failure = z.object({ message: z.string(), at: time });

/** Why channels refused the last notification for good. */
export type ChannelFailures = Partial<Record<ChannelName, z.infer<typeof Failure>>>;

const ChannelState = z
  .object({
    channel: ChannelName,
    ready: z.boolean().meta({ description: "Whether notifications are sent over it." }),
    missing: z.string().nullable().meta({ description: "Why it is not ready, and what to do. Null: it is." }),
    failure: Failure.nullable().meta({
      description: "Why the last notification was refused for good. Null: none was, or a later one arrived.",
    }),
  })
  .meta({ id: "NotificationChannel" });

export const Profile = z
  .object({
    email: z.string().nullable().meta({ description: "The address for mail. Null: unknown." }),
    emailVerified: z.boolean().meta({ description: "By a link, or by the identity provider." }),
    pendingEmail: z
      .string()
      .nullable()
      .meta({ description: "An address that replaces `email` once its link was opened. Null: none." }),
    emailNotifications: z.boolean(),
    timeZone: z.string().nullable(),
    effectiveTimeZone: z.string().meta({ description: "`timeZone`, or that of the sign-in, or UTC." }),
    quietHours: QuietHours.nullable(),
    notify: Notify,
    ntfy: z.object({ url: z.string(), hasToken: z.boolean() }).nullable(),
    channels: z.array(ChannelState),
  })
  .meta({ id: "Profile", description: "How a person is notified." });
export type Profile = z.infer<typeof Profile>;

export const VerifyEmail = z
  .strictObject({ token: z.string().min(1).max(200).meta({ description: "From the link, behind `#`." }) })
  .meta({ id: "VerifyEmail" });

export const TestResult = z
  .object({
    channels: z.array(
      z.object({
        channel: ChannelName,
        sent: z.boolean(),
        error: z.string().nullable().meta({ description: "Why it was not sent. Null: it was." }),
      }),
    ),
  })
  .meta({ id: "NotificationTest" });
export type TestResult = z.infer<typeof TestResult>;

export const ProfileAgentParams = z.object({ name: z.string().meta({ description: "The agent's name." }) });
export const SetAgentNotify = z.strictObject({ notify: Notify }).meta({ id: "SetAgentNotify" });

export const AgentNotify = z.object({ agent: AgentName, notify: Notify }).meta({ id: "AgentNotify" });
export type AgentNotify = z.infer<typeof AgentNotify>;

export const AgentNotifyList = z
  .object({ data: z.array(AgentNotify), nextCursor: z.string().nullable() })
  .meta({ id: "AgentNotifyList", description: "By the agent's name." });

export const UnsubscribeParams = z.object({ token: z.string().meta({ description: "From the mail." }) });

/** The events that people are notified of. */
export type NotificationType =
  | "turn.waiting"
  | "turn.held"
  | "turn.completed"
  | "turn.failed"
  | "run.completed"
  | "run.failed"
  | "automation.paused"
  | "credits.low"
  | "credits.exhausted"
  | "webhook.disabled";

/** Whether the runtime knows the time zone. */
function isTimeZone(name: string): boolean {
  // Offsets such as +01:00 have no summer time.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
