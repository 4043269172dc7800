import { SluiceError } from '@sluice/kit/sluice';
import { expect, test } from 'vitest';
import { type TriggerDraft } from '../../../families/evm/draft.ts';
import { NEW_READ } from '../../../families/evm/routes/reads.ts';
import { NEW_DRAFT, type StreamDraft } from './draft.ts';
import { refusalOf, refusalsOf } from './refusals.ts';

const trigger = (changes: Partial<TriggerDraft>): TriggerDraft => ({
  type: 'tx',
  contractAddress: '0xaa',
  function: 'function a()',
  inputs: ['1'],
  topic0: '',
  callFrom: '',
  ...changes,
});
const sent: StreamDraft = { ...NEW_DRAFT, tag: 'a', triggers: [trigger({}), trigger({})] };
const error = new SluiceError('validation_failed', 'Unprocessable', {
  status: 422,
  fields: {
    'triggers.0.inputs.0': { message: 'should be a number' },
    'triggers.1.functionAbi': { message: 'should be a function' },
    tag: { message: 'is taken' },
  },
});
const fieldsWithErrors = (now: StreamDraft): string[] => Object.keys(refusalsOf(error, sent, now));

test('an error stays at its field until the field changes', () => {
  expect(refusalOf(refusalsOf(error, sent, sent), 'triggers.0.inputs')).toBe('should be a number');
  expect(fieldsWithErrors({ ...sent, description: 'b' })).toHaveLength(3);
  const [first, second] = sent.triggers as [TriggerDraft, TriggerDraft];
  expect(fieldsWithErrors({ ...sent, triggers: [{ ...first, inputs: ['2'] }, second] })).toEqual([
    'triggers.1.functionAbi',
    'tag',
  ]);
  expect(
    fieldsWithErrors({ ...sent, triggers: [first, { ...second, function: 'function b()' }] }),
  ).toEqual(['triggers.0.inputs.0', 'tag']);
  expect(fieldsWithErrors({ ...sent, triggers: [], tag: 'b' })).toEqual([]);
});

test('there are no errors before the first request, or after a status other than 422', () => {
  expect(refusalsOf(new Error('away'), sent, sent)).toEqual({});
  expect(refusalsOf(null, undefined, sent)).toEqual({});
});

test('an error of an entry stays until the part of the entry that has it changes', () => {
  const read = { ...NEW_READ, contract: '0xaa' };
  const draft = { ...sent, reads: [read] };
  const refused = new SluiceError('validation_failed', 'Unprocessable', {
    status: 422,
    fields: {
      'reads.0.balance': { message: 'should be a token' },
      'reads.0.when.below': { message: 'should be a number' },
      'reads.0.contract': { message: 'should be an address' },
    },
  });
  const left = (change: Partial<typeof read>) =>
    Object.keys(refusalsOf(refused, draft, { ...draft, reads: [{ ...read, ...change }] }));
  expect(left({})).toHaveLength(3);
  // The form has no field of this name, so its error ends with any change to the entry.
  expect(left({ output: 'a' })).toEqual(['reads.0.when.below', 'reads.0.contract']);
  expect(left({ when: { kind: 'below', limit: '1' } })).toEqual(['reads.0.contract']);
});
