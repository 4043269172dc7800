/** Finds misspelled environment variables. */
import { findNearest } from '@sluice/kit/contract';
import type { Command } from 'commander';

/** Variables that other commands, apps and the vault read. */
const OTHER_VARIABLES = [
  ...['SLUICE_API_URL', 'SLUICE_CONTEXT', 'SLUICE_URL', 'SLUICE_MASTER_KEY'],
];
/** Matches the variables that Kubernetes sets for a service named `sluice`. */
const FROM_KUBERNETES = /^SLUICE_(SERVICE_|PORT_\d)/;

/**
 * Returns a warning for each `SLUICE_` variable that Sluice does not read.
 *
 * @param referenced variables that the settings file refers to
 */
export function findUnknownVariables(
  command: Command,
  env: Readonly<Record<string, string | undefined>>,
  referenced: ReadonlySet<string> = new Set(),
): string[] {
  const known = [...command.options.flatMap(({ envVar }) => envVar ?? []), ...OTHER_VARIABLES];
  return Object.keys(env)
    .filter((name) => name.startsWith('SLUICE_') && !FROM_KUBERNETES.test(name))
    .filter((name) => !known.includes(name) && !referenced.has(name))
    .map((name) => {
      const near = findNearest(name, known);
      return `Ignoring unknown variable ${name}${near ? `. Did you mean ${near}?` : ''}`;
    });
}
