/** The import rules of ARCHITECTURE.md. A part may import those that are named; any other import fails the check. */
const allowed = {
  contract: [],
  platform: ["contract"],
  api: ["contract"],
  service: ["contract", "platform"],
  config: ["contract", "platform"],
  http: ["contract", "api", "service", "platform"],
  store: ["contract", "service", "platform"],
  machines: ["contract", "service", "platform"],
  gateway: ["contract", "service", "platform"],
  egress: ["contract", "service", "platform"],
  identity: ["contract", "service", "platform"],
  backup: ["contract", "service", "platform"],
  payments: ["contract", "service", "platform"],
  telemetry: ["contract", "service", "platform"],
  runtimes: ["contract", "platform"],
  guest: ["contract", "runtimes", "platform"],
  cli: ["contract", "platform"],
};

module.exports = {
  forbidden: [
    ...Object.entries(allowed).map(([part, others]) => ({
      name: `${part}-imports`,
      severity: "error",
      from: { path: `^src/${part}/` },
      to: { path: "^(src|image|test|bench)/", pathNot: `^src/(${[part, ...others].join("|")})/` },
    })),
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
      name: "service-has-no-io",
      comment: "The application knows no framework, no SQL and no network: adapters bring them.",
      severity: "error",
      from: { path: "^src/service/", pathNot: "\\.test\\.ts$" },
      to: { dependencyTypes: ["npm", "core"], pathNot: "^(node:)?(crypto|events|stream)$" },
    },
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
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
