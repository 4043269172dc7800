import type { DeliveryDetail } from '@sluice/kit/sluice';
import { familyOf } from '@sluice/kit/contract';
import { toFixtureName } from '@sluice/kit/operator';
import type { SentBody } from '../../../body/bodyWorker.ts';
import { FORM_WORDS } from '../../../families/formWords.ts';
import { Snippets } from '../../../ui/text/snippets.tsx';
import { toDeliveryCurl, toReplayCommand } from './curl.ts';

const toHandler = (method: string): string => `import { createServer } from 'node:http';
import { createHandler } from '@sluice/kit';
import { toNodeListener } from '@sluice/kit/node';

const handler = createHandler({ secret: process.env.SLUICE_SECRET ?? '' });
handler.${method}(async (webhook) => {
  console.log(webhook.block.number, webhook.tag);
});

createServer(toNodeListener(handler)).listen(3000);`;

/** Maximum length of a body in the code of a test. A longer body is read from a file. */
const MAX_BODY_LENGTH = 20_000;

const toTest = (delivery: DeliveryDetail, body: SentBody): string => {
  const { id } = delivery;
  const isLong = typeof body !== 'string' || body.length > MAX_BODY_LENGTH;
  const text = isLong
    ? `await readFile('fixtures/${toFixtureName(delivery)}', 'utf8')`
    : JSON.stringify(body).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
  return `import { signedRequest } from '@sluice/kit/testing';
${isLong ? "import { readFile } from 'node:fs/promises';\n" : ''}
// Delivery ${id} as your handler receives it.
const body = ${text};
const request = signedRequest({ secret, id: '${id}', body });
const response = await handler(request);`;
};

/** Shows code to send the delivery, to receive it, and to use it in a test. */
export function CodeView({ delivery, body }: { delivery: DeliveryDetail; body: SentBody }) {
  return (
    <Snippets
      snippets={{
        'command line': toReplayCommand(delivery, delivery.webhookUrl),
        curl: toDeliveryCurl(delivery.id, body, delivery.webhookUrl),
        handler: toHandler(FORM_WORDS[familyOf(delivery.chainId)].handlerMethod),
        test: toTest(delivery, body),
      }}
    />
  );
}
