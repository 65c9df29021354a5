/** Which screen the window shows, by its address: `#/review/20261129-031500`. */

export type Route =
  | { screen: 'overview' }
  | { screen: 'review'; proposal: string | null }
  | { screen: 'project'; project: string }
  | { screen: 'night'; night: number | null }
  | { screen: 'handoff'; project: string }
  | { screen: 'settings' }
  | { screen: 'first-run' };

/** The screen of an address; the overview when it names none. */
export function parse(hash: string): Route {
  const [screen, rest] = hash.replace(/^#\/?/, '').split('/', 2);
  const value = rest === undefined || rest === '' ? null : decoded(rest);
  switch (screen) {
    case 'review':
      return { screen, proposal: value };
    case 'night': {
      const night = value === null ? NaN : Number(value);
      return { screen, night: Number.isSafeInteger(night) ? night : null };
    }
    case 'project':
    case 'handoff':
      return value === null ? { screen: 'overview' } : { screen, project: value };
    case 'settings':
    case 'first-run':
      return { screen };
    default:
      return { screen: 'overview' };
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The address of a screen. */
export function address(route: Route): string {
  switch (route.screen) {
    case 'review':
      return route.proposal === null ? '#/review' : `#/review/${encodeURIComponent(route.proposal)}`;
    case 'night':
      return route.night === null ? '#/night' : `#/night/${route.night}`;
    case 'project':
      return `#/project/${encodeURIComponent(route.project)}`;
    case 'handoff':
      return `#/handoff/${encodeURIComponent(route.project)}`;
    case 'overview':
    case 'settings':
    case 'first-run':
      return `#/${route.screen}`;
  }
}
