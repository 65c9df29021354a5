/** “检查这台电脑”的结果与今晚会做的事的中文说明；引擎自己的句子是英文。 */
import type { JsonValue, SourceStatus, Tonight } from '../../backend';
import { kept, leftOut } from '../sources';
import type { Strings } from './en';
import { zh } from './zh';

/** 说明，以及该怎么办。 */
type Said = [message: string, guidance: string];

/** 详情的形状由引擎按代码决定。 */
const by =
  <Detail>(say: (detail: Detail) => Said) =>
  (detail: JsonValue): Said =>
    say(detail as Detail);
const plain = (message: string, guidance = ''): (() => Said) => () => [message, guidance];

const damaged = (message: string): ReturnType<typeof by> =>
  by<{ goes_on_from: string | null }>(({ goes_on_from }) => [
    message,
    `\`skillopt data restore --yes\` ${goes_on_from === null ? '会重新开始，因为没有完好的副本' : `会从 ${goes_on_from} 继续`}；现有内容会被移到一旁。`,
  ]);

const without = (source: SourceStatus): string => {
  const rows = leftOut(source).map((row) => `${zh.sources.count[row.unit](row.count)}（${(zh.reason[row.reason] ?? row.sentence).replace(/[。.]$/, '')}）`);
  return rows.length > 0 ? `略去：${rows.join('；')}。` : '';
};
const ofProject = (source: SourceStatus): string =>
  `${zh.sources.sessions(source.sessions)}，位于 ${source.looked.map((place) => place.folder).join('、')}（reads.${source.agent}_home）。`;

/** 键是结果的代码，值由结果的详情得出说明。 */
const found: Strings['check']['found'] = {
  settings_readable: plain('设置可以读取。'),
  settings_unused: by<string[]>((unused) => [`有 ${unused.length} 处设置没有被采用。`, '`skillopt config show` 会列出有效的设置。']),
  database_sound: plain('数据库完好。'),
  database_corrupt: damaged('数据库已损坏。'),
  database_missing: damaged('数据库不见了，但属于它的文件还在。'),
  last_night_stopped: by<{ outcome: 'deferred' | 'failed' }>(({ outcome }) => [
    `没有完成：${zh.outcome[outcome]}。`,
    '`skillopt backend test` 会立即查看模型是否应答；`skillopt night show` 说明那次夜间运行的更多情况。',
  ]),
  projects_none: plain(
    '还没有登记任何项目。',
    '请在项目的文件夹中运行 `skillopt sleep run`，或用 `skillopt project add` 添加；`skillopt project find` 会列出智能体用过的文件夹。',
  ),
  documents_found: by<unknown[]>((documents) => [`有 ${documents.length} 份文档可以改进。`, '']),
  servers_found: by<{ name: string; endpoint: string; models: string[] }[]>((servers) => [
    `${servers.map(({ name, endpoint, models }) => `${name} 在 ${endpoint} 应答，${models.length === 0 ? '没有模型' : models.length === 1 ? `有模型 ${models[0]}` : `有 ${models.length} 个模型`}`).join('；')}。`,
    '',
  ]),
  servers_none: by<{ ports: string[] }>(({ ports }) => [`这台电脑上没有模型服务器应答（端口 ${ports.join('、')}）。`, '']),
  models_usable: plain('后端可以使用。'),
  models_simulated: plain('由内置模拟作答。', '要使用模型，请设置 models.backend。'),
  models_reserve_unkept: by<{ silent: string[] }>(({ silent }) => [
    `无法遵守 spends.reserve_percent：${silent.join('、')} 不说明套餐还剩多少。`,
    '每晚的限制（spends.max_calls_per_night、spends.max_tokens_per_night、schedule.finish_by）对每个后端都有效。',
  ]),
  models_setting_unheard: by<{ unheard: { provider: string; settings: string[] }[] }>(({ unheard }) => [
    unheard.map(({ provider, settings }) => `无法告知 ${provider} ${settings.join('、')} 的值；提问时不带它。`).join(''),
    '请去掉该设置，或换用支持它的后端。',
  ]),
  schedule_line_broken: plain('crontab 中的那一行无法运行。', '请重新运行 `skillopt sleep schedule`，它会重写那一行；或运行 `skillopt sleep unschedule`。'),
  schedule_same_folders: plain('它使用与此终端相同的文件夹。'),
  schedule_other_folders: by<{ data: string; settings: string }>(({ data, settings }) => [
    `计划的运行会把数据保存在 ${data}，并读取 ${settings} 中的设置，而不是此终端的。`,
    '请重新运行 `skillopt sleep schedule`；那一行就会指明此终端的文件夹。',
  ]),
  sessions_found: by<SourceStatus>((source) => [`${ofProject(source)}${kept(source, zh)}`, without(source)]),
  sessions_none: by<SourceStatus>((source) => {
    const rows = without(source);
    return [ofProject(source), `${rows === '' ? zh.sources.nothing : rows}${kept(source, zh)}`];
  }),
  sessions_absent: by<SourceStatus>((source) => [
    `没有 ${source.title} 的文件夹：${source.looked.map((place) => place.folder).join('、')}。`,
    `不使用它就不必理会；否则请用 reads.${source.agent}_home 指明它的文件夹。`,
  ]),
  sessions_strange: by<SourceStatus>((source) => {
    const names = source.unknown_records.slice(0, 5).map(({ type, version }) => (version === '' ? type : `${type}（版本 ${version}）`));
    return [
      `${source.title} 最新的 ${source.warning?.sessions ?? 1} 个会话中没有找到人说的话；它的格式可能已经改变。${names.length > 0 ? `其中有不认识的记录：${names.join('、')}。` : ''}`,
      '请查找更新版本的 SkillOpt；在此之前不会从它的新会话中学习。',
    ];
  }),
};

function night({ expected }: Tonight): string {
  switch (expected.night) {
    case 'fails':
      return `会失败：${zh.problem[expected.code] ?? expected.message}。`;
    case 'stops':
      return `会停止：${zh.problem[expected.code] ?? expected.message}。`;
    case 'nothing_new':
      return '没有新内容。';
    case 'no_task':
      return `会读取 ${expected.sessions} 个会话，其中还没有可以评判并且重复出现的任务。`;
    case 'replays':
      return `会读取 ${expected.sessions} 个会话并重放 ${expected.tasks} 个任务，${expected.calls === 0 ? '没有付费的模型调用' : `至多 ${expected.calls} 次模型调用`}。`;
    case 'no_project':
      return '什么也不做：没有登记的项目。';
  }
}

export const check = {
  found,
  /** 今晚会做什么。 */
  tonight: (nights: Tonight[]): string =>
    nights.map((one) => (one.project === null ? night(one) : `${one.project}：${night(one)}`)).join(' '),
};
