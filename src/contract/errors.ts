/**
 * The complete list of error codes, with their HTTP statuses. Codes that occur only in events, at the end of a turn or
 * an installation, have the status that a response would have.
 */
export const errorStatuses = {
  request_invalid: 400,
  agent_name_invalid: 400,
  model_not_available: 400,
  runtime_not_available: 400,
  permissions_not_supported: 400,
  command_not_runnable: 400,
  credentials_missing: 401,
  credentials_invalid: 401,
  file_name_too_long: 400,
  archive_invalid: 400,
  previous_response_not_found: 400,
  websocket_connection_limit_reached: 400,
  archive_unsupported: 400,
  skill_invalid: 400,
  insufficient_credits: 402,
  forbidden: 403,
  permission_denied: 403,
  asking_refused: 403,
  scheduling_refused: 403,
  agent_private: 403,
  path_not_found: 404,
  agent_not_found: 404,
  key_not_found: 404,
  program_not_found: 404,
  turn_not_found: 404,
  conversation_not_found: 404,
  approval_not_found: 404,
  automation_not_found: 404,
  webhook_not_found: 404,
  provider_not_found: 404,
  hook_not_found: 404,
  delivery_not_found: 404,
  push_subscription_not_found: 404,
  inbox_item_not_found: 404,
  response_not_found: 404,
  user_not_found: 404,
  workspace_not_found: 404,
  member_not_found: 404,
  invitation_not_found: 404,
  secret_not_found: 404,
  skill_not_found: 404,
  account_not_found: 404,
  command_not_found: 404,
  share_not_found: 404,
  snapshot_not_found: 404,
  changes_unknown: 404,
  backup_not_found: 404,
  orphan_not_found: 404,
  file_not_found: 404,
  upload_not_found: 404,
  method_not_allowed: 405,
  agent_exists: 409,
  agent_deleting: 409,
  agent_deleted: 409,
  agent_failed: 409,
  agent_restarted: 409,
  turn_in_progress: 409,
  turn_finished: 409,
  turn_not_queued: 409,
  queue_full: 409,
  conversation_in_use: 409,
  too_many_conversations: 409,
  turn_cancelled: 409,
  response_not_last: 409,
  function_not_waiting: 409,
  approval_not_waiting: 409,
  approval_answered: 409,
  command_exited: 409,
  command_input_full: 409,
  request_timeout: 408,
  idempotency_key_reused: 409,
  idempotency_key_in_use: 409,
  idempotency_answer_unreadable: 409,
  snapshot_exists: 409,
  backup_in_progress: 409,
  too_many_snapshots: 409,
  too_many_agents: 409,
  automation_exists: 409,
  too_many_automations: 409,
  too_many_webhooks: 409,
  provider_exists: 409,
  too_many_providers: 409,
  provider_unreachable: 502,
  mcp_sign_in_failed: 502,
  too_many_secrets: 409,
  too_many_skills: 409,
  skills_full: 409,
  skill_changed: 409,
  webhook_disabled: 409,
  run_in_progress: 409,
  delivery_not_kept: 409,
  user_exists: 409,
  workspace_exists: 409,
  workspace_not_empty: 409,
  workspace_is_personal: 409,
  too_many_workspaces: 409,
  too_many_members: 409,
  too_many_invitations: 409,
  member_exists: 409,
  last_owner: 409,
  invitation_ended: 410,
  email_link_ended: 410,
  email_not_configured: 409,
  email_not_sent: 502,
  operator_not_disabled: 409,
  users_managed_elsewhere: 409,
  upload_in_use: 409,
  uploads_full: 409,
  file_exists: 409,
  file_not_regular: 409,
  file_changed: 409,
  diff_unknown: 409,
  rolled_back: 409,
  too_many_turns: 409,
  not_a_folder: 409,
  is_a_folder: 409,
  folder_not_empty: 409,
  link_loop: 409,
  precondition_failed: 412,
  payments_not_configured: 409,
  body_too_large: 413,
  content_type_unsupported: 415,
  range_not_satisfiable: 416,
  rate_limited: 429,
  too_many_streams: 429,
  too_many_commands: 429,
  too_many_requests: 429,
  upgrade_required: 426,
  headers_too_large: 431,
  internal: 500,
  machine_failed: 500,
  machine_lost: 500,
  runtime_failed: 500,
  turn_too_large: 413,
  limit_reached: 409,
  output_invalid: 502,
  git_failed: 502,
  output_missing: 502,
  runtime_stalled: 500,
  template_failed: 500,
  port_not_listening: 502,
  model_failed: 502,
  model_request_refused: 502,
  model_credentials_refused: 502,
  model_unpaid: 502,
  model_rate_limited: 502,
  model_overloaded: 502,
  model_unreachable: 502,
  model_interrupted: 502,
  model_stalled: 504,
  search_timeout: 504,
  image_missing: 503,
  image_invalid: 503,
  qemu_missing: 503,
  accelerator_unavailable: 503,
  privilege_missing: 503,
  disk_full: 503,
  machine_disk_full: 507,
  not_supported_here: 501,
  no_capacity: 503,
  agent_elsewhere: 503,
  database_unavailable: 503,
  identity_provider_unavailable: 503,
  payments_unavailable: 503,
  shutting_down: 503,
} as const satisfies Record<string, number>;

export type ErrorCode = keyof typeof errorStatuses;

/**
 * A request that cannot be fulfilled: invalid input, a missing object, a failed machine. The message is for the caller,
 * and says what was wrong and what is allowed; `cause` is for the operator.
 */
export class BerthError extends Error {
  override readonly name = "BerthError";
  readonly code: ErrorCode;
  readonly details: unknown;

  constructor(code: ErrorCode, message: string, options: { details?: unknown; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.details = options.details;
  }

  get status(): number {
    return errorStatuses[this.code];
  }
}

const shortages = new Set(["EAGAIN", "EBUSY", "EDQUOT", "EMFILE", "ENFILE", "ENOMEM", "ENOSPC"]);

/**
 * Whether the host lacked a resource, which is transient: descriptors, processes, memory, disk space, or a file that
 * another process has locked.
 */
export function isShortage(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  return ("code" in thrown && shortages.has(String(thrown.code))) || isShortage(thrown.cause);
}

/**
 * Converts anything thrown to a `BerthError`: the error itself, or `code` with a message that reveals nothing internal.
 */
export function asBerthError(thrown: unknown, code: ErrorCode, message: string): BerthError {
  return thrown instanceof BerthError ? thrown : new BerthError(code, message, { cause: thrown });
}
