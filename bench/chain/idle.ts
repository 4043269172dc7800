/** Measures the startup time and the idle memory of a service with one chain, and of Ponder. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as wait } from 'node:timers/promises';
import { until } from '@sluice/testkit';
import { packCommand } from '../../scripts/release/packages.ts';
import { installInto } from '../../test/packed/install.ts';
import type { ServeOptions } from '../../test/serve.ts';
import { toFigure, type Figures } from '../figures.ts';
import { readResident } from './memory.ts';
import { postingApp, withPonder } from './ponder.ts';
import { type World, startWorld, withService } from './world.ts';

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
const STARTS = 5;
const IDLE_MS = 15_000;
const MB = 1e6;

export async function measureIdle(): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-packed-'));
  const world = await startWorld({ blockTimeSeconds: 1 });
  try {
    const project = join(folder, 'project');
    mkdirSync(project);
    execFileSync(process.execPath, ['scripts/run.mjs', 'build'], { cwd: REPOSITORY });
    installInto(project, 'module', [packCommand(folder).tarball]);
    const packedMain = join(project, 'node_modules', 'sluice', 'dist', 'main.js');
    const source = await measureBuild(world, {});
    const packed = await measureBuild(world, { packedMain });
    const ponder = await measurePonder(world);
    const resident = 'resident with one chain and no streams';
    const ready = `from start until /ready, fastest of ${STARTS}`;
    return {
      'start to ready': toFigure(source.readyMs / 1_000, 's', `${ready}, from source`),
      'start to ready, packed': toFigure(packed.readyMs / 1_000, 's', ready),
      'start Ponder': toFigure(ponder.readyMs / 1_000, 's', 'until it responds'),
      'idle memory': toFigure(source.residentBytes / MB, 'MB', `${resident}, from source`),
      'idle memory, packed': toFigure(packed.residentBytes / MB, 'MB', resident),
      'idle memory Ponder': toFigure(ponder.residentBytes / MB, 'MB', 'resident'),
    };
  } finally {
    await world.stop();
    rmSync(folder, { recursive: true });
  }
}

interface Idle {
  readyMs: number;
  residentBytes: number;
}

async function measureBuild({ anvil }: World, options: ServeOptions): Promise<Idle> {
  let readyMs = Infinity;
  let residentBytes = 0;
  for (let start = 1; start <= STARTS; start++) {
    const startedAt = performance.now();
    const measure = async ({ url, pid }: { url: string; pid: number }): Promise<void> => {
      await until('it is ready', async () => (await fetch(`${url}/ready`)).ok, 60_000, 5);
      readyMs = Math.min(readyMs, performance.now() - startedAt);
      if (start < STARTS) return;
      await wait(IDLE_MS);
      residentBytes = readResident(pid);
    };
    await withService(anvil.url, measure, options);
  }
  return { readyMs, residentBytes };
}

async function measurePonder({ anvil, contract }: World): Promise<Idle> {
  const startBlock = Number(await anvil.request('eth_blockNumber'));
  const startedAt = performance.now();
  const options = { node: anvil.url, contract, startBlock, app: postingApp('http://127.0.0.1:9') };
  return withPonder(options, async ({ pid, startedAt: respondedAt }) => {
    await wait(IDLE_MS);
    return { readyMs: respondedAt - startedAt, residentBytes: readResident(pid) };
  });
}
