/** Installs packages with npm as users do. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { npm } from '../../scripts/release/packages.ts';

/**
 * Creates a project in an empty folder and installs the packages there, without running their
 * install scripts.
 */
export function installInto(folder: string, type: 'module' | 'commonjs', packages: string[]): void {
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'consumer', private: true, type }),
  );
  const flags = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
  npm(folder, 'install', ...flags, ...packages);
}
