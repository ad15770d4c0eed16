import { defineConfig } from "vitest/config";

// The API's tests with their machines in pods of a real cluster: `make test-kubernetes`. A test that looks into machines, or
// changes what they do, is skipped as it reaches for them (`each-file.ts`).

/** Files that could not pass, or say nothing of pods. */
const apart = [
  // A backup of machines in a cluster is refused.
  "backups",
  // The programs that they reach in a machine are the tests' own.
  "{behind-proxies,ports,previews*}",
  // They speak to a machine's proxy, which only the machine's programs reach.
  "{downloads,egress,secrets}",
  // They reach a machine's ports with programs of their own.
  "ended-credentials",
  // They look into a data folder, which has no machines here.
  "{host-files,restore}",
  // A pod has no root, who logs people in, and no terminals.
  "{ssh,terminals}",
  // Images and what comes of them are their own.
  "{agents,upgrades}",
  // Tests of a keeper, a lease or a table have no machines; servers of their own have others.
  "{database,host-leases,hosts,keeper*,ledger,machine-time,servers,turn-appends}",
];

/** Tests in other files, as their names begin. */
const cannot = [
  // A pod's user may not give files to root.
  "an archive of another processor",
  // They look at the processes and files of a machine from outside.
  "a file with holes leaves and comes back",
  "the programs that make .* end with the client",
  "what a command leaves in the background is killed",
  // A runtime of its own, and a driver that cannot be opened.
  "a fourth runtime is one object",
  "deleting an agent ends a runtime that is still starting",
  "a failure of the service is not kept",
  // The database is none of the server's.
  "a restart keeps sessions and tokens",
  // The cluster has no room for so many pods, or is slower than what is waited for.
  "ten forks have the files",
  "each fork counts as a new agent",
  "a chat that found no place",
  // It takes the machines' folder away.
  "a turn is answered also where no snapshot can be made before it",
];

export default defineConfig({
  test: {
    pool: "forks",
    include: ["test/api/**/*.test.ts"],
    exclude: apart.map((name) => `test/api/${name}.test.ts`),
    testNamePattern: new RegExp(`^(?!.*(?:${cannot.join("|")}))`),
    globalSetup: ["test/support/global-setup.ts", "test/pods/setup.ts"],
    setupFiles: "test/pods/each-file.ts",
    reporters: ["default", "./test/support/summary-reporter.ts"],
    testTimeout: 300_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 60_000 } },
    maxWorkers: 3,
  },
});
