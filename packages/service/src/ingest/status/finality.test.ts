import { expect, test } from 'vitest';
import type { FinalityTag } from '../source.ts';
import type { EvmSource } from '../../families/evm/ingest/source.ts';
import { createFinality } from './finality.ts';

/** Creates a source with these heights or errors by tag. `asked` lists the tags that are read. */
const sourceOf = (says: Record<FinalityTag, number | undefined | Error>) => {
  const asked: FinalityTag[] = [];
  const source = {
    async readTagged(tag: FinalityTag) {
      asked.push(tag);
      const answer = says[tag];
      if (answer instanceof Error) throw answer;
      return answer === undefined ? undefined : { number: answer, hash: `0x${answer}` };
    },
  };
  return { source: source as unknown as EvmSource, asked, says };
};

const settle = () => new Promise((resolve) => setImmediate(resolve));

test('both heights are read, and not again within seconds, even if the head moves', async () => {
  const { source, asked } = sourceOf({ safe: 32, finalized: 7 });
  const finality = createFinality(source);
  expect(finality.heights()).toEqual({ safe: null, finalized: null });
  finality.look(64);
  finality.look(65);
  await settle();
  finality.look(66);
  expect(finality.heights()).toEqual({ safe: 32, finalized: 7 });
  expect(asked).toEqual(['safe', 'finalized']);
});

test('a tag that a node does not know, or fails to read, is null', async () => {
  const { source } = sourceOf({ safe: undefined, finalized: 7 });
  const one = createFinality(source);
  one.look(64);
  await settle();
  expect(one.heights()).toEqual({ safe: null, finalized: 7 });

  const failing = createFinality(sourceOf({ safe: new Error('away'), finalized: 7 }).source);
  failing.look(64);
  await settle();
  expect(failing.heights()).toEqual({ safe: null, finalized: null });
});
