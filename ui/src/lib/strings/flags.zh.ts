/** 需要过目之处的名称与中文说明；引擎自己的说明是英文。 */
import type { FlagKind } from '../../backend';

export const flags: Record<FlagKind, [name: string, sentence: string]> = {
  hidden_character: ['隐藏的字符', '其中有看不见的字符，或者看上去像别的字符的字符。'],
  bidirectional: ['改变方向的字符', '其中有改变文字显示方向的字符。'],
  control_character: ['控制字符', '其中有控制字符或终端转义序列。'],
  region_marker: ['区域标记', '其中有 SkillOpt 用来找到自己的区域的标记。'],
  hidden_markup: ['隐藏的标记', '其中有隐藏文字、或在显示时加载内容的标记。'],
  command: ['命令', '它要智能体运行一个命令。'],
  url: ['网址', '其中有一个网址。'],
  secret: ['机密', '其中有、或曾有看上去像密码、密钥或令牌的内容。'],
  permission_change: ['权限更改', '它改变智能体可以不经询问就做的事。'],
  instruction: ['可疑的指令', '它读起来像是为误导智能体或其用户而植入的指令。'],
};
