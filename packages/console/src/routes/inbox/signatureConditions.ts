import { condition } from '../../words/condition.ts';

export const SIGNATURE_CONDITIONS = {
  valid: condition('disc', 'valid', 'ok'),
  wrong: condition('triangle', 'invalid', 'bad'),
};
