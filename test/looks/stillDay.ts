/** Starts the sample day in a child process whose clock is stopped, so that nothing changes. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { visitDay, type SeededDay } from './seededDay.ts';

/** Time of the stopped clock, in Unix milliseconds. Browsers must use the same time. */
export const NOW = Date.UTC(2026, 10, 22, 10, 44, 0);

export async function startStillDay(): Promise<SeededDay & { stop(): Promise<void> }> {
  const child = fork(fileURLToPath(new URL('servedDay.ts', import.meta.url)), {
    execArgv: ['-C', '@sluice/source', '--import', new URL('stillWorld.ts', import.meta.url).href],
    env: { ...process.env, LOOKS_NOW: String(NOW) },
  });
  const ended = once(child, 'exit');
  const said = await Promise.race([once(child, 'message'), ended.then(() => undefined)]);
  if (said === undefined)
    throw new Error('the process of the sample day ended before it was ready');
  return {
    ...(await visitDay(said[0] as { url: string; apiKey: string })),
    async stop() {
      child.disconnect();
      await ended;
    },
  };
}
