import type { LiveState } from '@sluice/kit/sluice';
import type { Terminal } from '../terminal/terminal.ts';

/** Returns a listener that prints when the connection is lost and when it is restored. */
export function printState(terminal: Terminal): (state: LiveState) => void {
  let broken = false;
  return (state) => {
    if (state.state === 'waiting' && !broken) {
      broken = true;
      terminal.note(`Connection lost, reconnecting: ${state.error.message}`, { tone: 'warn' });
    } else if (state.state === 'live' && broken) {
      broken = false;
      terminal.note('Reconnected; missed deliveries follow', { tone: 'ok' });
    }
  };
}
