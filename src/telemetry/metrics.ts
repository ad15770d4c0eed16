import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { type AgentStatus, agentStatuses } from "../contract/agents.ts";
import type { TurnStatus } from "../contract/chat.ts";

/** Seconds, from a warm machine to a cold one. */
const machineBuckets = [0.1, 0.25, 0.5, 0.75, 1, 2, 5, 10, 30, 60, 120, 300, 900];
const deltaBuckets = [0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 20, 30, 60, 120];
/** Seconds. Events gather for half a second before they are stored; the database may be down for minutes. */
const lagBuckets = [0.05, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 15, 60, 300];

/** What is looked up when the metrics are requested. */
export interface Snapshot {
  agents(): Promise<Partial<Record<AgentStatus, number>>>;
  /** Running machines, and agents waiting for a slot. */
  slots: { readonly used: number; readonly waiting: number };
  /** Whether this server leads its host's agents. */
  leads(): boolean;
  /** Running turns, and their events that are not stored yet. */
  turns: { readonly size: number; readonly unstoredEvents: number };
}

/** The service's metrics in the Prometheus format. Labels never identify an account, agent or turn. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #machine: Histogram<"what">;
  readonly #turns: Counter<"outcome" | "code">;
  readonly #firstDelta: Histogram;
  readonly #stored: Histogram;
  readonly #model: Histogram<"provider">;
  readonly #connections: Counter<"verdict">;
  readonly #egressBytes: Counter<"way">;

  constructor() {
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry, prefix: "berth_" });
    this.#machine = new Histogram({
      name: "berth_machine_seconds",
      help: "Time until an agent's machine was ready (create, wake) or asleep (suspend), waiting for a place included.",
      labelNames: ["what"],
      buckets: machineBuckets,
      registers,
    });
    this.#turns = new Counter({
      name: "berth_turns_total",
      help: "Turns that have ended, by outcome and, of those that failed, by the error's code.",
      labelNames: ["outcome", "code"],
      registers,
    });
    this.#firstDelta = new Histogram({
      name: "berth_first_delta_seconds",
      help: "Time from a message to the first text of its reply.",
      buckets: deltaBuckets,
      registers,
    });
    this.#stored = new Histogram({
      name: "berth_event_store_lag_seconds",
      help: "Time from an event, the first of some that were stored together, to its place in the database.",
      buckets: lagBuckets,
      registers,
    });
    this.#model = new Histogram({
      name: "berth_model_first_byte_seconds",
      help: "Time from a model call at the gateway to the first byte of its answer, retries included.",
      labelNames: ["provider"],
      buckets: deltaBuckets,
      registers,
    });
    this.#connections = new Counter({
      name: "berth_web_connections_total",
      help: "Connections to the web that agents asked for, by what was decided.",
      labelNames: ["verdict"],
      registers,
    });
    this.#egressBytes = new Counter({
      name: "berth_web_bytes_total",
      help: "Bytes of agents' connections to the web that have ended, sent and received.",
      labelNames: ["way"],
      registers,
    });
  }

  /** An agent's machine is ready or suspended. */
  machine(what: "create" | "wake" | "suspend", seconds: number): void {
    this.#machine.observe({ what }, seconds);
  }

  turnEnded(outcome: Exclude<TurnStatus, "running">, code: string): void {
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

  connectionDecided(verdict: "allowed" | "refused"): void {
    this.#connections.inc({ verdict });
  }

  connectionEnded(bytesSent: number, bytesReceived: number): void {
    this.#egressBytes.inc({ way: "sent" }, bytesSent);
    this.#egressBytes.inc({ way: "received" }, bytesReceived);
  }

  /** The text of `GET /metrics`, and its content type. */
  async text(): Promise<{ type: string; text: string }> {
    return { type: this.#registry.contentType, text: await this.#registry.metrics() };
  }

  /** Looks these up whenever the metrics are requested. Call it once. */
  watch({ agents, slots, leads, turns }: Snapshot): void {
    const gauge = (name: string, help: string, value: () => number) => {
      new Gauge({
        name,
        help,
        registers: [this.#registry],
        collect() {
          this.set(value());
        },
      });
    };
    new Gauge({
      name: "berth_agents",
      help: "Agents by status.",
      labelNames: ["status"],
      registers: [this.#registry],
      async collect() {
        // Metrics matter most when the database is down; this one is then left out.
        const counts = await agents().catch(() => null);
        this.reset();
        if (counts === null) return;
        for (const status of agentStatuses) this.set({ status }, counts[status] ?? 0);
      },
    });
    gauge("berth_leads", "1 if this server leads its host's agents, else 0.", () => (leads() ? 1 : 0));
    gauge("berth_machines_running", "Machines that have a slot.", () => slots.used);
    gauge("berth_agents_waiting", "Agents that wait for a slot.", () => slots.waiting);
    gauge("berth_turns_running", "Turns that go on.", () => turns.size);
    gauge("berth_events_unstored", "Events that are not in the database yet.", () => turns.unstoredEvents);
  }
}
