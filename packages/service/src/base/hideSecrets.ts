/**
 * Matches a URL without its scheme, including URLs that parsers reject. Starting at the colon keeps
 * the search linear; a search that can start at any letter is quadratic.
 */
const URLS = /:[/\\]{2}[^\s"'<>]+/g;

/**
 * Replaces the login and the query values of each URL with `***`, so that the text can be logged
 * and shown. Tokens in paths remain, because they look like any other path segment.
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

/** Hides the values of `?a=1&b`, including names without a value, which may be tokens. */
const hideValues = (query: string): string =>
  query.replaceAll(/([?&])([^&#=]*)(=?)[^&#]*/g, (_, mark: string, name: string, equals: string) =>
    equals === '' && name === '' ? mark : `${mark}${equals === '' ? '' : `${name}=`}***`,
  );
