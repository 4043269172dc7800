import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockFolder } from '@sluice/service/folderLock';
import { afterAll, describe, expect, test } from 'vitest';
import { sluice } from '../terminal/scripted.test-only.ts';
import { openDevFolder } from './devFolder.ts';

const root = mkdtempSync(join(tmpdir(), 'sluice-folder-'));
afterAll(() => rmSync(root, { recursive: true }));

const write = (folder: string, ...names: string[]): void => {
  mkdirSync(folder, { recursive: true });
  for (const name of names) writeFileSync(join(folder, name), 'kept');
};
const fresh = { fresh: true };

describe('--fresh', () => {
  test('empties a folder that sluice dev created, which then counts as new', () => {
    const folder = join(root, 'dev');
    expect(openDevFolder({ data: folder })).toMatchObject({ isFirstStart: true });
    write(folder, 'sluice.db', 'api-key');
    expect(openDevFolder({ data: folder })).toMatchObject({ isFirstStart: false });
    const made = openDevFolder({ data: folder }, fresh);
    expect(made).toMatchObject({ isFirstStart: true });
    expect(existsSync(join(folder, 'sluice.db'))).toBe(false);
    expect(openDevFolder({ data: folder }, fresh)).toMatchObject({ isFirstStart: true });
  });

  test('deletes nothing in a folder that sluice dev did not create, even after a start there', () => {
    const home = join(root, 'home');
    write(home, 'thesis.txt');
    const refused = { code: 'usage', message: expect.stringContaining(home) as string };
    expect(() => openDevFolder({ data: home }, fresh)).toThrow(
      expect.objectContaining(refused) as Error,
    );
    openDevFolder({ data: home });
    expect(() => openDevFolder({ data: home }, fresh)).toThrow(
      expect.objectContaining(refused) as Error,
    );
    const link = join(root, 'link');
    symlinkSync(home, link);
    expect(() => openDevFolder({ data: link }, fresh)).toThrow('nothing was deleted');
    expect(readdirSync(home)).toEqual(['thesis.txt']);
  });

  test('deletes nothing while a service runs, on SQLite and on PostgreSQL', () => {
    const folder = join(root, 'running');
    openDevFolder({ data: folder });
    write(folder, 'sluice.db');
    const inUse = expect.objectContaining({ code: 'data_in_use' }) as Error;
    const lock = lockFolder(folder);
    expect(() => openDevFolder({ data: folder }, fresh)).toThrow(inUse);
    lock.close();
    const { release } = openDevFolder({
      data: folder,
      databaseUrl: 'postgres://elsewhere',
    });
    expect(() => openDevFolder({ data: folder }, fresh)).toThrow(inUse);
    expect(existsSync(join(folder, 'sluice.db'))).toBe(true);
    release();
    expect(openDevFolder({ data: folder }, fresh)).toMatchObject({ isFirstStart: true });
  });

  test.each(['dev', 'dev --seed demo'])(
    '%s rejects a folder that it did not create',
    async (command) => {
      const home = join(root, 'elsewhere');
      write(home, 'photo.jpg');
      const { code, stderr } = await sluice([...command.split(' '), '--fresh', '--data', home]);
      expect([code, readdirSync(home)]).toEqual([2, ['photo.jpg']]);
      expect(stderr).toContain(`error[usage]: --fresh: sluice dev did not create ${home}; nothing`);
    },
  );
});
