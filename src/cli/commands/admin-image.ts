import type { ToolCommand } from "../command.ts";
import { CliError } from "../errors.ts";
import { Progress } from "../progress.ts";
import { runProgram } from "../server-process.ts";
import { printable } from "../terminal.ts";
import { note } from "../verbosity.ts";

/** A line of the program for images. */
interface Outcome {
  header: { berth: string; image: { id: string } };
  /** Of the image, in the cache of builds. */
  folder: string;
  /** The command that builds the image, or takes it from the cache. */
  next: string;
}

/** Adds `berth admin image`. */
export function addImage(admin: ToolCommand): void {
  const image = admin.add("image", "move the guest image to another machine of yours; on the server's machine");
  const about = { file: "the file; - is standard input" };
  image
    .add("export <file>", "write the guest image to a new file", { file: "a new file" })
    .prints((file: string) => run("writing the image", "export", file), showExported);
  image
    .add("import <file>", "take a guest image from a file instead of building it", about)
    .prints((file: string) => run("reading the image", "import", file), showImported);
  image
    .add("verify <file>", "read a complete file and verify its checksums", about)
    .prints((file: string) => run("reading the image", "verify", file), showVerified);
}

async function run(doing: string, task: string, file: string): Promise<Outcome> {
  using progress = new Progress(process.stderr);
  progress.show(doing);
  let last: Partial<Outcome> & { failed?: string } = {};
  const take = (line: string) => {
    last = JSON.parse(line) as typeof last;
  };
  await runProgram("image-archive/program.ts", take, { args: [task, file], stdin: "inherit", cleansUp: true });
  const { header, folder, next } = last;
  if (header && folder && next) return { header, folder, next };
  throw new CliError(last.failed ?? "The program exited early.");
}

const named = ({ header: { image, berth } }: Outcome) => `image ${printable(image.id)} of Berth ${printable(berth)}`;

function showExported(outcome: Outcome): void {
  console.log(`The file has ${named(outcome)}. On another machine of yours: berth admin image import FILE`);
  note(
    "It contains Claude Code and other runtimes. Their licences do not let you pass them on: use the file for your own machines.",
  );
}

function showImported(outcome: Outcome): void {
  console.log(`${printable(outcome.folder)} has ${named(outcome)}. Then: ${outcome.next}`);
  note("The server takes it if it is of the same version; for another, it builds an image of its own.");
}

function showVerified(outcome: Outcome): void {
  console.log(`The file is complete: ${named(outcome)}.`);
}
