import { Argument, type Command } from 'commander';
import { examples } from '../flags/examples.ts';
import type { Terminal } from '../terminal/terminal.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

/**
 * Completion scripts by shell. They call `sluice complete`, which prints one completion per line.
 */
const SCRIPTS: Readonly<Record<(typeof SHELLS)[number], string>> = {
  bash: `_sluice() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(sluice complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _sluice sluice
`,
  zsh: `#compdef sluice
_sluice() {
  local -a found
  found=("\${(@f)$(sluice complete -- "\${words[@]:1:$((CURRENT - 1))}" 2>/dev/null)}")
  compadd -a found
}
compdef _sluice sluice
`,
  fish: `complete -c sluice -f -a '(sluice complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
};

export const declareCompletion = (command: Command, terminal: Terminal): Command =>
  command
    .addArgument(new Argument('<shell>', 'Shell to print the script for').choices(SHELLS))
    .addHelpText(
      'after',
      examples('source <(sluice completion bash)', 'sluice completion fish | source'),
    )
    .action((shell: (typeof SHELLS)[number]) => terminal.stdout.write(SCRIPTS[shell]));
