/** What the agents call themselves. */
import type { Agent } from '../backend';

export const AGENTS: Record<Agent, string> = {
  claude: 'Claude Code',
  codex: 'Codex',
  copilot: 'GitHub Copilot',
  vscode: 'VS Code',
  cursor: 'Cursor',
  pi: 'Pi',
  opencode: 'OpenCode',
  openclaw: 'OpenClaw',
  devin: 'Devin',
};
