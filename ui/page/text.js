// Every text of the page: English, then Chinese. A test checks that none is
// missing or unused. {n} and the like stand for values.

const texts = {
  views: ['Views', '视图'],
  pipeline: ['Pipeline', '流水线'],
  objects: ['Objects', '对象'],
  revisions: ['Revisions', '修订版本'],
  scheduler: ['Scheduler', '调度'],
  controls: ['Controls', '控制'],
  otherLanguage: ['中文', 'English'],

  // Pipeline
  flowTitle: ['Writes, the latest on the right', '写入记录（最新在右侧）'],
  flowHelp: ['A dot on a lane is a write, with the first letter of the kind written; it goes down to the revision that it made in the API server. The dashed line comes from the revision that woke the writer. Arrow keys move along the writes, Enter follows one.', '泳道上的圆点表示一次写入，字母是对象类型的首字母；竖线指向它在 API server 中产生的修订版本；虚线来自唤醒写入者的修订版本。方向键在写入间移动，回车键跟踪其中一次。'],
  hold: ['Hold', '暂停显示'],
  showNoise: ['Leases and Events too', '包括 Lease 和 Event'],
  filter: ['Filter', '筛选'],
  browser: ['browser', '浏览器'],
  clients: ['Clients', '客户端'],
  apiServer: ['API server, etcd', 'API server、etcd'],
  otherKubelets: ['other kubelets', '其他 kubelet'],
  otherComponents: ['other components', '其他组件'],
  notShownWrites: ['{n} earlier writes not shown', '另有 {n} 次更早的写入未显示'],
  noWrites: ['Nothing was written yet. Create something in the Controls view.', '还没有写入。请在“控制”视图中创建对象。'],
  writeLabel: ['Revision {rev}: {who} {did} {object}', '修订版本 {rev}：{who} {did} {object}'],
  follow: ['Follow', '跟踪'],
  followWhat: ['Object, such as deployment/web', '对象，例如 deployment/web'],
  stepsOf: ['From the request to what came of it: {object}', '从请求到结果：{object}'],
  stepsHelp: ['Choose a write above, or name an object, to see each step from the request that caused it.', '选择上方的一次写入，或输入对象名称，查看从最初请求开始的每个步骤。'],
  noSteps: ['No write of {object} is remembered.', '没有 {object} 的写入记录。'],
  forgotten: ['The first steps are forgotten: the server remembers the last 8192 spans.', '最初的步骤已被遗忘：服务器只保留最近的 8192 个 span。'],
  time: ['Since request', '距请求'],
  waited: ['Woken, then written', '从唤醒到写入'],
  revision: ['Revision', '修订版本'],
  who: ['Who', '执行者'],
  did: ['Did', '动作'],
  wokenBy: ['Woken by', '唤醒者'],
  why: ['Why', '原因'],
  command: ['Command', '命令'],
  ownWill: ['of its own will', '主动请求'],
  revisionOf: ['{rev} of {object}', '{object} 的 {rev}'],
  commandsFor: ['Commands for revision {rev}', '修订版本 {rev} 的命令'],
  cmdState: ['See the object as it was at this revision', '查看对象在该修订版本时的状态'],
  cmdEvent: ['See the watch event of this step', '查看该步骤的 watch 事件'],
  cmdDo: ['Do the same', '执行相同的操作'],
  cmdDiff: ['Compare with the revision before', '与前一版本比较'],
  copy: ['Copy', '复制'],
  copied: ['Copied', '已复制'],
  notShownSteps: ['{steps} more steps of {pods} more pods not shown', '另有 {pods} 个 Pod 的 {steps} 个步骤未显示'],
  showMore: ['Show more', '显示更多'],
  didCreate: ['created', '创建了'],
  didUpdate: ['updated', '更新了'],
  didPatch: ['patched', '修补了'],
  didDelete: ['deleted', '删除了'],
  didBind: ['bound', '绑定了'],
  didEvict: ['evicted', '驱逐了'],
  didStatus: ['reported status of', '上报了状态：'],
  didScale: ['scaled', '伸缩了'],

  // Objects
  kind: ['Kind', '类型'],
  notShownRows: ['{n} more not shown, use the filter', '另有 {n} 个未显示，请使用筛选'],
  nothing: ['None', '无'],
  count: ['{n} in all', '共 {n} 个'],
  owners: ['Owner tree', '从属关系树'],
  nodeMap: ['Pods by node', '各节点上的 Pod'],
  noNode: ['no node', '未调度'],
  podsOn: ['Pods: {n}', 'Pod：{n}'],
  more: ['{n} more', '另有 {n} 个'],
  details: ['{object}', '{object}'],
  chooseObject: ['Choose an object to see it as YAML and to compare its revisions.', '选择一个对象以查看其 YAML 并比较各修订版本。'],
  yaml: ['YAML', 'YAML'],
  diff: ['Compare revisions', '比较修订版本'],
  from: ['From', '从'],
  to: ['To', '到'],
  compare: ['Compare', '比较'],
  managed: ['Managed fields too', '包括 managedFields'],
  setBy: ['Set by field manager {manager}', '由字段管理者 {manager} 设置'],
  gone: ['It did not exist at revision {rev}.', '在修订版本 {rev} 时不存在。'],
  noDifference: ['No difference', '没有差异'],
  noRevisions: ['Fewer than two of its revisions are remembered; enter them.', '已知的修订版本不足两个，请手动输入。'],
  seeSteps: ['Its steps', '它的步骤'],
  seeScheduling: ['Its scheduling', '它的调度'],
  deleted: ['It is deleted.', '它已被删除。'],

  // Revisions
  revisionsHelp: ['Each step of the axis is a write. Move the handle, also by arrow keys, to see the cluster as it was then.', '轴上的每一格是一次写入。拖动滑块或使用方向键，可查看集群当时的状态。'],
  compacted: ['Revision {rev} is compacted: etcd no longer keeps it, and a client would have to list again.', '修订版本 {rev} 已被压缩：etcd 不再保留，客户端需要重新 list。'],
  cursors: ['Watches, as cursors in this log', '以游标表示的 watch'],
  cursorsHelp: ['Each client that watches walks along the log at its own pace: ◆ is how far it has been told. A line behind it is what it has yet to hear, the grey part is compacted away: whoever is left in there gets 410 and lists again.', '每个 watch 客户端按自己的速度沿日志前进：◆ 是已告知它的位置，其后的线段是尚未送达的事件；灰色部分已被压缩，停留其中的客户端会收到 410 并重新 list。'],
  logWhole: ['The log ends at revision {head}; nothing is compacted yet.', '日志结束于修订版本 {head}；尚未压缩。'],
  logEnds: ['The log reaches from revision {compacted}, to which it is compacted, to {head}.', '日志从修订版本 {compacted}（压缩点）到 {head}。'],
  client: ['Client', '客户端'],
  watches: ['Watches', 'watch 的资源'],
  told: ['Told up to', '已告知至'],
  behind: ['Behind', '落后'],
  place: ['Place in the log', '在日志中的位置'],
  events: ['{n} events', '{n} 个事件'],
  inNamespace: ['in {namespace}', '（命名空间 {namespace}）'],
  endedWatches: ['Watches that ended', '已结束的 watch'],
  endedAt: ['Ended', '结束时间'],
  afterwards: ['Afterwards', '之后'],
  didNotComeBack: ['did not come back', '没有再来'],
  listedAgain: ['listed again, watches from {rev}', '重新 list，从 {rev} 开始 watch'],
  wentOn: ['went on from {rev}', '从 {rev} 继续'],

  // Scheduler
  pod: ['Pod', 'Pod'],
  attempt: ['Decision', '决定'],
  decisionAt: ['Decided at {time}: {decision}', '于 {time} 决定：{decision}'],
  noDecision: ['The scheduler has decided on no pod yet, or it is forgotten.', '调度器尚未作出决定，或记录已被覆盖。'],
  node: ['Node', '节点'],
  verdict: ['Verdict', '结论'],
  score: ['Score', '得分'],
  chosen: ['chosen', '选中'],
  fits: ['fits', '可用'],
  rejectedBy: ['{plugin}: {reasons}', '{plugin}：{reasons}'],
  preempts: ['preempts {pods}', '抢占 {pods}'],
  scoreHelp: ['A plugin’s score is raw → brought into 0 to 100 × weight. At most 20 nodes are recorded.', '插件得分：原始值 → 归一化到 0 至 100 × 权重。最多记录 20 个节点。'],

  // Controls
  clock: ['Clock', '时钟'],
  noClock: ['This server has no clock that can be controlled.', '此服务器没有可控制的时钟。'],
  paused: ['paused', '已暂停'],
  rate: ['×{rate}', '×{rate}'],
  clockState: ['{timers} timers, the next at {next}', '{timers} 个定时器，下一个在 {next}'],
  pause: ['Pause', '暂停'],
  resume: ['Resume', '继续'],
  step: ['Step to next timer', '步进到下一个定时器'],
  speed: ['Speed', '速度'],
  setSpeed: ['Set speed', '设置速度'],
  advance: ['Advance', '快进'],
  advanceBy: ['Time to advance, such as 5m or 1h30m', '快进时长，例如 5m 或 1h30m'],
  badDuration: ['Not a duration: {text}', '不是有效的时长：{text}'],
  editor: ['Create or change objects', '创建或修改对象'],
  manifest: ['Manifest (YAML)', '清单（YAML）'],
  editorHelp: ['The server checks it as you type, by a dry run with strict field validation. Tab leaves the editor.', '输入时服务器会以严格字段校验进行试运行检查。按 Tab 键离开编辑器。'],
  check: ['Check', '检查'],
  create: ['Create', '创建'],
  apply: ['Apply', '应用'],
  valid: ['{object}: valid', '{object}：有效'],
  createdIt: ['{object}: created', '{object}：已创建'],
  appliedIt: ['{object}: applied', '{object}：已应用'],
  invalid: ['{object}: {message}', '{object}：{message}'],
  example: ['Example', '示例'],
  noKind: ['Document {n} has no apiVersion or kind.', '第 {n} 个文档缺少 apiVersion 或 kind。'],
  unknownKind: ['The server does not know kind {kind} of {version}.', '服务器不认识 {version} 的类型 {kind}。'],

  unreachable: ['The server does not answer: {message}', '服务器没有响应：{message}'],
  loading: ['Loading…', '加载中…'],
};

const languages = ['en', 'zh'];

function initial() {
  const wanted = new URLSearchParams(location.search).get('lang') || localStorage.getItem('kubesim-language') || navigator.language;
  return wanted.toLowerCase().startsWith('zh') ? 'zh' : 'en';
}

export let language = initial();

export function switchLanguage() {
  language = language === 'en' ? 'zh' : 'en';
  localStorage.setItem('kubesim-language', language);
}

export function t(key, values = {}) {
  const pair = texts[key];
  if (!pair) throw new Error(`no text ${key}`);
  return pair[languages.indexOf(language)].replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ''));
}
