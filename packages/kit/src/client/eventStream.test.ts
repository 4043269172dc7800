import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readEventStream } from './eventStream.ts';
import type { ServerEvent } from './eventStream.ts';

async function* chunksOf(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  let from = 0;
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    yield bytes.subarray(from, cut);
    from = cut;
  }
  yield bytes.subarray(from);
}

async function parse(text: string, cuts: readonly number[] = []): Promise<ServerEvent[]> {
  const events: ServerEvent[] = [];
  for await (const event of readEventStream(chunksOf(new TextEncoder().encode(text), cuts))) {
    events.push(event);
  }
  return events;
}

describe('readEventStream', () => {
  it.each<[string, ServerEvent[]]>([
    ['id: 1\ndata: {"a":1}\n\n', [{ id: '1', data: '{"a":1}' }]],
    [
      'id:1\r\ndata:x\r\n\r\nid:2\r\ndata:y\r\n\r\n',
      [
        { id: '1', data: 'x' },
        { id: '2', data: 'y' },
      ],
    ],
    ['data: a\rdata: b\r\r\n', [{ id: '', data: 'a\nb' }]],
    [': ping\n\ndata: x\n\n', [{ id: '', data: 'x' }]],
    [
      'id: 7\n\ndata: x\n\ndata: y\n\n',
      [
        { id: '7', data: 'x' },
        { id: '7', data: 'y' },
      ],
    ],
    ['data\ndata:  two\nevent: e\nretry: 5\nodd: 1\n\n', [{ id: '', data: '\n two' }]],
    ['id: a\0b\ndata: x\n\n', [{ id: '', data: 'x' }]],
    ['\ufeffdata: bom\n\n', [{ id: '', data: 'bom' }]],
    ['data: broken off', []],
    ['data: broken off\n', []],
    ['', []],
  ])('%j', async (text, events) => {
    expect(await parse(text)).toEqual(events);
  });

  it('returns the same events however the bytes are split', async () => {
    const text = 'id: é1\r\ndata: ☕ one\r\n: ping\r\ndata: two\r\n\r\nid: 2\ndata: 😀\n\n';
    const whole = await parse(text);
    expect(whole).toHaveLength(2);
    const length = new TextEncoder().encode(text).length;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: length })), async (cuts) => {
        expect(await parse(text, cuts)).toEqual(whole);
      }),
    );
  });
});
