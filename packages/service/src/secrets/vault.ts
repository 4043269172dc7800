/**
 * Encrypts secrets for the ledger with AES-256-GCM and a master key that is stored elsewhere. Each
 * value contains the id of its key, so that keys can be rotated.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CallerError, InternalError, usageError } from '../base/errors.ts';
import { describeError } from '../base/log.ts';
import { readRegularFile } from '../base/regularFile.ts';
import { configError } from '../config/configError.ts';
import { flagOf } from '../config/settings.ts';

export interface Vault {
  /** Id of the master key that encrypts. Does not reveal the key. */
  readonly keyId: string;
  /** @param purpose what the value is for; `open` requires the same purpose */
  seal(text: string, purpose: string): string;
  /**
   * @throws InternalError if the value was modified or has another purpose; CallerError if its key
   * was not provided.
   */
  open(sealed: string, purpose: string): string;
  /** Returns whether the value is encrypted with a key other than the current one. */
  isOld(sealed: string): boolean;
  /**
   * Derives a 32-byte key for `purpose`. The result depends only on the current master key and the
   * purpose.
   */
  derive(purpose: string): Buffer;
}

const KEY_BYTES = 32;
/** Maximum size of a key file, enough for thousands of keys with comments. */
const MAX_FILE_BYTES = 1024 * 1024;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const FORMAT = 'v1';

/** @param masterKeys keys of 32 bytes; the first one encrypts, the others only decrypt. */
export function createVault(masterKeys: readonly Buffer[]): Vault {
  const keys = new Map(masterKeys.map((key) => [idOf(key), key]));
  const [current] = masterKeys;
  if (current === undefined) throw new CallerError('wrong_master_key', 'no master key');
  const keyId = idOf(current);

  return {
    keyId,
    seal(text, purpose) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', current, iv).setAAD(Buffer.from(purpose));
      const bytes = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final()]);
      return `${FORMAT}.${keyId}.${Buffer.concat([bytes, cipher.getAuthTag()]).toString('base64url')}`;
    },
    open(sealed, purpose) {
      const [format, id = '', text = ''] = sealed.split('.');
      const key = keys.get(id);
      if (format !== FORMAT || key === undefined) {
        throw new CallerError(
          'wrong_master_key',
          `a secret is encrypted with master key ${id}, which was not provided; add it to ${flagOf('masterKeyFile')}`,
        );
      }
      const bytes = Buffer.from(text, 'base64url');
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES), {
          authTagLength: TAG_BYTES,
        })
          .setAAD(Buffer.from(purpose))
          .setAuthTag(bytes.subarray(-TAG_BYTES));
        const opened = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES));
        return Buffer.concat([opened, decipher.final()]).toString('utf8');
      } catch {
        throw new InternalError(
          'broken_secret',
          'an encrypted secret was modified or is in the wrong place',
        );
      }
    },
    isOld: (sealed) => sealed.split('.')[1] !== keyId,
    derive: (purpose) => Buffer.from(hkdfSync('sha256', current, '', purpose, KEY_BYTES)),
  };
}

const idOf = (key: Buffer): string => createHash('sha256').update(key).digest('hex').slice(0, 8);

/**
 * Parses master keys, one per line: 32 bytes in base64 or hex. `#` starts a comment.
 * @throws CallerError if a line is invalid or the text contains no key. The message names `where`
 * but never contains a key.
 */
export function parseMasterKeys(text: string, where: string): Buffer[] {
  const lines = text.split(/\r?\n/).map((line) => line.replace(/#.*/, '').trim());
  const keys = lines.flatMap((line, n) => {
    if (line === '') return [];
    const key = /^[0-9a-f]{64}$/i.test(line)
      ? Buffer.from(line, 'hex')
      : Buffer.from(line, 'base64');
    if (key.length === KEY_BYTES) return [key];
    throw usageError(
      `${where}: line ${n + 1} should be a key of ${KEY_BYTES} bytes in base64 or hex, for example from \`openssl rand -base64 32\`; this one has ${key.length}`,
    );
  });
  if (keys.length > 0) return keys;
  throw usageError(`${where}: should contain a key, for example from \`openssl rand -base64 32\``);
}

export interface MasterKeySettings {
  masterKey?: string | undefined;
  masterKeyFile?: string | undefined;
  data: string;
}

/**
 * Returns the given master keys, or those in the data folder, where a key is created if there is
 * none.
 * @throws CallerError if the keys cannot be read or created.
 */
export function readMasterKeys({ masterKey, masterKeyFile, data }: MasterKeySettings): {
  keys: Buffer[];
  madeIn: string | undefined;
} {
  if (masterKeyFile !== undefined) {
    const keys = parseMasterKeys(
      readKeyFile(masterKeyFile),
      `${flagOf('masterKeyFile')} ${masterKeyFile}`,
    );
    return { keys, madeIn: undefined };
  }
  if (masterKey !== undefined) {
    return { keys: parseMasterKeys(masterKey, 'SLUICE_MASTER_KEY'), madeIn: undefined };
  }
  const path = join(data, 'master-key');
  const key = randomBytes(KEY_BYTES);
  try {
    writeFileSync(path, `${key.toString('base64')}\n`, { mode: 0o600, flag: 'wx' });
    return { keys: [key], madeIn: path };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw usageError(
        `The master key cannot be stored in ${path}: ${describeError(error)}. Provide one with ${flagOf('masterKeyFile')}`,
      );
    }
    return { keys: parseMasterKeys(readKeyFile(path), path), madeIn: undefined };
  }
}

function readKeyFile(path: string): string {
  try {
    return readRegularFile(path, MAX_FILE_BYTES);
  } catch (error) {
    throw configError({
      setting: 'masterKeyFile',
      value: path,
      problem: `cannot be read: ${describeError(error)}`,
    });
  }
}
