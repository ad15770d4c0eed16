import { defineConfig } from "vitest/config";

// The API's tests with their machines in pods of a real cluster: `make test-kubernetes`.

/** What could not pass, or says nothing of pods. A test that looks into machines is skipped by itself (`skips.ts`). */
const apart = [
  // A backup of machines in a cluster is refused.
  "backups",
  // The programs that they reach in a machine are the tests' own.
  "behind-proxies",
  "ports",
  "previews*",
  // A pod has no root, who logs people in.
  "ssh",
  // Their runtimes or images are of their own.
  "agents",
  "upgrades",
  // What asks a keeper, a lease or a table has no machines.
  "{host-leases,keeper*,ledger,turn-appends}",
  // Their servers are many, or are started by the tests.
  "{database,hosts,servers}",
];

export default defineConfig({
  test: {
    pool: "forks",
    include: ["test/api/**/*.test.ts"],
    exclude: apart.map((name) => `test/api/${name}.test.ts`),
    globalSetup: ["test/support/global-setup.ts", "test/pods/setup.ts"],
    setupFiles: "test/pods/skips.ts",
    reporters: ["default", "./test/support/summary-reporter.ts"],
    testTimeout: 300_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 60_000 } },
    maxWorkers: 3,
  },
});
