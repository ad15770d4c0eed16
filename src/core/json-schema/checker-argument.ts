export const schemaCheckerArgument = "schema-checker";
