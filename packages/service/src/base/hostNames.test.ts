import { expect, test } from 'vitest';
import { createHostCheck, isLoopback } from './hostNames.ts';

test('only loopback addresses and localhost are loopback', () => {
  expect(['localhost', '127.0.0.1', '127.9.8.7', '::1'].map(isLoopback)).toEqual(
    Array.from({ length: 4 }, () => true),
  );
  const others = ['127.example.com', '127.0.0.1.example.com', '127.1', '0.0.0.0', '::', '10.0.0.1'];
  expect(others.map(isLoopback)).toEqual(others.map(() => false));
});

test('a service on loopback accepts no name that DNS could point to it', () => {
  const isAccepted = createHostCheck('127.0.0.1', ['Sluice.test']);
  expect(['localhost:4400', '127.0.0.1', '[::1]:4400', 'sluice.test'].map(isAccepted)).toEqual(
    Array.from({ length: 4 }, () => true),
  );
  const others = ['127.example.com', 'example.com', '10.0.0.1', '', 'a b'];
  expect(others.map(isAccepted)).toEqual(others.map(() => false));
});
