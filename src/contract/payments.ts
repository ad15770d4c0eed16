import { z } from "zod";

/** The payment provider's minimum is half a dollar; a credit is a US cent. */
const leastCredits = 50;
const mostCredits = 1_000_000;

export const CreateTopUp = z
  .strictObject({
    credits: z
      .string("credits is required: the number of credits to buy")
      .regex(/^\d{1,9}$/, "Credits are sold in whole numbers, such as 1000.")
      .refine(
        (credits) => Number(credits) >= leastCredits && Number(credits) <= mostCredits,
        `A purchase is ${leastCredits} to ${mostCredits} credits.`,
      )
      .meta({ description: "The number of credits to buy; one costs a US cent." }),
    returnUrl: z
      .url({ protocol: /^https?$/, error: "Set the address of a page, such as https://example.com/paid." })
      .max(1_000)
      .optional()
      .meta({ description: "Where the payment page returns to. Default: the service's own address." }),
  })
  .meta({ id: "CreateTopUp" });
export type CreateTopUp = z.infer<typeof CreateTopUp>;

export const TopUp = z
  .object({
    id: z.string(),
    url: z.string().meta({ description: "The payment page." }),
    credits: z.string(),
    expiresAt: z.iso.datetime().meta({ description: "When the page expires." }),
  })
  .meta({ id: "TopUp" });
export type TopUp = z.infer<typeof TopUp>;
