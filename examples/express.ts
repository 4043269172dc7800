/** A webhook route of an Express app; other routes still parse JSON. */
import { toExpress } from '@sluice/kit/express';
import express from 'express';
import { handler } from './handler.ts';

const app = express();
// Must come before any parser, because the signature covers the raw body.
app.post('/webhooks', toExpress(handler));
app.use(express.json());
app.get('/health', (_, response) => void response.json({ ok: true }));
app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1');
