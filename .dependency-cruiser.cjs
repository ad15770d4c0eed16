/** Rooms that import the named ones and nothing else of the service. Types of other rooms are free, but to the contract. */
const allowed = {
  contract: [],
  core: ["contract", "config"],
  config: ["contract", "core"],
  runtimes: ["contract", "core"],
  guest: ["contract", "runtimes", "core"],
  cli: ["contract", "core"],
};
/** What the guest and the tool run without: a database and a web server. */
const serverCore = "^src/core/(http|database)/";
/** Builds the service, and ends it. */
const wiring = "^src/(app|context|databases|foundation|server|stores)\\.ts$";

module.exports = {
  forbidden: [
    ...Object.entries(allowed).map(([room, others]) => ({
      name: `${room}-imports`,
      severity: "error",
      from: { path: `^src/${room}/`, pathNot: "\\.test\\.ts$" },
      to: {
        path: "^(src|image|test|bench)/",
        // The list of runtimes is data.
        pathNot: `^(src/(${[room, ...others].join("|")})|image/runtimes)/`,
        ...(room === "core" && { dependencyTypesNot: ["type-only"] }),
      },
    })),
    {
      name: "server-alone",
      comment: "The guest, the runtimes and the tool have neither a database nor a web server.",
      severity: "error",
      from: { path: "^src/(guest|runtimes|cli|contract|config)/", pathNot: "\\.test\\.ts$" },
      to: { path: serverCore },
    },
    {
      name: "machines-know-no-nouns",
      comment: "QEMU's machines are run by the service, the doctor and the cluster's keeper alike.",
      severity: "error",
      from: { path: "^src/machines/qemu/", pathNot: "\\.test\\.ts$" },
      to: { path: "^src/", pathNot: "^src/(machines|contract|core|config)/", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "protocols-stand-on-nouns",
      comment: "Other programs' protocols are mounted once; nothing is built on them.",
      severity: "error",
      from: { path: "^src/", pathNot: `^src/protocols/|${wiring}` },
      to: { path: "^src/protocols/", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "kubernetes-apart",
      comment: "Only the service's start and the doctor know of clusters.",
      severity: "error",
      from: { path: "^src/", pathNot: `^src/kubernetes/|^src/doctor/|^src/hosts/found-files\\.ts$|${wiring}` },
      to: { path: "^src/kubernetes/" },
    },
    {
      name: "sql-in-stores",
      comment: "SQL is in a room's stores, and its columns are in its tables.ts.",
      severity: "error",
      from: {
        path: "^src/",
        pathNot: `\\.test\\.ts$|(store|rows|tables)\\.ts$|^src/core/database/|^src/upkeep/timers\\.ts$|${wiring}`,
      },
      to: { path: "(^|/)node_modules/(kysely|pg)/" },
    },
    {
      name: "client-for-its-users",
      comment: "The service does not call itself. Only the tool uses the client.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/cli/" },
      to: { path: "^packages/" },
    },
    {
      name: "dashboard-is-a-client",
      comment: "The dashboard knows the service by its API alone.",
      severity: "error",
      from: { path: "^dashboard/" },
      to: { path: "^(src|image|test|bench|scripts)/" },
    },
    {
      name: "contract-has-no-io",
      comment: "The contract is read by every part, the guest and the tool among them: a schema library only.",
      severity: "error",
      from: { path: "^src/contract/", pathNot: "\\.test\\.ts$" },
      // Node's streams as a type, for calls that carry bytes.
      to: { dependencyTypesNot: ["local"], pathNot: "(^|/)node_modules/zod/|^(node:)?stream$" },
    },
    {
      name: "client-runs-anywhere",
      comment: "The client runs wherever fetch does: no Node in it, nor in what it imports.",
      severity: "error",
      from: { path: "^packages/client/", pathNot: "\\.test\\.ts$" },
      to: { pathNot: "^packages/client/src/|(^|/)node_modules/eventsource-parser/" },
    },
    {
      name: "no-cycles",
      comment: "The context names the types of all parts, which name its own.",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    {
      name: "not-from-tests",
      severity: "error",
      from: { path: "^src/", pathNot: "\\.test\\.ts$" },
      to: { path: "(^test/|\\.test\\.ts$)" },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "default"] },
  },
};
