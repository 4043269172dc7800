import type { LiveState } from '@sluice/kit/sluice';
import type { Terminal } from '../terminal/terminal.ts';

/** Says when the connection breaks and when it is there again; the first time is nothing to tell. */
export function tellState(terminal: Terminal): (state: LiveState) => void {
  let broken = false;
  return (state) => {
    if (state.state === 'waiting' && !broken) {
      broken = true;
      terminal.note(`connection lost, trying again: ${state.error.message}`, { tone: 'warn' });
    } else if (state.state === 'live' && broken) {
      broken = false;
      terminal.note('connected again; what came meanwhile follows', { tone: 'ok' });
    }
  };
}
