import { createRequire } from 'node:module';
import path from 'node:path';
import { findOnPath, isExecutable } from '../findOnPath.ts';

/**
 * Finds the anvil binary: `ANVIL_BIN` if it is set, else the npm package
 * `@foundry-rs/anvil-linux-amd64` (installed on Linux x64 only), else `anvil` on the PATH.
 *
 * @returns undefined if `ANVIL_BIN` is set but is not an executable file, or if it is not set and
 * neither the package nor the PATH has the binary.
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
    return undefined; // npm installs the package only on Linux x64
  }
}
