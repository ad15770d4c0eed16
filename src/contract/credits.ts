import { z } from "zod";

/** The error for an invalid number of credits. */
const creditsText =
  "A number of credits is a decimal string with up to nine digits and six decimal places, such as 12.5.";

export const Credits = z.string().regex(/^\d{1,9}(\.\d{1,6})?$/, creditsText);
export const SignedCredits = z.string().regex(/^-?\d{1,9}(\.\d{1,6})?$/, creditsText);
