import { defineConfig } from "vitest/config";

// The tests that `make test-kvm` runs in its machine. Those of test/vm run under emulation, too, with the same limits.

export default defineConfig({
  test: {
    pool: "forks",
    include: ["test/kvm/*.test.ts", "test/vm/{agent,clocks,egress,faults,isolation,snapshots,suspend}.test.ts"],
    fileParallelism: false,
    globalSetup: "test/support/global-setup.ts",
    reporters: ["verbose", "./test/support/summary-reporter.ts"],
    testTimeout: 300_000,
    hookTimeout: 1_800_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
