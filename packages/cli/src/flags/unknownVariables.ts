/** Variables of the environment that look like ours and are not. */
import type { Command } from 'commander';

/** Read elsewhere than by the flags of a service: by clients, receivers and the vault. */
const OTHER_VARIABLES = [
  ...['SLUICE_API_URL', 'SLUICE_CONTEXT', 'SLUICE_URL', 'SLUICE_MASTER_KEY'],
];
/** Kubernetes sets these for every service that is called `sluice`. */
const FROM_KUBERNETES = /^SLUICE_(SERVICE_|PORT_\d)/;

/** Variables that look as if they were for the service, and are not read: most often misspelt. */
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
      return `${name} is not a variable of sluice, and is ignored${near ? `. Did you mean ${near}?` : ''}`;
    });
}

/** One letter more, less or another, or two that are next to each other swapped. */
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
