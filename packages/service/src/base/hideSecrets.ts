/**
 * A URL in a text, from the end of its scheme on, and rather more of what people and URL parsers take for
 * one than less. It begins with a colon and not with the scheme: a search that may begin at every letter
 * takes the square of the text's length.
 */
const URLS = /:[/\\]{2}[^\s"'<>]+/g;

/**
 * The text with the login and the values of the query of each URL in it replaced by `***`, so that it
 * may be logged, listed and shown. A token in the path stays: nothing tells it from a name.
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

/** Of `?a=1&b`: a word alone may be a token as well. */
const hideValues = (query: string): string =>
  query.replaceAll(/([?&])([^&#=]*)(=?)[^&#]*/g, (_, mark: string, name: string, equals: string) =>
    equals === '' && name === '' ? mark : `${mark}${equals === '' ? '' : `${name}=`}***`,
  );
