import { expect, test } from 'vitest';
import { isDeliveryStart, isLabelLike } from './foundText.ts';

test('the start of a delivery id has at least its time, and is not a block number', () => {
  for (const text of ['0190f3c2', '019ab3c2-12', '019ab3c2…60aa', '019ab3c2...60aa', '01903412']) {
    expect(isDeliveryStart(text), text).toBe(true);
  }
  for (const text of ['0190f3c', '23835255', '…60aa1234', 'payments', '0x28c6ab12']) {
    expect(isDeliveryStart(text), text).toBe(false);
  }
});

test('labels and shortened addresses are searched for, and short or broken text is not', () => {
  for (const text of ['0x28C6…1d60', '0x28C6...1d60', '0x28c6ab', 'binance', 'house money']) {
    expect(isLabelLike(text), text).toBe(true);
  }
  for (const text of ['0x2', 'ab', '', '0x28C6…xyz', 'x'.repeat(101)]) {
    expect(isLabelLike(text), text).toBe(false);
  }
});
