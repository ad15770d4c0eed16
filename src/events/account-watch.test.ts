import { expect, test } from "vitest";
import { AccountWatch } from "./account-watch.ts";
import type { News } from "./store.ts";

const forEver = 1_000_000;
const { signal } = new AbortController();

/** Rows whose news are set by the test. */
class Rows {
  asked = 0;
  next: () => News = () => ({ last: 0, accounts: [] });

  async last(): Promise<number> {
    this.asked++;
    return this.next().last;
  }

  async news(): Promise<News> {
    this.asked++;
    const news = this.next();
    this.next = () => ({ last: news.last, accounts: [] });
    return news;
  }
}

test("an account's news wake those who follow it, also those that came before they waited", async () => {
  const rows = new Rows();
  const watch = new AccountWatch(rows, () => {});
  using ada = watch.follow("ada");
  using bob = watch.follow("bob");
  // The watch does not know earlier events.
  for (const each of [ada, bob]) await each.wait(forEver, signal);
  rows.next = () => ({ last: 1, accounts: ["ada", "nobody"] });
  let isBobWoken = false;
  const waiting = bob.wait(forEver, signal).then(() => {
    isBobWoken = true;
  });
  await ada.wait(forEver, signal);
  expect(isBobWoken).toBe(false);
  rows.next = () => ({ last: 2, accounts: ["bob"] });
  await waiting;
});

test("rows that cannot be read are read again", async () => {
  const rows = new Rows();
  const errors: unknown[] = [];
  const fault = new Error("away");
  const watch = new AccountWatch(rows, (error) => errors.push(error));
  rows.next = () => {
    rows.next = () => ({ last: 0, accounts: [] });
    throw fault;
  };
  using ada = watch.follow("ada");
  await ada.wait(forEver, signal);
  expect(errors).toEqual([fault]);
});

test("without followers nothing is asked, and a wait ends with its signal", async () => {
  const rows = new Rows();
  const watch = new AccountWatch(rows, () => {});
  const ada = watch.follow("ada");
  await ada.wait(forEver, signal);
  await ada.wait(forEver, AbortSignal.timeout(1));
  ada[Symbol.dispose]();
  const { asked } = rows;
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect(rows.asked).toBeLessThanOrEqual(asked + 1);
  using again = watch.follow("ada");
  await again.wait(forEver, signal);
});
