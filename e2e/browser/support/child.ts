// A child process that never outlives the tests: keeps the end of its output, reports how it ended, and is killed
// when the test runner exits.

import { type ChildProcess, spawn } from 'node:child_process';

const LINES_MAX = 400;
const running = new Set<ChildProcess>();
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')));

export type End = { code: number | null; signal: NodeJS.Signals | null };

export class Child {
  readonly ended: Promise<End>;
  /** The last lines of standard output and error. */
  readonly output: string[] = [];
  end: End | undefined;

  private readonly process: ChildProcess;
  private readonly listeners = new Set<(line: string) => void>();

  constructor(command: string, args: string[], options: { env?: NodeJS.ProcessEnv; cwd?: string } = {}) {
    this.process = spawn(command, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
    running.add(this.process);
    this.ended = new Promise((resolve) => {
      const ended = (end: End) => {
        running.delete(this.process);
        this.end ??= end;
        resolve(this.end);
      };
      this.process.once('error', (error) => {
        this.keep(String(error));
        ended({ code: null, signal: null });
      });
      this.process.once('close', (code, signal) => ended({ code, signal }));
    });
    this.process.stdin?.on('error', () => {});
    this.lines(this.process.stdout, (line) => this.listeners.forEach((hear) => hear(line)));
    this.lines(this.process.stderr, () => {});
  }

  /** Gets every line of standard output from now on. */
  onLine(hear: (line: string) => void): void {
    this.listeners.add(hear);
  }

  write(line: string): void {
    this.process.stdin?.write(`${line}\n`);
  }

  signal(signal: NodeJS.Signals): void {
    this.process.kill(signal);
  }

  tail(lines = 20): string {
    return this.output.slice(-lines).join('\n');
  }

  private lines(stream: NodeJS.ReadableStream | null, hear: (line: string) => void): void {
    let rest = '';
    stream?.setEncoding('utf8');
    stream?.on('data', (chunk: string) => {
      const parts = (rest + chunk).split('\n');
      rest = parts.pop() ?? '';
      for (const line of parts) {
        this.keep(line);
        hear(line);
      }
    });
  }

  private keep(line: string): void {
    this.output.push(line);
    if (this.output.length > LINES_MAX) this.output.shift();
  }
}
