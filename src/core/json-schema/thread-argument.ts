export const schemaThreadArgument = "schema-thread";
