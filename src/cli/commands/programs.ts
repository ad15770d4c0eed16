import { isUuid } from "../../contract/ids.ts";
import type { ToolCommand } from "../command.ts";
import { connect } from "../connect.ts";
import { CliError } from "../errors.ts";
import { localTime } from "../time.ts";
import { note } from "../verbosity.ts";

export function register(program: ToolCommand): void {
  const programs = program.add("programs", "list and revoke the sign-ins of other programs");
  programs.add("list", "list the programs that you have signed in, last used first").lists({
    list: () => connect().programs.list(),
    empty: "No program is signed in.",
    columns: {
      ID: "id",
      NAME: "name",
      DOCUMENT: ({ address }) => address ?? "none",
      "SIGNED IN": ({ signedInAt }) => localTime(signedInAt),
      "LAST USED": ({ lastUsedAt }) => localTime(lastUsedAt),
    },
  });
  programs
    .add("end <id>", "revoke a program's sign-ins", { id: "the program's id (see berth programs list)" })
    .confirms((id: string) => {
      if (!isUuid(id)) throw new CliError("Not a valid program id. List the ids with: berth programs list", 2);
      return `Revoke the sign-ins of the program ${id}?`;
    }, "Nothing was revoked.")
    .prints(
      (id: string) => connect().programs.end(id),
      () => note("The program is signed out."),
    );
}
