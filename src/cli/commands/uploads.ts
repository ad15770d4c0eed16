import { authorText, type Upload } from "@berth/client";
import { uploadFile } from "../attached-files.ts";
import type { ToolCommand } from "../command.ts";
import { agentOf } from "../connect.ts";
import { copyBody } from "../streams.ts";
import { printable } from "../terminal.ts";
import { localTime } from "../time.ts";

const about = { upload: "the upload's id", file: "a file of up to 100 MiB" };

export function register(program: ToolCommand): void {
  const uploads = program.add("uploads", "show and change images and files for messages");
  uploads.add("list <agent>", "list an agent's uploads, newest last").lists({
    list: (name: string) => agentOf(name).uploads.list().take(),
    empty: (name) => `${printable(name)} has no uploads.`,
    newestFirst: true,
    columns: {
      ID: "id",
      SIZE: ({ size }) => String(size),
      TYPE: ({ mediaType }) => printable(mediaType),
      EXPIRES: ({ expiresAt }) => localTime(expiresAt),
      BY: ({ createdBy }: Upload) => (createdBy ? printable(authorText(createdBy)) : "unknown"),
      NAME: ({ name }) => printable(name),
    },
  });
  uploads
    .add("create <agent> <file>", "upload a file for messages of the next 24 hours", about)
    .after("To send a file at once: berth chat AGENT --file FILE MESSAGE")
    .prints(
      (name: string, file: string) => uploadFile(agentOf(name), file),
      ({ id }) => id,
    );
  uploads.add("show <agent> <upload>", "show an upload's name, size and expiry", about).prints(
    (name: string, id: string) => agentOf(name).uploads.get(id),
    ({ name, size, mediaType, expiresAt }) =>
      `${printable(name)}: ${size} bytes, ${printable(mediaType)}, until ${localTime(expiresAt)}`,
  );
  uploads
    .add("read <agent> <upload>", "print an upload's bytes", about)
    .action(async (name: string, id: string) => copyBody(await agentOf(name).uploads.read(id)));
  uploads
    .add("remove <agent> <upload>", "delete an upload", about)
    .confirms((_: string, id: string) => `Delete the upload ${printable(id)}?`, "Nothing was deleted.")
    .prints(
      (name: string, id: string) => agentOf(name).uploads.remove(id),
      () => {},
    );
}
