import { createAptosStreamSchema, createEvmStreamSchema } from '@sluice/kit/calls';
import { expect, test } from 'vitest';
import { parseNewStreamSearch } from '../../data/search.ts';
import { RECIPE_IDS, type RecipeId } from '../../families/recipeIds.ts';
import { RECIPES } from '../../families/recipes.ts';
import type { ListedAddress } from '@sluice/kit/operator';
import type { TokenUnit } from '../streamForm/draft/tokenAmount.ts';
import { withRule } from '../../families/evm/draft.ts';
import { NEW_DRAFT, type StreamDraft } from '../streamForm/draft/draft.ts';
import { toFields } from '../streamForm/draft/fields.ts';
import { draftProblems } from '../streamForm/draft/problems.ts';
import type { Recipe } from './recipe.ts';
import { recipeOf, recipesFor, nameOfRecipe, withRecipe } from './recipes.ts';

const TOKEN = '0xdac17f958d2ee523a2206206994597c13d831ec7';
const row = { address: TOKEN, label: '' };
const begun: StreamDraft = {
  ...NEW_DRAFT,
  chains: ['0x1'],
  webhookUrl: 'https://example.com/hook',
  tag: 'mine',
};

const get = (id: RecipeId): Recipe => {
  const recipe = recipeOf(id);
  if (recipe === undefined) throw new Error(`no recipe ${id}`);
  return recipe;
};

test('each recipe has a link', () => {
  expect(RECIPES.map(({ id }) => id)).toEqual(RECIPE_IDS);
  expect(parseNewStreamSearch({ recipe: 'payments', address: TOKEN })).toEqual({
    recipe: 'payments',
    address: TOKEN,
  });
  expect(parseNewStreamSearch({ recipe: 'toString' })).toEqual({});
});

/** Draft fields that are invalid while the user has not filled in a field of a recipe. */
const FIELDS_WITH_PROBLEMS: Readonly<Record<string, string>> = {
  addresses: 'addresses',
  amount: 'rules',
  factory: 'factories',
  contract: 'reads',
  threshold: 'reads',
  destination: 'webhookUrl',
};

test('a recipe leaves only its own fields to fill in', () => {
  for (const recipe of RECIPES) {
    const chains = recipe.family === 'evm' ? ['0x1'] : ['mainnet'];
    const draft = { ...withRecipe(begun, recipe), chains };
    const problems = Object.keys(draftProblems(draft, 0));
    const fields = recipe.toFill.flatMap((name) => FIELDS_WITH_PROBLEMS[name] ?? []);
    expect(problems, recipe.id).toEqual(fields);
    const { error } =
      recipe.family === 'evm'
        ? createEvmStreamSchema.safeParse(toFields(draft))
        : createAptosStreamSchema.safeParse(toFields(draft));
    const refused = (error?.issues ?? []).map(({ path }) => path[0]);
    expect(refused, recipe.id).toEqual(
      fields.filter((name) => ['factories', 'reads'].includes(name)),
    );
  }
});

test('a recipe replaces rules, and keeps addresses, destination and limits', () => {
  const edited: StreamDraft = withRule(
    { ...begun, addresses: TOKEN, includeInternalTxs: true, maxInFlight: '3', headers: 'a: b' },
    'Approval(address,address,uint256)',
  );
  const next = withRecipe(edited, get('transfers'));
  expect(next).toMatchObject({
    chains: ['0x1'],
    addresses: TOKEN,
    webhookUrl: begun.webhookUrl,
    tag: 'mine',
    maxInFlight: '3',
    headers: 'a: b',
    includeInternalTxs: false,
  });
  expect(next.rules.map(({ signature }) => signature)).toEqual([
    'Transfer(address,address,uint256)',
  ]);
  // Chains and addresses are dropped, because they are for the other chain family.
  expect(withRecipe(edited, get('aptos'))).toMatchObject({
    family: 'aptos',
    chains: [],
    addresses: '',
    rules: [],
    headers: 'a: b',
  });
});

test('a recipe replaces the webhook URL of the one before it, unless the user changed it', () => {
  const [feed, queue, wallet] = [get('feed'), get('queue'), get('wallet')];
  const read = withRecipe(begun, feed);
  expect(read.webhookUrl).toBe('sluice://feed');
  const example = withRecipe(read, queue, feed);
  expect(example.webhookUrl).toMatch(/^nats:/);
  expect(withRecipe(example, wallet, queue).webhookUrl).toBe('sluice://inbox/default');
  expect(withRecipe(begun, wallet, feed).webhookUrl).toBe(begun.webhookUrl);
});

test('mints are transfers from the zero address, of both token standards', () => {
  const { abi, rules } = withRecipe(begun, get('mints'));
  expect(rules.map(({ signature }) => signature)).toEqual([
    'Transfer(address,address,uint256)',
    'TransferSingle(address,address,address,uint256,uint256)',
    'TransferBatch(address,address,address,uint256[],uint256[])',
  ]);
  for (const { conditions } of rules) {
    expect(conditions).toEqual([{ name: 'from', operator: 'eq', value: `0x${'0'.repeat(40)}` }]);
  }
  // All three inputs are indexed, as in ERC-721. ERC-20 transfers have two indexed inputs, so this
  // ABI does not match them.
  expect(abi[0]?.inputs?.filter(({ indexed }) => indexed)).toHaveLength(3);
});

test('a stream is named after its label, its token or its address', () => {
  const usdt = { symbol: 'USDT', decimals: 6 };
  const nameOf = (id: RecipeId, rows: ListedAddress[], unit: TokenUnit | null) =>
    nameOfRecipe(get(id), rows, unit);
  expect(nameOf('transfers', [], null)).toBe('Token transfers');
  expect(nameOf('wallet', [], null)).toBe('Wallet');
  expect(nameOf('payments', [row], usdt)).toBe('Large USDT payments');
  expect(nameOf('wallet', [row], null)).toBe('Wallet 0xdac1…1ec7');
  expect(nameOf('mints', [{ ...row, label: 'Punks' }], usdt)).toBe('Punks mints');
  expect(nameOf('aptos', [row, row], null)).toBe('Aptos payments (2 addresses)');
  // The right-to-left override is removed, because it would reorder the text around the symbol.
  expect(nameOf('events', [row], { symbol: '\u202eTDSU', decimals: 6 })).toBe('TDSU events');
});

test('only recipes for the chains of the service are offered', () => {
  const idsOf = (...chains: string[]) =>
    recipesFor(chains.map((id) => ({ id }))).map(({ id }) => id);
  expect(idsOf('aptos:local')).toEqual(['aptos']);
  expect(idsOf('0x1')).not.toContain('aptos');
  expect(idsOf('0x1', 'aptos:mainnet')).toEqual(RECIPE_IDS);
  expect(idsOf()).toEqual([]);
});
