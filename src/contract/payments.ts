import { z } from "zod";

/** The payment provider's minimum is half a dollar; a credit is a US cent. */
const leastCredits = 50;
const mostCredits = 1_000_000;

export const CreateTopUp = z
  .strictObject({
    credits: z
      .string("credits is required: how many credits are to be bought")
      .regex(/^\d{1,9}$/, "Whole credits are sold, such as 1000.")
      .refine(
        (credits) => Number(credits) >= leastCredits && Number(credits) <= mostCredits,
        `From ${leastCredits} to ${mostCredits} credits are sold at once.`,
      )
      .meta({ description: "How many credits to buy; one costs a US cent." }),
    returnUrl: z
      .url({ protocol: /^https?$/, error: "The address of a page is needed, such as https://example.com/paid." })
      .max(1_000)
      .optional()
      .meta({ description: "Where the payment's page leads back to; otherwise the service's own address." }),
  })
  .meta({ id: "CreateTopUp" });
export type CreateTopUp = z.infer<typeof CreateTopUp>;

export const TopUp = z
  .object({
    id: z.string(),
    url: z.string().meta({ description: "The page on which to pay." }),
    credits: z.string(),
    expiresAt: z.iso.datetime().meta({ description: "Until then the page can be used." }),
  })
  .meta({ id: "TopUp" });
export type TopUp = z.infer<typeof TopUp>;
