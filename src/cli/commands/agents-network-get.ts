import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { showNetwork } from "../network-view.ts";
import { type CommonOptions, jsonOption } from "../options.ts";

/** `berth agents network get NAME` */
export function register(network: Command): void {
  network
    .command("get")
    .description("show where an agent may connect to")
    .argument("<name>", "the agent's name")
    .addOption(jsonOption())
    .action(async (name: string, { json }: CommonOptions) => {
      const client = connect(readEnvironment());
      showNetwork(await client.agent(name).network.get(), json);
    });
}
