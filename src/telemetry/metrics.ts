import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { toCredits } from "../billing/credits.ts";
import type { TokenCounts } from "../billing/ledger.ts";
import type { AppContext } from "../context.ts";
import { agentStatuses } from "../contract/agents.ts";
import type { AutomationRun } from "../contract/automations.ts";
import type { Capacity } from "../contract/capacity.ts";
import type { Outcome } from "../contract/chat.ts";
import type { ChannelName } from "../contract/notifications.ts";

/** Seconds, from a warm machine to a cold one. */
const machineBuckets = [0.1, 0.25, 0.5, 0.75, 1, 2, 5, 10, 30, 60, 120, 300, 900];
const deltaBuckets = [0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 20, 30, 60, 120];
/** Seconds. Events gather for half a second before they are stored; the database may be down for minutes. */
const lagBuckets = [0.05, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 15, 60, 300];
/** Seconds, from an agent that was woken ahead of time to a run that waited for a slot. */
const latenessBuckets = [0.1, 0.25, 0.5, 1, 2, 5, 15, 60, 300, 1_800, 7_200];

/** Of webhooks, and of A2A's push notifications. */
export type DeliveryKind = "webhook" | "task";
/** `failed`: it is tried again. */
export type DeliveryOutcome = "delivered" | "failed" | "given_up";
export type NotificationOutcome = "sent" | "failed" | "given_up";
export type HookResult = "run" | "repeated" | "skipped" | "filtered" | "paused" | "answered" | "failed" | "refused";

/**
 * A server's metrics in the Prometheus format, each with the server's name as `server`. Other labels never identify an
 * account, agent or turn.
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #machine = this.#histogram(
    "berth_machine_seconds",
    "Time until an agent's machine was ready (create, wake) or asleep (suspend), waiting for a place included.",
    machineBuckets,
    ["what"],
  );
  readonly #turns = this.#counter(
    "berth_turns_total",
    "Turns that have ended, by outcome and, of those that failed, by the error's code.",
    ["outcome", "code"],
  );
  readonly #firstDelta = this.#histogram(
    "berth_first_delta_seconds",
    "Time from a message to the first text of its reply.",
    deltaBuckets,
  );
  readonly #stored = this.#histogram(
    "berth_event_store_lag_seconds",
    "Time from an event, the first of some that were stored together, to its place in the database.",
    lagBuckets,
  );
  readonly #model = this.#histogram(
    "berth_model_first_byte_seconds",
    "Time from a model call at the gateway to the first byte of its answer, retries included.",
    deltaBuckets,
    ["provider"],
  );
  readonly #modelCalls = this.#counter(
    "berth_model_calls_total",
    "Model calls that are over: answered, gone (nobody waited for them any longer), or the error's code.",
    ["provider", "outcome"],
  );
  readonly #tokens = this.#counter(
    "berth_model_tokens_total",
    "Tokens of model calls, as they are paid for. Cached input is part of the input, reasoning of the output.",
    ["provider", "kind"],
  );
  readonly #credits = this.#counter(
    "berth_model_credits_total",
    "The price of these tokens in credits, where it is known.",
    ["provider"],
  );
  readonly #requests = this.#counter(
    "berth_requests_total",
    "Requests that are answered, by the status's class (2xx). One that is passed on counts at both servers.",
    ["status"],
  );
  readonly #passed = this.#counter(
    "berth_requests_passed_on_total",
    "Times that a request was passed on to another server: answered, refused (it did not lead), or unknown.",
    ["outcome"],
  );
  readonly #takeOvers = this.#counter(
    "berth_takeovers_total",
    "Times that this server began to lead its host's agents, where several share them.",
  );
  readonly #connections = this.#counter(
    "berth_web_connections_total",
    "Connections to the web that agents asked for, by what was decided.",
    ["verdict"],
  );
  readonly #egressBytes = this.#counter(
    "berth_web_bytes_total",
    "Bytes of agents' connections to the web that have ended, sent and received.",
    ["way"],
  );
  readonly #deliveries = this.#counter(
    "berth_webhook_deliveries_total",
    "Tries to deliver to a webhook or an A2A client (task): delivered, failed (it is tried again), or given_up.",
    ["kind", "outcome"],
  );
  readonly #notifications = this.#counter(
    "berth_notifications_total",
    "Tries to notify a person, by channel: sent, failed (it is tried again), or given_up.",
    ["channel", "outcome"],
  );
  readonly #hooks = this.#counter("berth_hook_deliveries_total", "Deliveries to hooks, by their verdict.", ["verdict"]);
  readonly #runs = this.#counter(
    "berth_automation_runs_total",
    "Runs of automations that have ended, or were skipped.",
    ["status"],
  );
  readonly #lateness = this.#histogram(
    "berth_automation_lateness_seconds",
    "Time from a run's due time until its agent works on the message.",
    latenessBuckets,
    ["trigger"],
  );

  /** `server`: this server's name. */
  constructor(server: string, version: string) {
    const registers = [this.#registry];
    this.#registry.setDefaultLabels({ server });
    new Gauge({ name: "berth_info", help: "1, with Berth's version.", labelNames: ["version"], registers }).set(
      { version },
      1,
    );
    collectDefaultMetrics({ register: this.#registry, prefix: "berth_" });
  }

  /** An agent's machine is ready or suspended. */
  machine(what: "create" | "wake" | "suspend", seconds: number): void {
    this.#machine.observe({ what }, seconds);
  }

  turnEnded(outcome: Outcome, code: string): void {
    this.#turns.inc({ outcome, code });
  }

  firstDelta(seconds: number): void {
    this.#firstDelta.observe(seconds);
  }

  stored(seconds: number): void {
    this.#stored.observe(seconds);
  }

  modelAnswered(provider: string, seconds: number): void {
    this.#model.observe({ provider }, seconds);
  }

  /** `microCredits`: their price, 0 when unknown. */
  modelUsed(provider: string, { input = 0, output = 0 }: TokenCounts, microCredits: number): void {
    this.#tokens.inc({ provider, kind: "input" }, input);
    this.#tokens.inc({ provider, kind: "output" }, output);
    this.#credits.inc({ provider }, Number(toCredits(microCredits)));
  }

  modelEnded(provider: string, outcome: string): void {
    this.#modelCalls.inc({ provider, outcome });
  }

  requestAnswered(status: number): void {
    this.#requests.inc({ status: `${Math.floor(status / 100)}xx` });
  }

  requestPassedOn(outcome: "answered" | "refused" | "unknown"): void {
    this.#passed.inc({ outcome });
  }

  tookOver(): void {
    this.#takeOvers.inc();
  }

  connectionDecided(verdict: "allowed" | "refused"): void {
    this.#connections.inc({ verdict });
  }

  connectionEnded(bytesSent: number, bytesReceived: number): void {
    this.#egressBytes.inc({ way: "sent" }, bytesSent);
    this.#egressBytes.inc({ way: "received" }, bytesReceived);
  }

  deliveryTried(kind: DeliveryKind, outcome: DeliveryOutcome): void {
    this.#deliveries.inc({ kind, outcome });
  }

  notificationTried(channel: ChannelName, outcome: NotificationOutcome): void {
    this.#notifications.inc({ channel, outcome });
  }

  hookDelivered(verdict: HookResult): void {
    this.#hooks.inc({ verdict });
  }

  runEnded(status: Exclude<AutomationRun["status"], "queued" | "running">, count = 1): void {
    this.#runs.inc({ status }, count);
  }

  runBegun(trigger: AutomationRun["trigger"], seconds: number): void {
    this.#lateness.observe({ trigger }, Math.max(0, seconds));
  }

  /** The text of `GET /metrics`, and its content type. */
  async text(): Promise<{ type: string; text: string }> {
    return { type: this.#registry.contentType, text: await this.#registry.metrics() };
  }

  /** Looks these up whenever the metrics are requested. Call it once. */
  watch(context: AppContext): void {
    const { running, streams, secure, acme } = context;
    this.#watchHost(context);
    this.#watchDeliveries(context);
    this.#gauge("berth_leads", "1 if this server leads its host's agents, else 0.", () => (context.leads ? 1 : 0));
    this.#gauge("berth_turns_running", "Turns that run.", () => running.size);
    this.#gauge("berth_events_unstored", "Events that are not in the database yet.", () => running.unstoredEvents);
    this.#gauge("berth_event_streams", "Event streams that clients read at this server.", () => streams.size);
    this.#gauge(
      "berth_tls_certificate_expires_timestamp_seconds",
      "When the TLS certificate in use expires, in seconds since 1970. Left out without HTTPS.",
      () => (secure?.certificate ? secure.certificate.expiresAt.getTime() / 1000 : null),
    );
    this.#gauge(
      "berth_tls_certificate_failed_orders",
      "Orders that failed since the last certificate was issued. Left out without ACME.",
      () => acme?.failures ?? null,
    );
    new Gauge({
      name: "berth_database_connections",
      help: "Connections to the database, used and idle, and queries that wait for one.",
      labelNames: ["state"],
      registers: [this.#registry],
      collect() {
        const { open, idle, waiting } = context.connections();
        this.set({ state: "used" }, open - idle);
        this.set({ state: "idle" }, idle);
        this.set({ state: "waiting" }, waiting);
      },
    });
  }

  /** Metrics that only the leader of a host reports. */
  #watchHost(context: AppContext): void {
    const { stores, lifecycle } = context;
    new Gauge({
      name: "berth_agents",
      help: "The host's agents by status. Only at its leader.",
      labelNames: ["status"],
      registers: [this.#registry],
      async collect() {
        // Metrics matter most when the database is down; this one is then left out.
        const counts = context.leads ? await stores.agents.countByStatus().catch(() => null) : null;
        this.reset();
        if (counts === null) return;
        for (const status of agentStatuses) this.set({ status }, counts[status] ?? 0);
      },
    });
    const ofHost = (name: string, help: string, value: (capacity: Capacity) => number) =>
      this.#gauge(name, `${help} Only at the host's leader.`, () =>
        context.leads ? value(lifecycle.capacity()) : null,
      );
    ofHost("berth_machines_running", "Machines that have a slot.", ({ machines }) => machines.used);
    ofHost("berth_machines_limit", "Machines that may run at once.", ({ machines }) => machines.limit);
    ofHost("berth_machine_memory_mib", "Memory of the machines that run.", ({ memoryMiB }) => memoryMiB.used);
    ofHost("berth_machine_memory_limit_mib", "Memory for machines.", ({ memoryMiB }) => memoryMiB.limit);
    ofHost("berth_spares", "Machines that wait for new agents.", ({ spares }) => spares.used);
    ofHost("berth_agents_waiting", "Agents that wait for a slot.", ({ queue }) => queue.used);
  }

  /** The outbox is the installation's, so that each leader reports the same. */
  #watchDeliveries(context: AppContext): void {
    const { deliveries, notificationQueue } = context.stores;
    const ofLeader = (name: string, help: string, read: () => Promise<number>) =>
      new Gauge({
        name,
        help: `${help} The same at each leader.`,
        registers: [this.#registry],
        async collect() {
          const value = context.leads ? await read().catch(() => null) : null;
          if (value === null) this.remove();
          else this.set(value);
        },
      });
    ofLeader("berth_webhook_deliveries_waiting", "Deliveries that wait for a try, counted up to 10,000.", () =>
      deliveries.countWaiting(),
    );
    ofLeader(
      "berth_webhook_overdue_seconds",
      "How long the delivery whose time came first has been due; 0 if none is.",
      () => deliveries.overdueSeconds(),
    );
    ofLeader(
      "berth_notifications_overdue_seconds",
      "How long the notification whose time came first has been due; 0 if none is.",
      () => notificationQueue.overdueSeconds(),
    );
  }

  /** A gauge that is left out where `value` is null. */
  #gauge(name: string, help: string, value: () => number | null): void {
    new Gauge({
      name,
      help,
      registers: [this.#registry],
      collect() {
        const now = value();
        if (now === null) this.remove();
        else this.set(now);
      },
    });
  }

  #counter<Label extends string = never>(name: string, help: string, labelNames: Label[] = []): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: [this.#registry] });
  }

  #histogram<Label extends string = never>(
    name: string,
    help: string,
    buckets: number[],
    labelNames: Label[] = [],
  ): Histogram<Label> {
    return new Histogram({ name, help, buckets, labelNames, registers: [this.#registry] });
  }
}
