/** Windows of their own in the app; in a plain browser the same screen is gone to. */
import { backend } from '../backend';
import { address } from './route';

/** Opens the settings of a project. When no window can be opened, this one shows them. */
export async function openProject(project: string): Promise<void> {
  try {
    await backend().shell('open_window', { window: 'project', project });
  } catch {
    location.hash = address({ screen: 'project', project });
  }
}
