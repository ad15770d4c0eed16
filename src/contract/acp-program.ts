import { z } from "zod";

const text = (name: string, max: number) =>
  z
    .string()
    .max(max)
    .refine((value) => !value.includes("\0"), `${name} must not contain null characters.`);

const fields = {
  command: text("command", 1_000)
    .min(1)
    .meta({ description: "A program's name or path in the machine.", examples: ["npx"] }),
  args: z
    .array(text("args", 4_000))
    .max(100)
    .meta({ description: "Its arguments.", examples: [["-y", "@agentclientprotocol/codex-acp@1"]] }),
};

const description =
  "For the runtime `acp`: the program in the machine that speaks the Agent Client Protocol on its standard input and output. Null with other runtimes.";

/** How the runtime `acp` is started. */
export const AcpProgram = z.object(fields).meta({ id: "AcpProgram", description });
export type AcpProgram = z.infer<typeof AcpProgram>;

/** As a request may give it. */
export const AskedAcpProgram = z
  .strictObject({ ...fields, args: fields.args.default([]) })
  .nullable()
  .meta({ description });
