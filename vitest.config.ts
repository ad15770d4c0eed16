import { defineConfig } from "vitest/config";

// Files run one after the other: what is slow here are virtual machines, and two cores carry few of them at once.
export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    pool: "forks",
    fileParallelism: false,
    globalSetup: "test/support/leak-check.ts",
    reporters: ["default", "./test/support/summary-reporter.ts"],
    testTimeout: 300_000,
    // Nothing asserts a time: what is polled for comes when a busy machine has got to it.
    expect: { poll: { timeout: 60_000 } },
    // The first that needs a machine makes the templates of all runtimes.
    hookTimeout: 1_800_000,
  },
});
