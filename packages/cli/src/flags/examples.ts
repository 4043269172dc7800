/** Formats the examples at the end of a command's `--help`. */
export const examples = (...commands: [string, ...string[]]): string =>
  `\nExamples:\n${commands.map((command) => `  $ ${command}`).join('\n')}`;
