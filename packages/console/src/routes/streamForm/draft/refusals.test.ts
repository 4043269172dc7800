import { SluiceError } from '@sluice/kit/sluice';
import { expect, test } from 'vitest';
import { NEW_DRAFT, type StreamDraft, type TriggerDraft } from './draft.ts';
import { refusalOf, refusalsOf } from './refusals.ts';

const trigger = (changes: Partial<TriggerDraft>): TriggerDraft => ({
  ...{ type: 'tx', contractAddress: '0xaa', function: 'function a()', inputs: ['1'] },
  ...{ topic0: '', callFrom: '' },
  ...changes,
});
const sent: StreamDraft = { ...NEW_DRAFT, tag: 'a', triggers: [trigger({}), trigger({})] };
const error = new SluiceError('validation_failed', 'Unprocessable', {
  status: 422,
  details: {
    'requestBody.triggers.0.inputs.0': { message: 'is no number' },
    'requestBody.triggers.1.functionAbi': { message: 'is no function' },
    'requestBody.tag': { message: 'is taken' },
  },
});
const standing = (now: StreamDraft): string[] => Object.keys(refusalsOf(error, sent, now));

test('a refusal stands at its field until the field is another', () => {
  expect(refusalOf(refusalsOf(error, sent, sent), 'triggers.0.inputs')).toBe('is no number');
  expect(standing({ ...sent, description: 'b' })).toHaveLength(3);
  const [first, second] = sent.triggers as [TriggerDraft, TriggerDraft];
  expect(standing({ ...sent, triggers: [{ ...first, inputs: ['2'] }, second] })).toEqual([
    'triggers.1.functionAbi',
    'tag',
  ]);
  expect(standing({ ...sent, triggers: [first, { ...second, function: 'function b()' }] })).toEqual(
    ['triggers.0.inputs.0', 'tag'],
  );
  expect(standing({ ...sent, triggers: [], tag: 'b' })).toEqual([]);
});

test('nothing is refused by what is no answer 422, or before anything was sent', () => {
  expect(refusalsOf(new Error('away'), sent, sent)).toEqual({});
  expect(refusalsOf(null, undefined, sent)).toEqual({});
});
