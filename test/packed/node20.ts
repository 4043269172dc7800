/**
 * Finds Node 20, the oldest supported version, on the path, or installs it from the npm registry.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { installInto } from './install.ts';

const NODE_20 = '20.20.2';
const isWindows = process.platform === 'win32';

/**
 * Returns the path of a Node 20 executable. If none is on the path, installs one below `folder` and
 * logs the installation.
 */
export const prepareNode20 = (folder: string): string => findNode20() ?? fetchNode20(folder);

function findNode20(): string | undefined {
  const name = isWindows ? 'node.exe' : 'node';
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((path) => path !== '' && !path.includes('node_modules'))
    .map((path) => join(path, name))
    .find((path) => existsSync(path) && versionOf(path).startsWith('v20.'));
}

export const versionOf = (node: string): string =>
  spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout;

function fetchNode20(folder: string): string {
  const name = `node-${isWindows ? 'win' : process.platform}-${process.arch}`;
  process.stderr.write(`sluice: fetching Node ${NODE_20} to test the packages\n`);
  const project = join(folder, 'node20');
  mkdirSync(project);
  installInto(project, 'module', [`${name}@${NODE_20}`]);
  return join(project, 'node_modules', name, 'bin', isWindows ? 'node.exe' : 'node');
}
