import { Argument } from "commander";
import type { ToolCommand } from "../command.ts";

// Each script asks the tool itself: `berth complete -- WORDS`, whose last word is the one to complete, prints a line
// for each way to complete it. The shells take the lines as they are.

const scripts: Record<string, string> = {
  bash: `_berth() {
  mapfile -t COMPREPLY < <(berth complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _berth berth
`,
  zsh: `#compdef berth
_berth() {
  local -a found
  found=("\${(@f)$(berth complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  [[ -n "$found" ]] && compadd -- "\${found[@]}" || _files
}
compdef _berth berth
`,
  fish: `complete -c berth -f -a '(berth complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
};

const help = `
To have it in every shell:
  echo 'source <(berth completion bash)' >> ~/.bashrc
  echo 'source <(berth completion zsh)' >> ~/.zshrc      (after compinit)
  berth completion fish > ~/.config/fish/completions/berth.fish`;

export function register(program: ToolCommand): void {
  program
    .add("completion", "print a script that completes commands and names in your shell")
    .addArgument(new Argument("<shell>", "your shell").choices(Object.keys(scripts)))
    .addHelpText("after", help)
    .action((shell: string) => void process.stdout.write(scripts[shell]!));
}
