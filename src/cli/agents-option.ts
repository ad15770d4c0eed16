import { Option } from "commander";

/** `--agents NAMES`: other agents that the agent may ask, separated by commas; `""`: none. */
export function agentsOption(): Option {
  return new Option(
    "--agents <names>",
    'other agents that it may ask as tools, separated by commas; "": none',
  ).argParser((text) =>
    text
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== ""),
  );
}
