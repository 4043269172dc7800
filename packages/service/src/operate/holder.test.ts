import { expect, test } from 'vitest';
import { createHolder } from './holder.ts';

const leaseOf = (name: string) => ({ name, epoch: 1, report: null });

test('renewals share a statement while another is running', async () => {
  const running: { names: string[]; answer: PromiseWithResolvers<string[]> }[] = [];
  const holder = createHolder({
    renewLeases(leases) {
      const answer = Promise.withResolvers<string[]>();
      running.push({ names: leases.map(({ name }) => name), answer });
      return answer.promise;
    },
  });
  const renewed = ['a', 'b', 'c'].map((name) => holder.renew(leaseOf(name)));
  running[0]!.answer.resolve(['a']);
  await renewed[0];
  running[1]!.answer.resolve(['c']);
  expect(await Promise.all(renewed)).toEqual([true, false, true]);
  expect(running.map(({ names }) => names)).toEqual([['a'], ['b', 'c']]);

  const failing = holder.renew(leaseOf('a'));
  running[2]!.answer.reject(new Error('away'));
  await expect(failing).rejects.toThrow('away');
});

test('processes have different names', () => {
  const store = { renewLeases: async () => [] };
  expect(createHolder(store).id).not.toBe(createHolder(store).id);
});
