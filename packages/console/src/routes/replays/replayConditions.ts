import type { ReplayState } from '@sluice/kit/sluice';
import { condition } from '../../words/condition.ts';
import type { Condition } from '../../ui/status.tsx';

export const REPLAY_CONDITIONS: Record<ReplayState, Condition> = {
  running: condition('half', 'running', 'info'),
  done: condition('disc', 'done', 'ok'),
  cancelled: condition('cross', 'canceled', 'faint'),
};
