/**
 * Measures the startup of the published command: `--version` and `--help` compared with Node alone,
 * and `dev` in an empty folder until it is ready and until its first webhook. Then it runs `dev`
 * with `npx`: with an empty npm cache, so that Node is downloaded too, and with a full one.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packCommand } from '../scripts/release/packages.ts';
import { installInto } from '../test/packed/install.ts';
import type { Figures } from './figures.ts';

const STARTS = 21;

export default async function cli(): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-cli-'));
  try {
    const { tarball, size } = packCommand(folder);
    const project = join(folder, 'project');
    mkdirSync(project);
    installInto(project, 'module', [tarball]);
    const main = join(project, 'node_modules', 'sluice', 'dist', 'main.js');
    const bare = fastest(['-e', '0']);
    const version = fastest([main, '--version']);
    const help = fastest([main, '--help']);
    const { readyMs, webhookMs } = await startDev(process.execPath, [main], project);
    const empty = join(folder, 'empty');
    mkdirSync(empty);
    const npx = () => startDev('npx', ['--yes', `file:${tarball}`], empty, join(folder, 'npm'));
    const cold = await npx();
    const warm = await npx();
    const note = `fastest of ${STARTS} starts`;
    return {
      'package size': {
        value: size / 1e6,
        unit: 'MB',
        note: 'packed, without the pinned Node',
      },
      'bare node': { value: bare, unit: 'ms', note },
      '--version': { value: version, unit: 'ms', note },
      '--help': { value: help, unit: 'ms', note },
      'dev ready': { value: readyMs, unit: 'ms', note: 'from start to its first lines' },
      'dev first webhook': { value: webhookMs, unit: 'ms', note: 'after ready' },
      'npx dev, cold': { value: cold.readyMs, unit: 'ms', note: 'with an empty npm cache' },
      'npx dev, warm': { value: warm.readyMs, unit: 'ms', note: 'repeated, with a full cache' },
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Returns the shortest duration of several starts in milliseconds, because other programs can only
 * slow a start down.
 */
function fastest(args: string[]): number {
  const times = Array.from({ length: STARTS }, () => {
    const started = performance.now();
    spawnSync(process.execPath, args, { env: { ...process.env, NODE_OPTIONS: '' } });
    return performance.now() - started;
  });
  return Math.min(...times);
}

/**
 * Runs `dev` until its first verified webhook. Returns the milliseconds until `dev` is ready, and
 * from then until the webhook. `npmCache` is the cache folder for npx.
 */
async function startDev(
  file: string,
  args: string[],
  cwd: string,
  npmCache?: string,
): Promise<{ readyMs: number; webhookMs: number }> {
  const started = performance.now();
  const child = spawn(file, [...args, 'dev', '--port', '0'], {
    cwd,
    // Creates a process group, so that npx, npm's shell and both Node processes end together.
    detached: true,
    env: { ...process.env, ...(npmCache !== undefined && { npm_config_cache: npmCache }) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  let readyMs = 0;
  for await (const chunk of child.stdout) {
    output += String(chunk);
    if (readyMs === 0 && output.includes('ready in')) readyMs = performance.now() - started;
    if (output.includes('✓ verified')) break;
  }
  const webhookMs = performance.now() - started - readyMs;
  process.kill(-child.pid!, 'SIGINT');
  await new Promise((resolve) => child.once('exit', resolve));
  return { readyMs, webhookMs };
}
