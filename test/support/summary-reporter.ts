import type { Reporter, TestModule } from "vitest/node";

/** Ends the output with one plain line that programs can read: `N passed, N failed, N skipped`. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const count = { passed: 0, failed: errors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      if (module.errors().length > 0) count.failed++;
      for (const test of module.children.allTests()) count[test.result().state]++;
    }
    const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : "";
    // After the other reporters, which print their summary at the same moment.
    setImmediate(() => console.log(`${count.passed} passed, ${count.failed} failed${skipped}`));
  }
}
