import { once } from "node:events";
import { expect, test } from "vitest";
import { certify, makeAuthority, makeKeys } from "../egress/authority.ts";
import { checkKeyPair } from "../https/certificate.ts";
import { OrderError, reasonFor } from "./order-error.ts";
import { orderDelay, renewalOf } from "./schedule.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

test("a certificate is renewed after two thirds of its lifetime", async () => {
  const pair = await certify(await makeAuthority("test"), { kind: "name", text: "berth.example" }, await makeKeys());
  const certificate = checkKeyPair(pair);
  const [from, to] = [certificate.leaf.validFromDate.getTime(), certificate.leaf.validToDate.getTime()];
  expect((renewalOf(certificate).getTime() - from) / (to - from)).toBeCloseTo(2 / 3);
});

test("the delays stay below Let's Encrypt's five failed validations in an hour", () => {
  const rejected = new OrderError("rejected", { problem: "connection" });
  const delays = Array.from({ length: 12 }, (_, failures) => orderDelay(rejected, failures).delayMs);
  expect(delays.slice(0, 4)).toEqual([5, 10, 20, 40].map((minutes) => minutes * minuteMs));
  expect(delays.at(-1)).toBe(6 * hourMs);
});

test("an unreachable directory is asked again sooner", () => {
  expect(orderDelay(new Error("ECONNREFUSED"), 0)).toEqual({ delayMs: minuteMs / 2, isLimited: false });
  expect(orderDelay(new Error("ECONNREFUSED"), 10_000).delayMs).toBe(6 * hourMs);
});

test("a delay of the directory counts where it is longer", () => {
  const limited = (retryAfterMs: number) => orderDelay(new OrderError("", { problem: "rateLimited", retryAfterMs }), 0);
  expect(limited(hourMs)).toEqual({ delayMs: hourMs, isLimited: true });
  expect(limited(1_000)).toEqual({ delayMs: 5 * minuteMs, isLimited: true });
  expect(limited(0)).toEqual({ delayMs: 5 * minuteMs, isLimited: false });
});

test("an order that takes too long is named so", async () => {
  const signal = AbortSignal.any([AbortSignal.timeout(1)]);
  if (!signal.aborted) await once(signal, "abort");
  expect(reasonFor(signal.reason, 5 * minuteMs)).toBe("The order took more than 5 minutes.");
  expect(reasonFor(new Error("a\nb"), 5 * minuteMs)).toBe("a b");
});
