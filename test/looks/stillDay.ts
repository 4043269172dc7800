/** The seeded day in a process whose clock stands: nothing happens there, however long one looks. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { visitDay, type SeededDay } from './seededDay.ts';

/** What that clock says; browsers are to be told the same. */
export const NOW = Date.UTC(2026, 10, 22, 10, 44, 0);

export async function startStillDay(): Promise<SeededDay & { stop(): Promise<void> }> {
  const child = fork(fileURLToPath(new URL('servedDay.ts', import.meta.url)), {
    execArgv: ['-C', '@sluice/source', '--import', new URL('stillWorld.ts', import.meta.url).href],
    env: { ...process.env, LOOKS_NOW: String(NOW) },
  });
  const ended = once(child, 'exit');
  const said = await Promise.race([once(child, 'message'), ended.then(() => undefined)]);
  if (said === undefined) throw new Error('the process of the seeded day ended before it began');
  return {
    ...(await visitDay(said[0] as { url: string; apiKey: string })),
    async stop() {
      child.disconnect();
      await ended;
    },
  };
}
