// The parts of the frameworks that the adapters use, so that the package compiles without them. The tests in `frameworks/` compile
// against the real packages, and so do programs that use an adapter.

declare module "ai" {
  type Validation = { success: true; value: unknown } | { success: false; error: Error };
  export function asSchema(schema: unknown): {
    readonly jsonSchema: object | PromiseLike<object>;
    readonly validate?: (value: unknown) => Validation | PromiseLike<Validation>;
  };
  export type ModelMessage = { role: "system" | "user" | "assistant" | "tool"; content: string | object[] };
}

declare module "@openai/agents" {
  export interface Agent<TContext, TOutput> {
    name: string;
    outputType?: TOutput;
    context?: TContext;
  }
  export interface RunToolApprovalItem {
    readonly type: "tool_approval_item";
    readonly name: string | undefined;
    readonly arguments: string | undefined;
    rawItem: object;
  }
  export interface RunState<TContext, TAgent> {
    approve(item: RunToolApprovalItem, options?: { alwaysApprove?: boolean }): void;
    reject(item: RunToolApprovalItem, options?: { message?: string }): void;
    getInterruptions(): RunToolApprovalItem[];
    toString(): string;
    context?: TContext;
    agent?: TAgent;
  }
  export const RunState: {
    fromString<C, A>(agent: A, state: string): Promise<RunState<C, A>>;
    fromStringWithContext<C, A>(agent: A, state: string, context: RunContext<C>): Promise<RunState<C, A>>;
  };
  export class RunContext<T> {
    constructor(context?: T);
    context: T;
  }
  export interface RunResult<TContext, TAgent> {
    interruptions: RunToolApprovalItem[];
    state: RunState<TContext, TAgent>;
  }
  export interface NonStreamRunOptions<TContext, TAgent> {
    signal?: AbortSignal;
    context?: TContext | RunContext<TContext>;
    agent?: TAgent;
  }
  export interface AgentInputItem {
    type?: string;
  }
  export function run<TAgent, TContext>(
    agent: TAgent,
    input: string | AgentInputItem[] | RunState<TContext, TAgent>,
    options?: NonStreamRunOptions<TContext, TAgent>,
  ): Promise<RunResult<TContext, TAgent>>;
}
