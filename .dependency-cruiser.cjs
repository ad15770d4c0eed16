/** The import rules of ARCHITECTURE.md. A part may import those that are named; any other import fails the check. */
const allowed = {
  contract: [],
  domain: ["contract"],
  config: ["contract"],
  http: ["contract", "domain"],
  postgres: ["contract", "domain"],
  machines: ["contract"],
  gateway: ["contract"],
  egress: ["contract"],
  identity: ["contract"],
  payments: ["contract"],
  telemetry: ["contract"],
  runtimes: ["contract"],
  guest: ["contract", "runtimes"],
  cli: ["contract"],
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
      name: "contract-has-no-io",
      comment: "The contract is read by every part, the guest and the tool among them: a schema library only.",
      severity: "error",
      from: { path: "^src/contract/", pathNot: "\\.test\\.ts$" },
      to: { dependencyTypesNot: ["local"], pathNot: "^node_modules/zod/" },
    },
    {
      name: "domain-has-no-io",
      comment: "Rules know no framework, no SQL and no network.",
      severity: "error",
      from: { path: "^src/domain/", pathNot: "\\.test\\.ts$" },
      to: { dependencyTypes: ["npm", "core"], pathNot: "^(node:)?(crypto|events)$" },
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
