import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { writeJson } from "../terminal.ts";

interface ReplaceOptions extends CommonOptions {
  now?: boolean;
}

/** `berth admin signing-keys replace` */
export function register(keys: Command): void {
  keys
    .command("replace")
    .description("sign tokens with new keys; older tokens stay valid until they expire")
    .option("--now", "invalidate everything that older keys signed, as after a theft")
    .addOption(jsonOption())
    .action(async ({ now = false, json }: ReplaceOptions) => {
      const client = connect(readEnvironment());
      const replaced = await client.admin.replaceSigningKeys({ now });
      if (json) writeJson(process.stdout, replaced);
      else console.log(now ? "Only new keys count now." : `Older keys count until ${replaced.oldKeysUntil}.`);
    });
}
