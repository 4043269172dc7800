/** Finds misspelled environment variables. */
import type { Command } from 'commander';

/** Variables that are read by clients, receivers and the vault instead of flags. */
const OTHER_VARIABLES = [
  ...['SLUICE_API_URL', 'SLUICE_CONTEXT', 'SLUICE_URL', 'SLUICE_MASTER_KEY'],
];
/** Kubernetes sets these for each service named `sluice`. */
const FROM_KUBERNETES = /^SLUICE_(SERVICE_|PORT_\d)/;

/** Returns a warning for each `SLUICE_` variable that is not read. */
export function findUnknownVariables(
  command: Command,
  env: Readonly<Record<string, string | undefined>>,
): string[] {
  const known = [...command.options.flatMap(({ envVar }) => envVar ?? []), ...OTHER_VARIABLES];
  return Object.keys(env)
    .filter((name) => name.startsWith('SLUICE_') && !FROM_KUBERNETES.test(name))
    .filter((name) => !known.includes(name))
    .map((name) => {
      const near = known.find((each) => isNear(each, name));
      return `Ignoring unknown variable ${name}${near ? `. Did you mean ${near}?` : ''}`;
    });
}

/**
 * Returns whether two names differ by one inserted, missing or changed letter, or by two swapped
 * letters.
 */
function isNear(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false;
  let start = 0;
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) start++;
  const [restA, restB] = [a.slice(start), b.slice(start)];
  const swapped = restB.slice(1, 2) + restB.slice(0, 1) + restB.slice(2);
  return (
    restA.slice(1) === restB ||
    restA === restB.slice(1) ||
    restA.slice(1) === restB.slice(1) ||
    restA === swapped
  );
}
