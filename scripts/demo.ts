import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

// Draws the README's picture. Runs the README's first commands against this checkout's service and writes their output
// as a terminal in SVG:
//
//   node scripts/demo.ts [--transcript FILE] [--output FILE]
//
// With --transcript nothing is run: the file has the commands, each after "$ ", and their output.

/** The README's first steps. */
const commands = ["./berth agents create ada", './berth chat ada "run: uname -a"', "./berth agents delete ada --yes"];

const prompt = "$ ";
/** Longer lines are wrapped, as in a terminal. */
const columns = 88;
const fontSize = 14;
const charWidth = 8.43;
const lineHeight = 21;
const padding = 22;
const titleHeight = 36;

/** Colours that are readable on a light and on a dark page. */
const colours = {
  window: "#23283a",
  border: "#4a5270",
  title: "#9aa3c0",
  output: "#d5daea",
  command: "#ffffff",
  prompt: "#7fd1a0",
  buttons: ["#e0776f", "#e3b565", "#7fc08a"],
};

/** Runs a shell command in the checkout and returns its stdout. Throws if it fails. */
async function outputOf(command: string): Promise<string> {
  const shell = spawn("sh", ["-c", command], {
    cwd: fileURLToPath(new URL("..", import.meta.url)),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const chunks: Buffer[] = [];
  shell.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  const code = await new Promise<number | null>((resolve, reject) => {
    shell.on("error", reject);
    shell.on("close", resolve);
  });
  if (code !== 0) throw new Error(`${command}: exit code ${code}`);
  return Buffer.concat(chunks).toString("utf8").trimEnd();
}

/** The commands, each followed by its output. */
async function record(): Promise<string> {
  const lines: string[] = [];
  for (const command of commands) lines.push(`${prompt}${command}`, await outputOf(command));
  return lines.join("\n");
}

/** Renders a transcript as a picture of a terminal. */
function render(transcript: string): string {
  const lines = transcript.trimEnd().split("\n").flatMap(wrapped);
  const width = Math.ceil(columns * charWidth + 2 * padding);
  const height = titleHeight + lines.length * lineHeight + padding;
  const rows = lines.map((line, index) => row(line, titleHeight + (index + 1) * lineHeight));
  const buttons = colours.buttons.map(
    (colour, index) => `  <circle cx="${padding + index * 18}" cy="18" r="5.5" fill="${colour}"/>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"` +
      ` role="img" aria-label="A terminal: an agent is created, asked to run a command, and deleted">`,
    `  <rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="9" fill="${colours.window}"` +
      ` stroke="${colours.border}"/>`,
    ...buttons,
    `  <text x="${width / 2}" y="23" text-anchor="middle" fill="${colours.title}" font-size="13"` +
      ` font-family="system-ui, sans-serif">berth</text>`,
    `  <g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"` +
      ` font-size="${fontSize}" xml:space="preserve">`,
    ...rows.filter((each) => each !== ""),
    "  </g>",
    "</svg>",
    "",
  ].join("\n");
}

/** Splits a line into pieces of at most `columns` characters. */
function wrapped(line: string): string[] {
  const characters = [...printable(line)];
  const pieces: string[] = [];
  do pieces.push(characters.splice(0, columns).join(""));
  while (characters.length > 0);
  return pieces;
}

/** One line of the terminal. Its text is as wide as its characters, whatever the font. */
function row(line: string, y: number): string {
  if (line === "") return "";
  const place = `x="${padding}" y="${y}" textLength="${([...line].length * charWidth).toFixed(1)}"`;
  if (!line.startsWith(prompt)) return `    <text ${place} fill="${colours.output}">${escaped(line)}</text>`;
  const mark = `<tspan fill="${colours.prompt}">${escaped(prompt)}</tspan>`;
  return `    <text ${place} fill="${colours.command}">${mark}${escaped(line.slice(prompt.length))}</text>`;
}

/** Removes control characters, which XML cannot contain. */
function printable(line: string): string {
  return line.replaceAll(/\p{Cc}/gu, "");
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

const { values } = parseArgs({ options: { transcript: { type: "string" }, output: { type: "string" } } });
const output = values.output ?? fileURLToPath(new URL("../docs/demo.svg", import.meta.url));
const transcript = values.transcript === undefined ? await record() : await readFile(values.transcript, "utf8");
await writeFile(output, render(transcript));
