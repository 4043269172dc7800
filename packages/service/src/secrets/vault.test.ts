import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createVault, parseMasterKeys, readMasterKeys } from './vault.ts';

const key = (): Buffer => randomBytes(32);

describe('the vault', () => {
  test('property: decrypts only unmodified values for their purpose', () => {
    const vault = createVault([key()]);
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), fc.nat(), (text, purpose, place) => {
        const whole = text.toWellFormed();
        const sealed = vault.seal(whole, purpose);
        expect(vault.open(sealed, purpose)).toBe(whole);
        expect(() => vault.open(sealed, `${purpose}.`)).toThrow(
          /modified or is in the wrong place/,
        );
        const bytes = Buffer.from(sealed.split('.')[2]!, 'base64url');
        bytes[place % bytes.length]! ^= 1;
        const changed = `v1.${vault.keyId}.${bytes.toString('base64url')}`;
        expect(() => vault.open(changed, purpose)).toThrow(/modified or is in the wrong place/);
        expect(() => vault.open(sealed.slice(0, -9), purpose)).toThrow(/modified/);
      }),
      { numRuns: 100 },
    );
  });

  test('hides the text, and encrypts the same text differently each time', () => {
    const vault = createVault([key()]);
    const sealed = vault.seal('whsec_secret', 'x');
    expect(Buffer.from(sealed.split('.')[2]!, 'base64url').toString('latin1')).not.toContain('sec');
    expect(vault.seal('whsec_secret', 'x')).not.toBe(sealed);
  });

  test('a new master key encrypts, the old one decrypts until it is removed', () => {
    const [first, second] = [key(), key()];
    const sealed = createVault([first]).seal('secret', 'x');
    const both = createVault([second, first]);
    expect(both.isOld(sealed)).toBe(true);
    const again = both.seal(both.open(sealed, 'x'), 'x');
    expect(both.isOld(again)).toBe(false);
    const after = createVault([second]);
    expect(after.open(again, 'x')).toBe('secret');
    expect(() => after.open(sealed, 'x')).toThrow(
      `encrypted with master key ${createVault([first]).keyId}, which was not provided`,
    );
  });

  test('derived keys differ by purpose and master key', () => {
    const [first, second] = [key(), key()];
    const derive = (master: Buffer, purpose: string): string =>
      createVault([master]).derive(purpose).toString('hex');
    expect(derive(first, 'a')).toBe(derive(first, 'a'));
    const all = [
      derive(first, 'a'),
      derive(first, 'b'),
      derive(second, 'a'),
      first.toString('hex'),
    ];
    expect(new Set(all).size).toBe(4);
  });
});

describe('master keys', () => {
  test('are read one per line, in base64 or hex', () => {
    const [first, second] = [key(), key()];
    const text = `# since May\n${first.toString('base64')}\n\n${second.toString('hex')} # old\n`;
    expect(parseMasterKeys(text, 'here')).toEqual([first, second]);
  });

  test.each([
    ['', /^here: should contain a key, for example/],
    ['c2hvcnQ=', /^here: line 1 should be a key of 32 bytes in base64 or hex.*has 5$/],
    [`${'00'.repeat(32)}\nffff`, /^here: line 2 should be a key of 32 bytes/],
  ])('%j is not a key', (text, message) => {
    expect(() => parseMasterKeys(text, 'here')).toThrow(message);
  });

  test('one is created in the data folder, readable only by its owner, and reused', () => {
    const dataFolder = mkdtempSync(join(tmpdir(), 'sluice-vault-'));
    try {
      const made = readMasterKeys({ data: dataFolder });
      expect(made.madeIn).toBe(join(dataFolder, 'master-key'));
      expect(statSync(made.madeIn!).mode & 0o777).toBe(0o600);
      const found = readMasterKeys({ data: dataFolder });
      expect(found).toEqual({ keys: made.keys, madeIn: undefined });
      const given = readMasterKeys({ data: dataFolder, masterKeyFile: made.madeIn });
      expect(given.keys).toEqual(made.keys);
      expect(
        readMasterKeys({ data: dataFolder, masterKey: readFileSync(made.madeIn!, 'utf8') }),
      ).toEqual(found);
      expect(() =>
        readMasterKeys({ data: dataFolder, masterKeyFile: join(dataFolder, 'none') }),
      ).toThrow(/^--master-key-file .*none: cannot be read: ENOENT/);
      expect(() => readMasterKeys({ data: dataFolder, masterKeyFile: dataFolder })).toThrow(
        /^--master-key-file .*: cannot be read: should be a regular file/,
      );
    } finally {
      rmSync(dataFolder, { recursive: true });
    }
  });
});
