import { RequestMalformedError } from "@a2a-js/sdk/errors";
import { z } from "zod";
import { safeParseValue, textOf } from "../../contract/validation.ts";

/** The methods of A2A 1.0 (9.4). */
export const methods: ReadonlySet<string> = new Set([
  ...["SendMessage", "SendStreamingMessage", "GetTask", "ListTasks", "CancelTask", "SubscribeToTask"],
  ...["CreateTaskPushNotificationConfig", "GetTaskPushNotificationConfig", "ListTaskPushNotificationConfigs"],
  ...["DeleteTaskPushNotificationConfig", "GetExtendedAgentCard"],
]);

/** A request of JSON-RPC 2.0. Fractions are no ids here: JSON-RPC advises against them. */
export const RpcRequest = z.looseObject({
  jsonrpc: z.literal("2.0"),
  id: z.union([z.string().max(1_000), z.int(), z.null()]).optional(),
  method: z.string().min(1).max(200),
});

const text = z.string().nullish();
const texts = z.array(z.string()).nullish();
const historyLength = z.int().min(0).nullish();
const pageSize = z.int().min(1).max(100).nullish();
const time = z.iso.datetime({ offset: true, error: "Must be a time such as 2026-01-31T12:00:00Z." }).nullish();

const Part = z.looseObject({
  text,
  raw: z
    .string()
    .regex(/^[\w+/-]*={0,2}$/, "Must be bytes in base64.")
    .nullish(),
  url: text,
  filename: text,
  mediaType: text,
  media_type: text,
});

const Message = z.looseObject({
  messageId: text,
  message_id: text,
  contextId: text,
  context_id: text,
  taskId: text,
  task_id: text,
  role: z.enum(["ROLE_USER", "ROLE_AGENT"]).or(z.int()).nullish(),
  parts: z.array(Part).nullish(),
});

const Configuration = z.looseObject({
  acceptedOutputModes: texts,
  accepted_output_modes: texts,
  historyLength,
  history_length: historyLength,
  returnImmediately: z.boolean().nullish(),
  return_immediately: z.boolean().nullish(),
});

const state = z
  .enum([
    "TASK_STATE_UNSPECIFIED",
    "TASK_STATE_SUBMITTED",
    "TASK_STATE_WORKING",
    "TASK_STATE_COMPLETED",
    "TASK_STATE_FAILED",
    "TASK_STATE_CANCELED",
    "TASK_STATE_INPUT_REQUIRED",
    "TASK_STATE_REJECTED",
    "TASK_STATE_AUTH_REQUIRED",
  ])
  .or(z.int().min(0).max(8))
  .nullish();

/**
 * The parameters of all methods: no name has two meanings. The SDK converts a value of another type instead of refusing
 * it. JSON of protocol buffers has both spellings of a name.
 */
const Params = z.looseObject({
  id: text,
  tenant: text,
  taskId: text,
  task_id: text,
  contextId: text,
  context_id: text,
  message: Message.nullish(),
  configuration: Configuration.nullish(),
  status: state,
  pageSize,
  page_size: pageSize,
  pageToken: text,
  page_token: text,
  historyLength,
  history_length: historyLength,
  statusTimestampAfter: time,
  status_timestamp_after: time,
  includeArtifacts: z.boolean().nullish(),
  include_artifacts: z.boolean().nullish(),
  url: text,
  token: text,
});

/** Throws A2A's error for parameters with values that their fields cannot have. */
export function requireParams(params: unknown): void {
  const parsed = safeParseValue(Params, params ?? {});
  if (!parsed.success) throw new RequestMalformedError(textOf(parsed.issues));
}
