/** Turns of phrase that read as a translation, and what to write instead. */
export interface Pattern {
  pattern: RegExp;
  instead: string;
  /** Only in comments: at their beginning. */
  opensComment?: boolean;
}

export const PATTERNS: readonly Pattern[] = [
  {
    pattern: /^(Of|Whose|By which|That|What)\b/,
    instead: 'a verb in the third person, or a noun phrase',
    opensComment: true,
  },
  {
    pattern: /\bstands?\b(?! (for|in for|by|alone|out))/i,
    instead: 'is, appears',
  },
  { pattern: /\b(nobody|somebody)\b/i, instead: 'no client, a caller, the operator' },
  { pattern: /\b(told|tells)\b/i, instead: 'reported, returns, shows' },
  { pattern: /(?<!there )\bis no (?!longer\b|more than\b)[a-z]+/i, instead: 'is not a' },
  { pattern: /\bheld against\b/i, instead: 'checked against, matched against' },
  { pattern: /\bfor ever\b/i, instead: 'never expires' },
  { pattern: /\bwent another way\b/i, instead: 'reorganized' },
  { pattern: /\bmended\b/i, instead: 'fixed' },
  { pattern: /\banew\b/i, instead: 'again' },
  { pattern: /\bshall\b/i, instead: 'must' },
  { pattern: /\bgood for\b/i, instead: 'valid for' },
  { pattern: /\blooked? up whether\b/i, instead: 'check' },
  { pattern: /\bgave rise\b/i, instead: 'caused' },
  { pattern: /\bby and by\b/i, instead: 'gradually, later' },
  { pattern: /\bcould not be (read|loaded)\b/i, instead: "couldn't load" },
  { pattern: /\bcan(not|'t) be right\b/i, instead: 'is not a valid' },
  { pattern: /\bwhat came\b/i, instead: 'the request, the delivery' },
];
