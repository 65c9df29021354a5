/** 每个后端的中文说明；引擎自己的说明是英文。 */
export const backends: Record<string, string | undefined> = {
  mock: '内置模拟，按给出的规则作答；不询问任何模型。',
  'persona-sim': '实验用的模拟；只认识虚构的用户。',
  openai_compatible: '任何 OpenAI 方式的服务器：llama.cpp、Ollama、LM Studio、vLLM、OpenAI、OpenRouter。',
  anthropic: 'Anthropic 的 Messages API，需要密钥，默认用 ANTHROPIC_API_KEY。',
  azure_openai: '你的 Azure OpenAI 资源中的部署，用密钥或 Azure 登录。',
  qwen: '类似 vLLM 的服务器上的 Qwen，默认在这台电脑上；可选择是否思考。',
  minimax: '任一区域的 MiniMax，默认用 MINIMAX_API_KEY 的密钥。',
  claude: 'Claude Code，用你已有的登录或密钥。',
  codex: 'Codex，用你已有的登录或密钥。',
  copilot: 'GitHub Copilot 命令行，用你已有的登录或密钥。',
  cursor: 'Cursor 的智能体，用你已有的登录或密钥。',
  opencode: 'OpenCode，用你在其中设置的提供方。',
  pi: 'Pi，用你在其中设置的提供方。',
  handoff: '由人或其他程序回答写成文件的问题。',
  cassette: '一次录制的夜间运行的回答，来自 models.cassette 指定的文件；不询问任何模型。',
};
