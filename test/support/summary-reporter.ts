import { appendFileSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";

/**
 * Ends the output with one plain line that programs can read: `N passed, N failed, N skipped`. Appends what failed to the
 * file named by BERTH_TEST_FAILURES, a line each: the test file, a tab, the test and its first error.
 */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const count = { passed: 0, failed: errors.length, skipped: 0, pending: 0 };
    const failures: string[] = [];
    for (const module of modules) {
      const file = module.relativeModuleId;
      if (module.errors().length > 0) count.failed++;
      for (const error of module.errors()) failures.push(`${file}\tits set-up: ${firstLine(error.message)}`);
      for (const test of module.children.allTests()) {
        const { state, errors: causes } = test.result();
        count[state]++;
        if (state === "failed") failures.push(`${file}\t${test.fullName}: ${firstLine(causes[0]?.message ?? "")}`);
      }
    }
    const list = process.env.BERTH_TEST_FAILURES;
    if (list) appendFileSync(list, failures.map((line) => `${line}\n`).join(""));
    const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : "";
    // After the other reporters, which print their summary at the same moment.
    setImmediate(() => console.log(`${count.passed} passed, ${count.failed} failed${skipped}`));
  }
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0]!.slice(0, 300);
}
