import type { FormText } from '../formText.ts';

export const EVM_FORM_WORDS: FormText = {
  watched: 'an address, a factory or a value',
  selection: 'an event or function',
  allAddresses: 'every contract that emits the event',
  demo: 'each token transfer',
  addressLine: '0xdAC17F958D2ee523a2206206994597C13D831ec7, tether',
  importLine: '0x28C6c06298d514Db089934071355E5743bf21d60, binance-14',
  sampleList: `address,label
0x28C6c06298d514Db089934071355E5743bf21d60,binance-14
0xdAC17F958D2ee523a2206206994597C13D831ec7,"Tether USD, the contract"
# Labels are optional. Lines that start with # are ignored.
0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48
`,
  handlerMethod: 'onWebhook',
};
