import { expect, test } from 'vitest';
import { createHostCheck, isLocalUrl, isLoopback } from './hostNames.ts';

test('only loopback addresses and localhost are loopback', () => {
  expect(['localhost', '127.0.0.1', '127.9.8.7', '::1'].map(isLoopback)).toEqual(
    Array.from({ length: 4 }, () => true),
  );
  const others = ['127.example.com', '127.0.0.1.example.com', '127.1', '0.0.0.0', '::', '10.0.0.1'];
  expect(others.map(isLoopback)).toEqual(others.map(() => false));
});

test('a local URL names this machine or a private network, and names are not resolved', () => {
  const local = [
    ...['localhost', 'LOCALHOST', 'node.localhost', 'anvil', '127.0.0.1', '127.9.8.7', '127.1'],
    ...['[::1]', '0.0.0.0', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.0.9'],
    ...['169.254.1.1', '[fd12::1]', '[fe80::1]', '[::ffff:10.0.0.1]', '[::ffff:7f00:1]'],
  ];
  const isLocal = (host: string): boolean =>
    isLocalUrl(`http://key:secret@${host}:8545/path`) && isLocalUrl(`wss://${host}`);
  expect(local.filter((host) => !isLocal(host))).toEqual([]);
  const others = [
    ...['node.example.com', 'localhost.example.com', 'mylocalhost.com', '10.0.0.1.nip.io'],
    ...['172.15.0.1', '172.32.0.1', '192.169.0.1', '11.0.0.1', '8.8.8.8', '[2001:db8::1]'],
    ...['[::ffff:8.8.8.8]', '100.64.0.1'],
  ];
  expect(others.filter(isLocal)).toEqual([]);
});

test('a service on loopback accepts no name that DNS could point to it', () => {
  const isAccepted = createHostCheck('127.0.0.1', ['Sluice.test']);
  expect(['localhost:4400', '127.0.0.1', '[::1]:4400', 'sluice.test'].map(isAccepted)).toEqual(
    Array.from({ length: 4 }, () => true),
  );
  const others = ['127.example.com', 'example.com', '10.0.0.1', '', 'a b'];
  expect(others.map(isAccepted)).toEqual(others.map(() => false));
});
