/** 每个提供方的条款的中文说明，按程序名或服务器；引擎自己的说明是英文。 */
export const terms: Record<string, string | undefined> = {
  claude: '夜间运行会自行启动 Claude Code，并占用你的套餐额度或使用你的密钥；允许什么，由 Anthropic 对所登录账户的条款规定。',
  codex: '夜间运行会自行启动 Codex，并占用你的套餐额度或使用你的密钥；允许什么，由 OpenAI 对所登录账户的条款规定。',
  copilot: '夜间运行会自行启动 GitHub Copilot，它的每次请求都计入你的套餐；允许什么，由 GitHub 的 Copilot 条款规定。',
  cursor: '夜间运行会自行启动 Cursor 的智能体，并占用你的套餐；允许什么，由 Cursor 的服务条款规定。',
  opencode: '夜间运行会自行启动 OpenCode，并使用你在其中设置的提供方；允许什么，由该提供方的条款规定。',
  pi: '夜间运行会自行启动 Pi，并使用你在其中设置的提供方；允许什么，由该提供方的条款规定。',
  'api.openai.com': '夜间运行会自行向 OpenAI 发送请求，费用计入你的密钥；允许什么，由你的 OpenAI 账户的协议规定。',
  'api.anthropic.com': '夜间运行会自行向 Anthropic 发送请求，费用计入你的密钥；允许什么，由 Anthropic 的商业条款规定。',
  '.azure.com': '夜间运行会自行向你的 Azure 资源发送请求，费用计入你的订阅；允许什么，由 Microsoft 的在线服务条款规定。',
  'openrouter.ai': '夜间运行会自行向 OpenRouter 发送请求，费用计入你的密钥；允许什么，由它的条款以及模型提供者的条款规定。',
};
