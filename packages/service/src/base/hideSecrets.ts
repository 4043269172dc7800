/**
 * Matches a URL in a text from the end of its scheme on, and rather more than URL parsers accept
 * than less. Starting at the colon keeps the search linear: one that may start at every letter is
 * quadratic.
 */
const URLS = /:[/\\]{2}[^\s"'<>]+/g;

/**
 * Replaces the login and the query values of each URL in a text with `***`, so that it can be
 * logged and shown. Tokens in the path stay, since they look like names.
 */
export const hideSecrets = (text: string): string =>
  text.includes('@') || text.includes('?')
    ? text.replaceAll(URLS, (url) => {
        const at = url.indexOf('?');
        return at < 0 ? hideLogin(url) : hideLogin(url.slice(0, at)) + hideValues(url.slice(at));
      })
    : text;

const LOGIN = /^([^/\\]*[/\\]+)[^/\\#]*@/;

const hideLogin = (url: string): string => url.replace(LOGIN, '$1***@');

/** Hides the values of `?a=1&b`: a name without a value may be a token as well. */
const hideValues = (query: string): string =>
  query.replaceAll(/([?&])([^&#=]*)(=?)[^&#]*/g, (_, mark: string, name: string, equals: string) =>
    equals === '' && name === '' ? mark : `${mark}${equals === '' ? '' : `${name}=`}***`,
  );
