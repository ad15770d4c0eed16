import { z } from "zod";

/** A switch in a query. */
export const flag = z.enum(["true", "false"]).default("false");
