import { defineConfig } from "vitest/config";

// CONTRIBUTING.md says which target runs which project. Each test file is in exactly one of them.

/** Single files of the product. */
const unit = ["{src,packages,dashboard/src,scripts}/**/*.test.ts", "test/guest/**/*.test.ts"];
/** A server, and no virtual machine. */
const fast = ["test/{api,clients,dashboard,faults,gateway,packages}/**/*.test.ts"];
/** How both run. */
const withoutMachines = {
  // What stands still for a minute fails and says where. A test that needs longer declares it.
  testTimeout: 60_000,
  hookTimeout: 60_000,
  expect: { poll: { timeout: 45_000 } },
  // More than cores: most of a test's time is waiting.
  maxWorkers: 3,
  sequence: { groupOrder: 0 },
};
/** A real machine, as far as a minute's change may break it. */
const machine = ["test/vm/{agent,confinement,dashboard,isolation,opened,tool}.test.ts"];
/** Both light runtimes in real machines, and what could lose data. CI runs these too. */
const states = ["test/vm/{backup,clocks,egress,faults,runtimes,snapshots}.test.ts"];
/** Faults at each step and at random, and long times. */
const soak = ["test/faults/{between-steps,between-turn-steps,restore,soak,year}.test.ts", "test/vm/soak.test.ts"];
/** All the rest. */
const long = ["test/runtimes/**/*.test.ts", "test/vm/**/*.test.ts"];

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
        test: { name: "unit", include: unit, ...withoutMachines },
      },
      {
        extends: true,
        test: { name: "fast", include: fast, exclude: soak, ...withoutMachines },
      },
      {
        extends: true,
        // Two cores carry few virtual machines at once, so their files run one after the other.
        test: { name: "machine", include: machine, fileParallelism: false, sequence: { groupOrder: 1 } },
      },
      {
        extends: true,
        test: { name: "states", include: states, fileParallelism: false, sequence: { groupOrder: 2 } },
      },
      {
        extends: true,
        test: {
          name: "long",
          include: long,
          exclude: [...machine, ...states, ...soak],
          fileParallelism: false,
          sequence: { groupOrder: 3 },
        },
      },
      {
        extends: true,
        test: { name: "soak", include: soak, fileParallelism: false, sequence: { groupOrder: 4 } },
      },
      {
        extends: true,
        test: {
          name: "kubernetes",
          include: ["test/kubernetes/**/*.test.ts"],
          fileParallelism: false,
          sequence: { groupOrder: 5 },
        },
      },
      {
        extends: true,
        test: {
          name: "packages",
          include: ["test/{container,debian}/**/*.test.ts"],
          fileParallelism: false,
          sequence: { groupOrder: 6 },
        },
      },
    ],
  },
});
