/** Composes the local chains of `sluice dev`. */
import type { NetworkType } from '@sluice/kit';
import type { LocalFamily, LocalNeeds } from '../dev/localFamily.ts';
import { startLocalAptos } from './aptos/dev.ts';
import { startLocalEvm } from './evm/dev.ts';

const STARTS: Readonly<Record<NetworkType, (needs: LocalNeeds) => Promise<LocalFamily>>> = {
  evm: startLocalEvm,
  aptos: startLocalAptos,
};

/** Starts the local chains, and adds them to the settings of the service. */
export async function startLocalFamilies(needs: LocalNeeds): Promise<LocalFamily[]> {
  const started: LocalFamily[] = [];
  for (const start of Object.values(STARTS)) started.push(await start(needs));
  return started;
}
