// The words of the page. Labels of states come from the tables.

export const WORDS = {
	skip: ["Skip to the content", "跳到正文"],
	now: ["Now", "现在"],
	tree: ["Tree", "树"],
	entity: ["Entity", "实体"],
	time: ["Time", "时间"],
	refused: ["Refused", "被拒绝"],
	workers: ["Workers", "工作进程"],
	screens: ["Screens", "页面"],
	language: ["Language", "语言"],
	search: ["Search", "搜索"],
	searchHint: ["Name of an entity, or of a screen", "实体或页面的名称"],
	nothingFound: ["Nothing has such a name.", "没有这样的名称。"],
	live: ["live", "实时"],
	connecting: ["connecting", "连接中"],
	away: ["What is shown is {age} old.", "所示为 {age}前的状态。"],
	offline: ["away", "离线"],
	nowhere: ["No such page", "无此页面"],
	noAddress: ["The page has no such address:", "页面没有此地址："],
	whoAmI: ["Who am I", "我是谁"],
	roles: ["Roles", "角色"],
	maySee: ["May see", "可查看"],
	maySend: ["May send to", "可发送至"],
	theme: ["Theme", "主题"],
	themesystem: ["as the system", "跟随系统"],
	themelight: ["light", "浅色"],
	themedark: ["dark", "深色"],
	logOut: ["Log out", "退出登录"],
	loading: ["Loading", "加载中"],
	past: ["past: place {place}, {time}", "过去：位置 {place}，{time}"],
	place: ["place", "位置"],
	cell: ["Cell", "单元"],
	allCells: ["All cells", "所有单元"],
	ofOneCell: ["Each cell has a log of its own: choose one.", "每个单元有自己的日志：请选择一个。"],
	backToLive: ["Back to live", "回到实时"],
	close: ["Close", "关闭"],
	retry: ["Try again", "重试"],
	serverAway: ["The server does not answer. The page goes on when it is back.", "服务器没有应答。恢复后页面会自动继续。"],
	failed: ["That did not work: {problem}", "操作失败：{problem}"],
	total: ["{n} entities", "{n} 个实体"],
	good: ["good", "正常"],
	busy: ["busy", "进行中"],
	bad: ["bad", "异常"],
	excused: ["excused", "豁免"],
	gone: ["gone", "已删除"],
	deleted: ["Deleted", "已删除"],
	notSeen: ["Deleted (not seen)", "已删除（未确认）"],
	lastShown: ["Last shown", "最后上报"],
	leftBehind: ["Deleted (not seen), left behind", "已删除（未确认），仍残留"],
	silentPlaces: ["Silent", "静默"],
	badNow: ["Bad now", "当前异常"],
	unknown: ["unknown", "未知"],
	silent: ["silent", "静默"],
	stale: ["nothing heard lately", "最近没有消息"],
	staleBy: ["as of {age} ago: nothing from {whom} since {since}", "{age}前的状态：自 {since} 起无 {whom} 的消息"],
	viewed: ["shown so because of other entities", "因其他实体而显示"],
	all: ["all", "全部"],
	map: ["Map", "地图"],
	table: ["List", "列表"],
	byCause: ["By cause", "按原因"],
	flat: ["Flat", "平铺"],
	sort: ["Order", "排序"],
	sortworst: ["worst, then longest", "最严重、最久在前"],
	sortmost: ["most symptoms", "症状最多在前"],
	sortname: ["by name", "按名称"],
	andMore: ["and {n} more", "另有 {n} 个"],
	doneBy: ["{trigger} by {source}", "{source} 的 {trigger}"],
	nothingBad: ["Nothing is bad.", "没有异常。"],
	nothingKnownBad: ["Nothing is bad of what is known.", "已知的部分没有异常。"],
	whollyGood: ["All good:", "全部正常："],
	mapLabel: ["Map of all entities. Arrow keys move, Enter opens.", "所有实体的地图。方向键移动，回车打开。"],
	kindsStates: ["Kinds and states", "种类与状态"],
	kind: ["Kind", "种类"],
	state: ["State", "状态"],
	since: ["Since", "自"],
	class: ["How it is", "状况"],
	count: ["Count", "数量"],
	name: ["Name", "名称"],
	below: ["Below", "下级"],
	facets: ["Also", "其他方面"],
	lately: ["Changed lately", "最近变化"],
	cameBad: ["Went bad", "变为异常"],
	wentBad: ["Well again", "已恢复"],
	changed: ["Changed", "已变化"],
	quiet: ["Nothing has changed lately.", "最近没有变化。"],
	noEntity: ["No entity yet.", "还没有实体。"],
	publishOne: ["Publish one:", "发布一个："],
	noFit: ["Nothing fits these filters.", "没有符合筛选条件的实体。"],
	clearFilters: ["Clear filters", "清除筛选"],
	allTrees: ["All trees", "所有树"],
	filter: ["Filter", "筛选"],
	anyKind: ["any kind", "任何种类"],
	anyState: ["any state", "任何状态"],
	open: ["Open", "打开"],
	why: ["Why", "原因"],
	belongsTo: ["Belongs to", "属于"],
	notThere: ["{name} does not exist at this place.", "{name} 在此位置不存在。"],
	chosen: ["What is chosen", "所选项"],
	choose: ["Choose one to see why.", "选择一项以查看原因。"],
	stripLabel: ["Transitions over time; arrow keys step one event", "随时间的变迁；方向键逐事件移动"],
	stepBack: ["One event back", "后退一个事件"],
	stepOn: ["One event on", "前进一个事件"],
	play: ["Play", "播放"],
	pause: ["Pause", "暂停"],
	wholeRange: ["Whole range", "全部范围"],
	atStart: ["This is the beginning of the log.", "这是日志的开头。"],
	from: ["From", "从"],
	to: ["To", "到"],
	compare: ["Compare", "比较"],
	lanes: ["Lanes", "泳道"],
	show: ["Show", "显示"],
	wereBad: ["were bad", "曾异常"],
	levels: ["Levels", "可用性"],
	available: ["available", "可用"],
	budgetUsed: ["budget {all} at {goal} %, lost {lost}", "损失 {lost}，允许 {all}（目标 {goal}%）"],
	outages: ["outages: {n}", "中断：{n} 次"],
	unexcused: ["{share} if nothing had been excused later", "若事后未豁免则为 {share}"],
	serverGone: ["server away: {n} ×", "服务器离线：{n} 次"],
	calendar: ["The worst of each day, and its share", "每天最差的状况及其占比"],
	compareHint: ["A place, a time, or 15m. Empty: an hour ago, and now.", "位置、时间或 15m。留空：一小时前与现在。"],
	created: ["Created", "新建"],
	same: ["Same again", "恢复原状"],
	cameAndWent: ["Came and went", "出现又消失"],
	before: ["Before", "之前"],
	after: ["After", "之后"],
	noChange: ["Nothing changed between these moments.", "这两个时刻之间没有变化。"],
	tooMany: ["The first {n} are shown: take a shorter range or one tree.", "仅显示前 {n} 项：请缩短范围或选择一棵树。"],
	keyHelp: ["Keys", "按键"],
	keySearch: ["search", "搜索"],
	keyMove: ["move in lists and trees, open and fold", "在列表和树中移动、展开、收起"],
	keyOpen: ["open the chosen entity", "打开所选实体"],
	keyEvents: ["one event back, one event on", "后退、前进一个事件"],
	keyLive: ["live, or stop at this place", "实时，或停在此位置"],
	keyPlay: ["play", "播放"],
	keyGo: ["go to a screen", "转到页面"],
	keyLang: ["other language", "切换语言"],
	keyHelpItself: ["this list", "此列表"],
	none: ["none", "无"],
	details: ["Details", "详情"],
	machine: ["Machine", "状态机"],
	anywhere: ["from any state", "从任何状态"],
	because: ["Because", "原因"],
	rootCause: ["Root cause", "根本原因"],
	itsBase: ["Its base is", "其基础状态为"],
	shownWhile: ["Shown while", "显示条件："],
	nOf: ["{n} of {all}", "{all} 个中的 {n} 个"],
	asAbove: ["as above", "同上"],
	toDo: ["To do", "处理建议"],
	condition: ["condition {name} is {status}{reason}{since}", "条件 {name} 为 {status}{reason}{since}"],
	says: ["{name} is {status}{reason}{since}", "{name} 为 {status}{reason}{since}"],
	times: ["{n} times", "{n} 次"],
	lastAt: ["last at {time}", "最近于 {time}"],
	unwellBelow: ["Below it, not well: {n} × {kind}", "下级异常：{n} × {kind}"],
	sinceThen: [" since {time}", "，自 {time}"],
	otherSays: ["But another source says otherwise, which does not decide", "但另一来源说法不同，不作为依据"],
	lastSaid: ["The last that was said here or below", "此处或下级最后一次上报"],
	identity: ["Which thing", "对应实体"],
	waitsFor: ["Waits for the answer to", "等待答复"],
	stallsAt: ["Stalled at", "停滞时间"],
	legalNow: ["Legal now", "当前合法"],
	legalThen: ["Legal then", "当时合法"],
	wayOut: ["Way out", "出路"],
	wayOutThen: ["Way out then", "当时的出路"],
	timeline: ["Timeline", "时间线"],
	history: ["History", "历史"],
	older: ["Older", "更早"],
	lastEvent: ["Last event", "最近事件"],
	eventGone: ["The event is no longer stored.", "该事件已不再保存。"],
	tryEvent: ["Try an event", "试发事件"],
	onlyLive: ["Events change what is live only.", "事件只改变实时状态。"],
	legalIntents: ["Requests, legal now", "请求，当前合法"],
	notLegal: ["Requests, not legal now", "请求，当前不合法"],
	notLegalSeen: ["Observations, not legal now", "观测，当前不合法"],
	nEntities: ["Entities: {n}.", "实体：{n} 个。"],
	typeName: ["To send it, type the name:", "输入名称以发送："],
	dryRun: ["What would change?", "会改变什么？"],
	send: ["Send", "发送"],
	sent: ["Event {n} is stored.", "事件 {n} 已保存。"],
	would: ["It would change:", "将会改变："],
	did: ["It changed:", "已改变："],
	nothingWould: ["Nothing would change.", "不会有变化。"],
	trigger: ["Trigger", "触发器"],
	source: ["Source", "来源"],
	actor: ["Actor", "操作者"],
	actorAs: ["{actor} as {source}", "{actor}，以 {source} 名义"],
	actorAgain: ["{actor} as {source} (sent again; the event says {says})", "{actor}，以 {source} 名义（重发；事件自称 {says}）"],
	unproven: ["{source}, which says without proof that it is {says}", "{source}，自称 {says}（未经证实）"],
	message: ["Message", "消息"],
	reason: ["Reason", "理由"],
	event: ["Event", "事件"],
	heard: ["Last heard", "最近消息"],
	sendAgain: ["Send again", "重新发送"],
	noneRefused: ["No event was refused.", "没有被拒绝的事件。"],
	partitions: ["Partitions", "分区"],
	partition: ["Partition", "分区"],
	worker: ["Worker", "工作进程"],
	waiting: ["Waiting", "等待中"],
	streams: ["Streams", "流"],
	messages: ["Messages", "消息数"],
	size: ["Size", "大小"],
	growth: ["Per second", "每秒"],
	tables: ["Tables", "状态表"],
	version: ["Version", "版本"],
	noWorkerNow: ["No worker runs: what happens now is not decided, and not shown. Start one: phaseline worker", "没有工作进程：现在发生的事未被处理，也不会显示。请启动：phaseline worker"],
	someWait: ["Some workers do not answer: what happens in their trees is not shown yet.", "部分工作进程没有应答：其树中发生的事尚未显示。"],
	noWorker: ["No worker runs. Start one: phaseline worker", "没有工作进程。请启动：phaseline worker"],
	needs: ["This needs the role {role}.", "需要角色 {role}。"],
	notKnown: ["This user may not see it.", "此用户无权查看。"],
	moves: ["Take-overs seen here: {n}", "此处所见接管：{n}"],
};
export const KINDS = {
	cluster: ["cluster", "集群"],
	node_pool: ["node pool", "节点池"],
	node: ["node", "节点"],
	component: ["component", "组件"],
	emco_resource: ["EMCO resource", "EMCO 资源"],
	app_context: ["app context", "应用上下文"],
	app_cluster: ["app on a cluster", "集群上的应用"],
	rsync_resource: ["resource of an app", "应用的资源"],
	application_set: ["application set", "应用集"],
	application: ["application", "应用"],
	resource: ["resource", "资源"],
	owned_object: ["owned object", "从属对象"],
	git_repo: ["Git repository", "Git 仓库"],
	bundle: ["bundle", "捆绑包"],
	bundle_deployment: ["bundle on a cluster", "集群上的捆绑包"],
	bundle_resource: ["resource of a bundle", "捆绑包的资源"],
};
export const LANGUAGES = ["en", "zh"];
export const LANGUAGE_NAMES = { en: "English", zh: "中文" };
let chosen = "en";

export function language() {
	return chosen;
}

export function choose(tag) {
	const wanted = [tag, ...navigator.languages].map((one) => String(one ?? "").slice(0, 2).toLowerCase());
	chosen = wanted.find((one) => LANGUAGES.includes(one)) ?? "en";
	document.documentElement.lang = chosen;
}

function inLanguage(texts) {
	return texts[LANGUAGES.indexOf(chosen)];
}

export function t(word, values = {}) {
	return inLanguage(WORDS[word]).replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
}

export function kindName(kind) {
	return KINDS[kind] ? inLanguage(KINDS[kind]) : kind.replaceAll("_", " ");
}

// A state, with how its life ended if nobody saw that.
export function ended({ end }, one) {
	const told = { assumed: ["NotSeen"], contradicted: ["LeftBehind"] }[end];
	return told && one.state === "Deleted" ? { ...one, conditions: told } : one;
}

const ENDS = { NotSeen: "notSeen", LeftBehind: "leftBehind" };

// The label of a state, as /v1/columns describes it.
export function stateName(state) {
	if (!state) return t("unknown");
	if (state.state === "Deleted") return t(ENDS[state.conditions[0]] ?? "deleted");
	return state.label?.[chosen] ?? state.label?.en ?? [state.state, ...state.conditions].join(" ");
}

// `Failed [NotReady]`, as commands say it.
export function stateWord(state) {
	return state ? `${state.state}${state.conditions.length ? ` [${state.conditions.join(", ")}]` : ""}` : "";
}

export function adviceOf(state) {
	return state.advice?.[chosen] ?? state.advice?.en ?? "";
}
