import type { BegunResponse } from "./stored-responses.ts";

/** A response with its turn and its agent's name. */
export interface ResponsePlace extends BegunResponse {
  model: string;
}
