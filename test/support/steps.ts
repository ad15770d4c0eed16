import pg from "pg";
import type { Driver } from "../../src/machines/driver.ts";

// Steps of a server's process at which a test may kill it: after each statement that it stores something with and each
// thing that it has machines do, and before a transaction's end too. A statement within a transaction is no step, since a
// death before the end undoes it.

/** Statements that the process executes all the time, for any caller: leases, and the timers' own rows. */
const background = /host_leases|timers\.|pgboss|account_events/;
const writes = /^\s*(insert|update|delete|with|commit)\b/i;
const begins = /^\s*(begin|start transaction)\b/i;
const ends = /^\s*(commit|rollback)\b/i;
/** The timers' scripts contain the whole transaction. */
const endsWithin = /;\s*(commit|rollback)\s*;?\s*$/i;

const driverSteps = [
  ...(["create", "boot", "wake", "attach", "adopting", "adopted", "suspend", "snapshot"] as const),
  ...(["restore", "removeSnapshot", "stop", "destroy", "quarantine", "quarantineSnapshot"] as const),
] satisfies (keyof Driver)[];

let left = Number.POSITIVE_INFINITY;

/** Has the process end at its n-th step from now, as by SIGKILL; infinity: never. */
export function killAt(step: number): void {
  left = step;
}

async function step(): Promise<void> {
  if (--left > 0) return;
  process.kill(process.pid, "SIGKILL");
  await new Promise(() => {});
}

/** Does something, which is a step. */
export async function thenStep<T>(call: () => Promise<T>): Promise<T> {
  const result = await call();
  await step();
  return result;
}

/** Makes what this process stores steps. */
export function countStatements(): void {
  type Query = (this: pg.Client, text: unknown, ...rest: unknown[]) => unknown;
  const prototype = pg.Client.prototype as unknown as { query: Query };
  const { query } = prototype;
  const inTransaction = new WeakSet<pg.Client>();
  prototype.query = function (text, ...rest) {
    const call = () => Reflect.apply(query, this, [text, ...rest]) as Promise<unknown>;
    if (typeof text !== "string" || typeof rest.at(-1) === "function") return call();
    const isWithin = inTransaction.has(this);
    if (begins.test(text) && !endsWithin.test(text)) inTransaction.add(this);
    if (ends.test(text)) inTransaction.delete(this);
    const isStep = writes.test(text) && !background.test(text);
    if (isWithin) return isStep && ends.test(text) ? step().then(() => thenStep(call)) : call();
    return isStep ? thenStep(call) : call();
  };
}

/** The driver, what it does to machines being steps. */
export function withSteps(driver: Driver): Driver {
  return new Proxy(driver, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      const call = (...args: unknown[]) => Reflect.apply(value, target, args);
      const isStep = (driverSteps as readonly (string | symbol)[]).includes(name);
      return isStep ? (...args: unknown[]) => thenStep(async () => call(...args)) : call;
    },
  });
}
