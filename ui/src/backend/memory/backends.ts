/** Who could answer on an invented computer. */
import type { BackendRow } from '../interface';
import { problem } from './problem';

export const BACKENDS: BackendRow[] = ([
  { name: 'mock', about: 'A built-in simulation that follows the rules it is given; no model is asked.', sides: [], model: 'mock', address: '', problem: null },
  {
    name: 'openai_compatible',
    about: "Any server in OpenAI's manner: llama.cpp, Ollama, LM Studio, vLLM, OpenAI, OpenRouter.",
    sides: [],
    model: '',
    address: '',
    problem: problem('endpoint_invalid', 'No model server is named.', 'Set models.endpoint to its address.'),
  },
  { name: 'anthropic', about: "Anthropic's Messages API with a key, by default that of ANTHROPIC_API_KEY.", sides: [], model: 'claude-haiku-4-5', address: 'https://api.anthropic.com', problem: null },
  { name: 'claude', about: 'Claude Code as you are signed in to it, or with a key.', sides: ['target', 'optimizer', 'judge'], model: 'haiku', address: '/usr/bin/claude', problem: null },
  {
    name: 'codex',
    about: 'Codex as you are signed in to it, or with a key.',
    sides: [],
    model: '',
    address: '/usr/bin/codex',
    problem: problem('sign_in_needed', 'Codex is signed out.', 'Sign in with `codex login`, then test it again.'),
  },
  {
    name: 'minimax',
    about: 'MiniMax in either region, by default with the key of MINIMAX_API_KEY.',
    sides: [],
    model: 'MiniMax-M2',
    address: '',
    problem: problem('api_key_missing', 'The variable MINIMAX_API_KEY is not set, and the keyring has no key of this name.', 'Keep the key in the keyring.'),
  },
  {
    name: 'qwen',
    about: 'Qwen on a vLLM-like server, by default on this computer; thinking can be chosen.',
    sides: [],
    model: '',
    address: 'http://localhost:8000/v1',
    problem: { code: 'model_unavailable', message: 'No model server answers at http://localhost:8000/v1.', guidance: 'Start it there, or set `models.endpoint` to where it is.', retry: 'temporary' },
  },
  { name: 'handoff', about: 'A person or another program answers questions written to files.', sides: [], model: '', address: '', problem: null },
] as Omit<BackendRow, 'terms' | 'terms_accepted' | 'tells_allowance' | 'needs' | 'key'>[]).map((row) => ({
  ...row,
  terms:
    row.name === 'claude'
      ? {
          provider: 'claude',
          about: "Nights run Claude Code by themselves, on your plan or key; Anthropic's terms say what is allowed.",
          address: 'https://www.anthropic.com/legal',
        }
      : null,
  terms_accepted: false,
  tells_allowance: false,
  needs: row.name === 'openai_compatible' ? ['models.endpoint'] : [],
  key: { openai_compatible: 'OPENAI_API_KEY', anthropic: 'ANTHROPIC_API_KEY', minimax: 'MINIMAX_API_KEY' }[row.name] ?? '',
}));
