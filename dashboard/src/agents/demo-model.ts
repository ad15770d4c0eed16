/** The id of the demonstration model, which needs no provider and does not think. */
export const demoModel = "demo/demo";
