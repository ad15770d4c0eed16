/**
 * Why an account's balance changed. `starting`: what it began with. `grant`: given, or taken back, by the operator.
 * `top_up`, `refund`: a payment, and one that was given back. `model`: a model call. `machine`: a machine's time.
 */
const entryKinds = ["starting", "grant", "top_up", "refund", "model", "machine"] as const;
export type EntryKind = (typeof entryKinds)[number];
