import type { Text } from './read.ts';

/** A phrase that reads as a translation, and its replacement. */
interface Pattern {
  pattern: RegExp;
  instead: string;
  /** Whether the pattern applies only to comments, not to strings and pages. */
  opensComment?: boolean;
}

const PATTERNS: readonly Pattern[] = [
  {
    pattern: /^(Of|Whose|By which|That|What)\b/,
    instead: 'a verb in the third person, or a noun phrase',
    opensComment: true,
  },
  {
    pattern: /\bstands?\b(?! (for|in for|by|alone|out))/i,
    instead: 'is, appears',
  },
  { pattern: /\b(nobody|somebody|whoever)\b/i, instead: 'no client, a caller, the operator' },
  { pattern: /\b(told|tells|says)\b/i, instead: 'reported, returns, shows' },
  { pattern: /(?<!there )\bis no (?!longer\b|more than\b)[a-z]+/i, instead: 'is not a' },
  { pattern: /\bheld against\b/i, instead: 'checked against, matched against' },
  { pattern: /\bfor ever\b/i, instead: 'never expires' },
  { pattern: /\b(goe?s?|gone|going|went) another way\b/i, instead: 'reorganized' },
  { pattern: /\bmended\b/i, instead: 'fixed' },
  { pattern: /\banew\b/i, instead: 'again' },
  { pattern: /\bshall\b/i, instead: 'must' },
  { pattern: /\bgood for\b/i, instead: 'valid for' },
  { pattern: /\bfor good\b/i, instead: 'permanently' },
  { pattern: /\blook(s|ed|ing)? up (if|whether)\b/i, instead: 'check' },
  { pattern: /\bgave rise\b/i, instead: 'caused' },
  { pattern: /\bby and by\b/i, instead: 'gradually, later' },
  { pattern: /\bcould not be (read|loaded)\b/i, instead: "couldn't load" },
  { pattern: /\bcan(not|'t) be right\b/i, instead: 'is not a valid' },
  { pattern: /\bwhat (came|was sent)\b/i, instead: 'the request, the delivery' },
  { pattern: /\b(is|are|be|was|were|been|being) asked\b/i, instead: 'queried, requested, called' },
  { pattern: /\bask(s|ed|ing)? (for|about|whether)\b/i, instead: 'requests, queries' },
  { pattern: /\bspar(ed|es|ing)\b/i, instead: 'backed off, paused' },
  { pattern: /\bin trouble\b/i, instead: 'failing, in error' },
  { pattern: /\bnear miss(es)?\b/i, instead: 'close match' },
  { pattern: /\b(tell|told) apart\b/i, instead: 'distinguished, split' },
  { pattern: /\bbeside\b(?!-)/i, instead: 'next to, in addition to' },
  { pattern: /\bso (many|long)\b(?! as\b)/i, instead: 'the number of, the duration' },
  { pattern: /\ba time that\b/i, instead: 'the timestamp' },
  { pattern: /\bnone (is|are) [^.]*\byet\b/i, instead: 'no X yet' },
  { pattern: /\b(is|are) called that\b/i, instead: 'no results' },
  { pattern: /\bnot taken by\b/i, instead: 'rejected by' },
  { pattern: /\bas without\b/i, instead: 'default' },
  { pattern: /\b(bears?|bearing) being\b/i, instead: 'is idempotent, tolerates' },
  { pattern: /\b(is|are|be|was|were|arrived?|not) whole\b/i, instead: 'complete' },
  { pattern: /\bfacets?\b/i, instead: 'counts, filter' },
  {
    pattern: /^(Absent:|Returns e\.g\.|Rows of)/,
    instead: 'Default, a format, tables',
    opensComment: true,
  },
  { pattern: /\b(these|those|many|all|two|several|whose) texts\b/i, instead: 'strings, messages' },
  { pattern: /\bdefault: th(at|ose) (of|in)\b/i, instead: 'the noun again' },
  { pattern: /\bany more\b(?! than\b)/i, instead: 'no longer' },
  { pattern: /\b(for|after) this long\b/i, instead: 'the duration' },
  { pattern: /\b(lower|upper) case\b/i, instead: 'lowercase, uppercase' },
  {
    pattern: /\b(labell|favour|behaviour|analyser|neighbour|tunnell|colour|recognis|cancelling)/,
    instead: 'American spelling',
  },
  { pattern: /\b(is|are|was|were|be|been) given up\b/i, instead: 'aborted, timed out, stopped' },
  { pattern: /\S @(param|returns|throws)\b/, instead: 'the tag on its own line' },
  { pattern: /\bfor this time\b/i, instead: 'the number of, the duration' },
  { pattern: /\bnodes?['’]s? fault\b/i, instead: 'count against the node' },
  { pattern: /\bcontract['’]s schedule\b/i, instead: 'the standard schedule' },
];

export interface Finding {
  line: number;
  message: string;
}

/** Number of characters shown with a finding, up to a third of them before the match. */
const SHOWN = 90;

/** Finds the first match of each pattern in each text. */
export function findPhrases(texts: readonly Text[]): Finding[] {
  return texts.flatMap(({ line, text, kind }) =>
    PATTERNS.flatMap(({ pattern, instead, opensComment }) => {
      const found = opensComment && kind !== 'comment' ? null : pattern.exec(text);
      if (found === null) return [];
      const shown = text.slice(Math.max(0, found.index - SHOWN / 3)).slice(0, SHOWN);
      return [{ line, message: `"${found[0]}" (write: ${instead}): ${shown}` }];
    }),
  );
}
