import type { Command } from "commander";
import { isUuid } from "../../contract/ids.ts";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { CliError } from "../errors.ts";
import { type CommonOptions, jsonOption, yesOption } from "../options.ts";
import { requireConsent } from "../prompt.ts";
import { writeJson } from "../terminal.ts";

interface RevokeOptions extends CommonOptions {
  yes?: true;
}

/** `berth keys revoke ID` */
export function register(keys: Command): void {
  keys
    .command("revoke")
    .description("revoke a key")
    .argument("<id>", "the key's id (see berth keys list)")
    .addOption(yesOption())
    .addOption(jsonOption())
    .action(async (id: string, { yes, json }: RevokeOptions) => {
      // It may be the key itself, which must not be echoed.
      if (!isUuid(id)) throw new CliError("This is not a key's id. List them with: berth keys list", 2);
      const client = connect(readEnvironment());
      if (!yes) await requireConsent(`Revoke the key ${id}, for ever?`, "Nothing was revoked.");
      await client.keys.revoke(id);
      if (json) writeJson(process.stdout, null);
      else console.log(`The key ${id} is revoked.`);
    });
}
