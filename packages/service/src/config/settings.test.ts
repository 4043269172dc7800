import { expect, test } from 'vitest';
import { FIELDS, flagOf, settingOf, variableOf } from './settings.ts';
import { kindOf, schemaOf } from './valueSchema.ts';

test('each setting has its own flag and variable', () => {
  expect(new Set(FIELDS.map(flagOf)).size).toBe(FIELDS.length);
  expect(new Set(FIELDS.map(variableOf)).size).toBe(FIELDS.length);
  expect([flagOf('allowHosts'), variableOf('allowHosts')]).toEqual([
    '--allow-host',
    'SLUICE_ALLOW_HOST',
  ]);
  expect(variableOf('fastRetry')).toBe('SLUICE_NO_FAST_RETRY');
});

test('a switch has no placeholder, and --no- in its flag if it is on by default', () => {
  for (const field of FIELDS) {
    const isSwitch = kindOf(field) === 'switch';
    expect([field, settingOf(field).flags.includes('<')]).toEqual([field, !isSwitch]);
    if (isSwitch) expect(flagOf(field).startsWith('--no-')).toBe(schemaOf(field).default);
  }
});
