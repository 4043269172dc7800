import { createRequire } from 'node:module';
import path from 'node:path';
import { findOnPath, isExecutable } from '../findOnPath.ts';

/**
 * The path of the anvil binary: `ANVIL_BIN` when it is set, else the npm package
 * `@foundry-rs/anvil-linux-amd64` (installed on Linux x64 only), else `anvil` on the PATH.
 *
 * @returns undefined when none of the three is an executable file. An `ANVIL_BIN` that is set and
 *   wrong is not passed over in silence: it gives undefined too.
 */
export function findAnvil(): string | undefined {
  const fromEnvironment = process.env['ANVIL_BIN'];
  if (fromEnvironment) return isExecutable(fromEnvironment) ? fromEnvironment : undefined;
  return fromPackage() ?? findOnPath('anvil');
}

function fromPackage(): string | undefined {
  try {
    const manifest = createRequire(import.meta.url).resolve(
      '@foundry-rs/anvil-linux-amd64/package.json',
    );
    const binary = path.join(path.dirname(manifest), 'bin', 'anvil');
    return isExecutable(binary) ? binary : undefined;
  } catch {
    return undefined; // npm skips the package on other platforms
  }
}
