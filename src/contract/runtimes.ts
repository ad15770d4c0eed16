import { z } from "zod";
import { WireName, wireNames } from "./providers.ts";

/** Features that clients can use, in the same way for every runtime. */
export const abilityNames = [
  "instructions",
  "model",
  "effort",
  "reset",
  "cancel",
  "tools",
  "reasoning",
  "usage",
  "permissions",
  "steer",
  "output",
] as const;
export type AbilityName = (typeof abilityNames)[number];

const Ability = z.object({
  supported: z.boolean(),
  reason: z.string().nullable().meta({ description: "Why it is unsupported, or how it is limited." }),
});

export const RuntimeRecord = z
  .object({
    name: z.string(),
    description: z.string().meta({ description: "One sentence about it." }),
    package: z.string().meta({ description: "Its npm package; empty: each agent names its own program." }),
    needsProgram: z.boolean().meta({ description: "Whether an agent on it names a program, `acp`." }),
    version: z.string().nullable().meta({ description: "The package's version in this installation's guest image." }),
    wires: z.array(WireName).max(wireNames.length).meta({ description: "The APIs of models that it can use." }),
    providers: z.array(z.string()).meta({ description: "The names of the providers whose models it can use." }),
    defaultModel: z
      .string()
      .nullable()
      .meta({ description: "The model of an agent that sets none; null: the runtime chooses." }),
    abilities: z.object(
      Object.fromEntries(abilityNames.map((name) => [name, Ability])) as Record<AbilityName, typeof Ability>,
    ),
  })
  .meta({ id: "Runtime" });
export type RuntimeRecord = z.infer<typeof RuntimeRecord>;

export const RuntimeList = z.object({ data: z.array(RuntimeRecord), nextCursor: z.null() }).meta({ id: "RuntimeList" });
