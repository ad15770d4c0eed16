import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { formatFields } from "../table.ts";
import { writeJson } from "../terminal.ts";

/** `berth admin capacity` */
export function register(admin: Command): void {
  admin
    .command("capacity")
    .description("show what the host has for machines, and what is taken of it")
    .addOption(jsonOption())
    .action(async ({ json }: CommonOptions) => {
      const client = connect(readEnvironment());
      const capacity = await client.admin.capacity();
      if (json) return writeJson(process.stdout, capacity);
      const { machines, memoryMiB, spares, queue } = capacity;
      const fields = {
        "machines awake": `${machines.used} of ${machines.limit}`,
        memory: `${memoryMiB.used} of ${memoryMiB.limit} MiB`,
        "waiting for new agents": `${spares.used} of ${spares.limit}`,
        "agents in the queue": `${queue.used} of ${queue.limit}`,
      };
      process.stdout.write(formatFields(process.stdout, fields));
    });
}
