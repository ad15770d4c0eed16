import { TaskPushNotificationConfig } from "@a2a-js/sdk";
import { RequestMalformedError } from "@a2a-js/sdk/errors";
import { z } from "zod";
import { safeParseValue, textOf } from "../../contract/validation.ts";

const visible = /^[\x21-\x7e]*$/;
const maximumSecret = 4_096;

const PushConfig = z.object({
  id: z
    .string()
    .max(128)
    .regex(/^[\x20-\x7e]*$/, "An id has printable ASCII characters."),
  url: z.string().max(2_048),
  token: z.string().max(maximumSecret).regex(visible, "A token has visible ASCII characters."),
  authentication: z
    .object({
      scheme: z
        .string()
        .max(64)
        .regex(/^[A-Za-z][\w.+-]*$/, "scheme is required: the name of an HTTP authentication scheme, such as Bearer."),
      credentials: z
        .string()
        .min(1, "credentials are required: what follows the scheme in the header authorization.")
        .max(maximumSecret)
        .regex(/^[\x20-\x7e]*$/, "Credentials have printable ASCII characters."),
    })
    .optional(),
});

/** The proof for a receiver that a notification is from this service. Stored encrypted. */
export interface PushSecret {
  /** Empty: none. */
  token: string;
  authentication: { scheme: string; credentials: string } | null;
}

/** A configuration that a client has set for a task. */
export interface PushTarget {
  /** The client's id of it; empty: the client has chosen none. */
  id: string;
  url: string;
  secret: PushSecret;
}

/** Throws A2A's error for a configuration that cannot be used. The address is not checked. */
export function pushTargetOf(config: TaskPushNotificationConfig): PushTarget {
  const parsed = safeParseValue(PushConfig, config);
  if (!parsed.success) throw new RequestMalformedError(textOf(parsed.issues));
  const { id, url, token, authentication = null } = parsed.data;
  return { id, url, secret: { token, authentication } };
}

/** A configuration as its client sees it: without its secrets, which are not shown again. */
export function toPushConfig(taskId: string, { id, url }: Pick<PushTarget, "id" | "url">): TaskPushNotificationConfig {
  return TaskPushNotificationConfig.fromJSON({ taskId, id, url });
}
