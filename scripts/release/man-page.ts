import type { Command, Help } from "commander";

/** The manual page berth(1) of the tool's command tree. `date`: `2026-11-27`. */
export function manPage(program: Command, version: string, date: string): string {
  const help = program.createHelp();
  const lines = [
    `.TH BERTH 1 ${date} "Berth ${version}" "User commands"`,
    ".SH NAME",
    `berth \\- ${escaped("run agents, each in its own virtual machine")}`,
    ".SH SYNOPSIS",
    ".B berth",
    "[\\fIoptions\\fR] \\fIcommand\\fR",
    ".SH DESCRIPTION",
    escaped(program.description()),
    ".SH OPTIONS",
    ...optionLines(program, help),
    ".SH COMMANDS",
    ...leavesOf(program, help).flatMap((command) => commandLines(command, help)),
    ".SH FILES",
    ...[
      ["/etc/berth/berth.env", "Settings of the server."],
      ["/var/lib/berth", "Agents, their database and the secret key."],
      ["/var/cache/berth", "The guest image. The server builds it again if it is missing."],
    ].flatMap(([path, text]) => [".TP", `.I ${escaped(path!)}`, escaped(text!)]),
    ".SH SEE ALSO",
    `.BR systemctl (1), ${escaped("/usr/share/doc/berth")}`,
  ];
  return `${lines.join("\n")}\n`;
}

function leavesOf(command: Command, help: Help): Command[] {
  return help
    .visibleCommands(command)
    .filter((each) => each.name() !== "help")
    .flatMap((each) => (each.commands.length > 0 ? leavesOf(each, help) : [each]));
}

function commandLines(command: Command, help: Help): string[] {
  return [".SS", escaped(help.commandUsage(command)), escaped(command.description()), ...optionLines(command, help)];
}

function optionLines(command: Command, help: Help): string[] {
  return help
    .visibleOptions(command)
    .filter(({ long }) => long !== "--help")
    .flatMap((option) => [
      ".TP",
      `\\fB${escaped(help.optionTerm(option))}\\fR`,
      escaped(help.optionDescription(option)),
    ]);
}

/** Text in which troff finds no request, escape or hyphenation (groff_man_style(7)). */
function escaped(text: string): string {
  const plain = text.replaceAll("\\", "\\e").replaceAll("-", "\\-").replaceAll("'", "\\(aq").replace(/\s+/g, " ");
  return plain.startsWith(".") ? `\\&${plain}` : plain;
}
