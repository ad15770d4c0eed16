import { z } from "zod";
import { ForkSource, ListQuery } from "./agents.ts";
import { CreatedBy } from "./authors.ts";
import { AutomationHook, HookSecret, HookTrigger, hookFields } from "./automation-hooks.ts";
import { Message } from "./chat.ts";
import { limitFields } from "./limits.ts";

/** The most runs of an automation that wait for the one before. */
export const maximumWaitingRuns = 10;
/** The number of failed runs in a row after which an automation pauses itself. */
export const maximumFailures = 3;
/** The most times of a schedule that a request may ask for. */
const maximumTimes = 50;
/** How long after its time a run still counts as on time, and then as missed for the last time, in milliseconds. */
export const missedAfterMs = 60_000;
export const missedForeverMs = 86_400_000;

const nameRule =
  "1 to 60 characters: lowercase letters a-z, digits and hyphens, starting with a letter and not ending with a hyphen";

export const AutomationName = z
  .string(`name is required: ${nameRule}`)
  .regex(/^[a-z]([a-z0-9-]{0,58}[a-z0-9])?$/, `An automation's name has ${nameRule}.`)
  .meta({ description: `The automation's name in its workspace, ${nameRule}.`, examples: ["nightly-check"] });

const time = z.iso.datetime();

const schedule = {
  type: z.literal("schedule"),
  cron: z
    .string()
    .max(200)
    .optional()
    .meta({
      description:
        "Minute, hour, day of month, month, day of week. If both days are restricted, one of them has to match. Requires `timeZone`.",
      examples: ["0 3 * * 1-5"],
    }),
  timeZone: z
    .string()
    .max(64)
    .optional()
    .meta({
      description: "A time zone of the IANA database.",
      examples: ["Europe/Berlin"],
    }),
  jitter: z.int().min(0).max(3_600).optional().meta({
    description:
      "Seconds by which a run of `cron` may be late, 0 to 3600: each automation has its own delay. Less than the time between two runs. Default: 0.",
  }),
  at: z.iso
    .datetime({ offset: true, message: "trigger.at: a time is ISO 8601, such as 2030-01-31T12:00:00Z." })
    .optional()
    .meta({ description: "The time of the only run, in place of `cron`." }),
};

const ScheduleTrigger = z
  .strictObject(schedule)
  .refine(({ cron, at }) => (cron === undefined) !== (at === undefined), {
    message: "Exactly one of cron, at is required.",
  })
  .refine(({ cron, timeZone }) => (cron === undefined) === (timeZone === undefined), {
    message: "timeZone is required with cron, and only with it.",
  })
  .refine(({ at, jitter }) => at === undefined || jitter === undefined, { message: "jitter requires cron." })
  .meta({ id: "ScheduleTrigger", description: "An automation runs at the times of a line of cron, or once." });

export const Trigger = z
  .discriminatedUnion("type", [ScheduleTrigger, HookTrigger], "trigger.type: schedule and hook are allowed.")
  .meta({ id: "Trigger", description: "When an automation runs: at times, or for deliveries." });
export type Trigger = z.infer<typeof Trigger>;

const Conversation = z.enum(["new", "continue"]).meta({
  description:
    "`new`: each run has a conversation of its own. `continue`: all runs share one; with `from`, each run continues its source's.",
});
const Overlap = z.enum(["skip", "queue", "cancel-previous"]).meta({
  description: `The treatment of a run that is due while an earlier one has not ended. \`skip\`: it is left out. \`queue\`: it waits, up to ${maximumWaitingRuns} of them. \`cancel-previous\`: the earlier one is cancelled.`,
});
const Missed = z.enum(["once", "skip"]).meta({
  description:
    "The treatment of times at which no server ran. `once`: one run for those of the last 24 hours. `skip`: none.",
});
const keep = z.int().min(0).max(168).meta({
  description: "With `from`: for how many hours the agent of a run is kept afterwards, 0 to 168.",
});
const timeout = z.int().min(1).max(10_080).meta({
  description: "How many minutes after its time a run is cancelled, 1 to 10080. The time that it waits counts.",
});
const maxCredits = limitFields.maxCredits.meta({
  description: "The credits that the model calls of one run may cost. Null: no limit but the agent's.",
});
const AgentReference = z.string().max(100).meta({ description: "The agent that gets the message." });
const From = ForkSource.meta({
  description: "A fresh agent for each run starts from this one's current or saved state, and is deleted afterwards.",
});

const asked = {
  agent: AgentReference.optional(),
  from: From.optional(),
  message: Message.meta({
    description:
      "The text for the agent. With a hook, a template of up to 32 KiB: `{{body.title}}` and `{{headers.x-github-event}}` are values of the delivery, as mustache without HTML escaping, partials and lambdas. Texts from the delivery are fenced.",
  }),
  trigger: Trigger,
  conversation: Conversation.default("new"),
  overlap: Overlap.default("skip"),
  missed: Missed.default("once"),
  maxCredits: maxCredits.default(null),
  timeout: timeout.default(60),
  keep: keep.default(0),
};

export const CreateAutomation = z
  .strictObject({
    name: AutomationName,
    ...asked,
    paused: z.boolean().default(false),
    secret: HookSecret.optional(),
  })
  .refine(({ agent, from }) => (agent === undefined) !== (from === undefined), {
    message: "Exactly one of agent, from is required.",
  })
  .meta({ id: "CreateAutomation" });
export type CreateAutomation = z.infer<typeof CreateAutomation>;

export const ChangeAutomation = z
  .strictObject({
    agent: AgentReference.optional(),
    from: From.optional(),
    message: asked.message.optional(),
    trigger: Trigger.optional(),
    conversation: Conversation.optional(),
    overlap: Overlap.optional(),
    missed: Missed.optional(),
    maxCredits: maxCredits.optional(),
    timeout: timeout.optional(),
    keep: keep.optional(),
  })
  .refine((change) => Object.keys(change).length > 0, { message: "At least one field is required." })
  .refine(({ agent, from }) => agent === undefined || from === undefined, {
    message: "agent and from exclude each other.",
  })
  .meta({ id: "ChangeAutomation" });
export type ChangeAutomation = z.infer<typeof ChangeAutomation>;

const RunStatus = z.enum(["queued", "running", "completed", "failed", "cancelled", "skipped", "replaced"]);
export type RunStatus = z.infer<typeof RunStatus>;

export const RunReason = z
  .object({
    code: z.string().meta({
      description:
        "A stable code: `overlap`, `queue_full` or `missed` of a run that was skipped, `replaced`, `cancelled`, `timeout`, or an error code.",
    }),
    message: z.string().meta({ description: "The reason, as a sentence." }),
  })
  .meta({ id: "RunReason" });
export type RunReason = z.infer<typeof RunReason>;

export const AutomationRun = z
  .object({
    id: z.uuid(),
    trigger: z.enum(["schedule", "manual", "hook"]),
    status: RunStatus.meta({
      description: "`skipped`: it never began. `replaced`: a later run cancelled it. Both count as no failure.",
    }),
    reason: RunReason.nullable().meta({ description: "Null: it has not ended, or it completed." }),
    agent: z.string().nullable().meta({ description: "The name of the agent that got the message. Null: none did." }),
    conversation: z.int().nullable(),
    turnId: z.uuid().nullable().meta({ description: "Null: it has not begun." }),
    message: z.string(),
    reply: z.string().meta({ description: "The reply's text, up to 64 KiB; empty until the run ends." }),
    replyTruncated: z.boolean(),
    credits: z.string().nullable().meta({ description: "The cost of its model calls; null where it is unknown." }),
    dueAt: time.meta({ description: "The time for which it was scheduled, or of the request." }),
    startedAt: time.nullable().meta({ description: "When the agent got the message." }),
    finishedAt: time.nullable(),
    createdAt: time,
  })
  .meta({ id: "AutomationRun" });
export type AutomationRun = z.infer<typeof AutomationRun>;

const LastRun = AutomationRun.pick({ id: true, status: true, reason: true, dueAt: true, finishedAt: true });

export const Automation = z
  .object({
    name: z.string(),
    agent: z.string().nullable().meta({ description: "Null: with `from`, or it was deleted." }),
    from: ForkSource.nullable(),
    message: z.string(),
    trigger: z.discriminatedUnion("type", [z.object(schedule), z.object(hookFields)]),
    hook: AutomationHook.nullable().meta({ description: "Null: its trigger is a schedule." }),
    conversation: Conversation,
    overlap: Overlap,
    missed: Missed,
    maxCredits: z.string().nullable(),
    timeout: z.int(),
    keep: z.int(),
    paused: z.boolean(),
    pausedReason: RunReason.nullable().meta({
      description: "Why it paused itself: `failures` or `agent_deleted`. Null: a person did, or it is not paused.",
    }),
    nextRunAt: time
      .nullable()
      .meta({ description: "Null: it is paused, its last time has passed, or its trigger is a hook." }),
    lastRun: LastRun.nullable(),
    byAgent: z.boolean().meta({
      description: "Whether the agent made it. `createdBy` is then the author of the message that led to it.",
    }),
    createdBy: CreatedBy,
    createdAt: time,
  })
  .meta({ id: "Automation" });
export type Automation = z.infer<typeof Automation>;

export const AutomationWithSecret = Automation.extend({
  secret: z.string().nullable().meta({
    description: "The secret of the hook, which later answers leave out. Null: its trigger is a schedule.",
  }),
}).meta({ id: "AutomationWithSecret" });
export type AutomationWithSecret = z.infer<typeof AutomationWithSecret>;

export const AutomationList = z
  .object({ data: z.array(Automation), nextCursor: z.string().nullable() })
  .meta({ id: "AutomationList", description: "By name." });

export const AutomationRunList = z
  .object({ data: z.array(AutomationRun), nextCursor: z.string().nullable() })
  .meta({ id: "AutomationRunList", description: "Newest first. An automation keeps its last 100 runs." });

export const AutomationParams = z.object({ name: z.string().meta({ description: "The automation's name." }) });

export const ScheduleQuery = z.strictObject({
  cron: schedule.cron.unwrap(),
  timeZone: schedule.timeZone.unwrap(),
  count: z.coerce
    .number()
    .int()
    .min(1)
    .max(maximumTimes)
    .default(5)
    .meta({ description: `How many times, 1 to ${maximumTimes}.` }),
});
export type ScheduleQuery = z.infer<typeof ScheduleQuery>;

export const ScheduleTimes = z
  .object({ times: z.array(time).meta({ description: "Without jitter, the next one first." }) })
  .meta({ id: "ScheduleTimes" });

export const AutomationsQuery = ListQuery.extend({
  agent: z.string().max(100).optional().meta({ description: "Only automations of this agent." }),
});
