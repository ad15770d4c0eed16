import { defineConfig } from "vitest/config";

// `make test` runs the projects `fast` and `machine`, `make test-long` runs `long`, `make test-kubernetes` runs
// `kubernetes`. Each file is in exactly one of them; CONTRIBUTING.md says which and why.

/** What needs no virtual machine and is not long by nature. */
const fast = [
  "{src,packages,dashboard/src}/**/*.test.ts",
  "test/{api,clients,dashboard,faults,gateway,guest,packages}/**/*.test.ts",
];
/** A real machine, as far as a minute's change may break it. */
const machine = ["test/vm/{agent,confinement,dashboard,isolation,opened,tool}.test.ts"];
/** Soaks, the real runtimes, and what machines do in all their states. */
const long = ["test/faults/{soak,year}.test.ts", "test/runtimes/**/*.test.ts", "test/vm/**/*.test.ts"];

export default defineConfig({
  test: {
    pool: "forks",
    globalSetup: "test/support/global-setup.ts",
    reporters: ["default", "./test/support/summary-reporter.ts"],
    testTimeout: 300_000,
    // Nothing asserts a time: what is polled for comes when a busy machine has got to it.
    expect: { poll: { timeout: 60_000 } },
    // The first that needs a machine makes the template of its runtime.
    hookTimeout: 1_800_000,
    projects: [
      {
        extends: true,
        test: {
          name: "fast",
          include: fast,
          exclude: ["test/faults/{soak,year}.test.ts"],
          // What stands still for a minute fails and says where. A test that needs longer declares it.
          testTimeout: 60_000,
          hookTimeout: 60_000,
          expect: { poll: { timeout: 45_000 } },
          // More than cores: most of a test's time is waiting.
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        // Two cores carry few virtual machines at once, so their files run one after the other.
        test: { name: "machine", include: machine, fileParallelism: false, sequence: { groupOrder: 1 } },
      },
      {
        extends: true,
        test: { name: "long", include: long, exclude: machine, fileParallelism: false, sequence: { groupOrder: 2 } },
      },
      {
        extends: true,
        test: {
          name: "kubernetes",
          include: ["test/kubernetes/**/*.test.ts"],
          fileParallelism: false,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
