import type { FormText } from '../formText.ts';

export const APTOS_FORM_WORDS: FormText = {
  watched: 'an address',
  selection: 'a function or event',
  allAddresses: 'every transaction with the function or event',
  demo: 'each call of 0x1::aptos_account::transfer',
  addressLine: '0x1, framework',
  importLine: '0x1, framework',
  sampleList: `address,label
0x1,framework
0x3,"Token objects, legacy"
# Labels are optional. Lines that start with # are ignored.
0x4
`,
  handlerMethod: 'onAptosWebhook',
};
