// A trace of the browser, read: the tasks of the page's main thread, which of them are long, and what these do.

export type TraceEvent = { name: string; ph: string; pid: number; tid: number; ts: number; dur?: number; tdur?: number; args?: { name?: string } };

const TASK = 'ThreadControllerImpl::RunTask';

/** What is done by the browser's own names of it; the first that a task has is its kind, in this order. */
const KINDS: [string, string[]][] = [
  ['painting', ['ProxyMain::BeginMainFrame', 'Paint', 'Commit']],
  ['taking a message', ['WebSocketReceive', 'WebSocketReceiveData']],
  ['a timer', ['TimerFire']],
  ['an event', ['EventDispatch']],
  ['idle work', ['FireIdleCallback']],
];

/** The parts of a task: events of these names, without what lies within others of them. */
const PARTS: [string, string[]][] = [
  ['script', ['FunctionCall', 'RunMicrotasks', 'TimerFire', 'FireAnimationFrame', 'EventDispatch', 'WebSocketReceive', 'WebSocketReceiveData', 'FireIdleCallback']],
  ['collecting garbage', ['MinorGC', 'MajorGC', 'V8.GCScavenger', 'BlinkGC.AtomicPhase']],
  ['styles', ['UpdateLayoutTree']],
  ['layout', ['Layout']],
  ['paint', ['PrePaint', 'Paint', 'Layerize']],
  ['commit', ['Commit']],
];

const of = (table: [string, string[]][], name: string) => table.find(([, names]) => names.includes(name))?.[0];
const ms = (us: number | undefined) => (us ?? 0) / 1_000;

/** What ran on the main thread, in its order. Of several renderers the page's is the busy one. */
function mainThread(trace: Buffer): TraceEvent[] {
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] };
  const threads = traceEvents.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain');
  const ofThread = threads.map(({ pid, tid }) => traceEvents.filter((event) => event.ph === 'X' && event.pid === pid && event.tid === tid));
  const tasks = (events: TraceEvent[]) => events.filter(({ name }) => name === TASK).length;
  const main = ofThread.sort((one, other) => tasks(other) - tasks(one))[0] ?? [];
  return main.sort((one, other) => one.ts - other.ts || (other.dur ?? 0) - (one.dur ?? 0));
}

/** The tasks of the main thread. */
export function tasksOf(trace: Buffer): TraceEvent[] {
  return mainThread(trace).filter(({ name }) => name === TASK);
}

/** How many tasks take longer than that, of which kinds they are, and what one of a kind does on average. Of a trace with the category `devtools.timeline`. */
export function longTasks(trace: Buffer, limitMs: number): string {
  type Task = { kind: string; ms: number; parts: Map<string, number> };
  const tasks: Task[] = [];
  const open: { end: number; part: string | undefined }[] = [];
  let task: (Task & { rank: number; end: number }) | undefined;
  for (const { name, ts, dur } of mainThread(trace)) {
    const end = ts + (dur ?? 0);
    if (name === TASK) {
      task = { kind: 'other', rank: KINDS.length, ms: ms(dur), parts: new Map(), end };
      tasks.push(task);
      open.length = 0;
      continue;
    }
    if (!task || ts >= task.end) continue;
    const rank = KINDS.findIndex(([, names]) => names.includes(name));
    if (rank >= 0 && rank < task.rank) [task.rank, task.kind] = [rank, KINDS[rank]![0]];
    while (open.length > 0 && open.at(-1)!.end <= ts) open.pop();
    const part = of(PARTS, name);
    if (!part) continue;
    const around = open.at(-1)?.part;
    const add = (part: string, by: number) => task!.parts.set(part, (task!.parts.get(part) ?? 0) + by);
    add(part, ms(dur));
    if (around) add(around, -ms(dur));
    open.push({ end, part });
  }
  const long = tasks.filter((task) => task.ms > limitMs);
  const kinds = new Map<string, Task[]>();
  for (const task of long) kinds.set(task.kind, [...(kinds.get(task.kind) ?? []), task]);
  const told = [...kinds].sort(([, one], [, other]) => other.length - one.length).map(([kind, tasks]) => {
    const mean = (of: (task: Task) => number) => (tasks.reduce((sum, task) => sum + of(task), 0) / tasks.length).toFixed(1);
    const parts = PARTS.map(([part]) => [part, mean((task) => task.parts.get(part) ?? 0)] as const).filter(([, mean]) => mean !== '0.0');
    return `${tasks.length} ${kind} (${mean(({ ms }) => ms)} ms: ${parts.map(([part, mean]) => `${part} ${mean}`).join(', ')})`;
  });
  return `${long.length} of ${tasks.length} tasks over ${limitMs} ms${told.length > 0 ? `: ${told.join('; ')}` : ''}`;
}
