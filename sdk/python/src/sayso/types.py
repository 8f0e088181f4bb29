"""The types of the HTTP API. Generated from docs/openapi.json by `make gen`; do not edit.

Values are plain dictionaries. The server only adds fields and event types, so ignore those that you do not know.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict, Union


class AckRequest(TypedDict):
    """Reports that the run was resumed. The state is deleted."""
    epoch: int


class _ActiveProfileRequired(TypedDict):
    name: str


class ActiveProfile(_ActiveProfileRequired, total=False):
    """A profile that is switched on."""
    until: Union[str, None]


class _ActorRequired(TypedDict):
    kind: str


class Actor(_ActorRequired, total=False):
    """The person or mechanism that decided an ask."""
    name: Union[str, None]
    via: Union[str, None]
    tokenId: Union[str, None]
    rule: Union[str, None]
    after: Union[str, None]


class _AgentRequired(TypedDict):
    name: str
    protocol: str
    installed: bool
    capabilities: Capabilities


class Agent(_AgentRequired, total=False):
    """An agent that Sayso can start."""
    command: Union[str, None]
    install: Union[str, None]
    attached: list[Attachment]


class AgentList(TypedDict):
    """All configured agents."""
    data: list[Agent]


class _AgentQuestionAnsweredEventRequired(TypedDict):
    at: str
    type: Literal["agent_question_answered"]
    data: QuestionAnswered


class AgentQuestionAnsweredEvent(_AgentQuestionAnsweredEventRequired, total=False):
    """A question of a step's agent got its outcome from a person, a rule, a policy default or a timeout."""
    seq: int
    sessionId: Union[str, None]


class _AgentQuestionAskedEventRequired(TypedDict):
    at: str
    type: Literal["agent_question_asked"]
    data: QuestionAsked


class AgentQuestionAskedEvent(_AgentQuestionAskedEventRequired, total=False):
    """The agent of a step asked a question that needs a person."""
    seq: int
    sessionId: Union[str, None]


class AgentsStopped(TypedDict):
    """The result of stopping all agents."""
    stopped: int


class _AnswerRequestRequired(TypedDict):
    answers: list[list[str]]


class AnswerRequest(_AnswerRequestRequired, total=False):
    """Answers all questions of an ask."""
    note: Union[str, None]


class _ApprovalRequired(TypedDict):
    tool: str
    action: ActionKind


class Approval(_ApprovalRequired, total=False):
    """A request to use a tool with the given input."""
    command: Union[str, None]
    paths: list[str]
    url: Union[str, None]
    server: Union[str, None]
    title: str
    input: dict[str, Any]
    preview: Union[Preview, None]
    choices: list[Choice]
    editable: bool
    allowedDecisions: Union[list[ApprovalDecision], None]
    inputSchema: Union[dict[str, Any], None]
    reason: Union[str, None]


class ApprovalDefaults(TypedDict, total=False):
    """Settings for approvals that no rule matches. Missing fields are inherited from the enclosing scope."""
    policy: Union[ApprovalDefault, None]
    timeout: Union[str, None]
    message: Union[str, None]


class _ApprovalRequestedEventRequired(TypedDict):
    at: str
    type: Literal["approval.requested"]
    data: AskEvent


class ApprovalRequestedEvent(_ApprovalRequestedEventRequired, total=False):
    """An approval needs a decision from a person."""
    seq: int
    sessionId: Union[str, None]


class _ApprovalResolvedEventRequired(TypedDict):
    at: str
    type: Literal["approval.resolved"]
    data: AskEvent


class ApprovalResolvedEvent(_ApprovalResolvedEventRequired, total=False):
    """An approval got its outcome."""
    seq: int
    sessionId: Union[str, None]


class ApproveRequest(TypedDict, total=False):
    """Approves an approval or link."""
    choice: Union[str, None]
    input: Union[dict[str, Any], None]
    contentDigest: Union[str, None]


class _AskRequired(TypedDict):
    id: str
    agent: str
    kind: AskKind
    status: AskStatus
    toolCallId: str
    title: str
    blocking: bool
    openedAt: str
    labels: dict[str, str]


class Ask(_AskRequired, total=False):
    """Something that an agent needs a person to decide."""
    sessionId: Union[str, None]
    askedBy: Union[str, None]
    agentReported: bool
    reach: Union[Reach, None]
    project: Union[str, None]
    branch: Union[str, None]
    subagent: Union[str, None]
    context: Union[str, None]
    deadlineAt: Union[str, None]
    onTimeout: Union[OnTimeout, None]
    snoozedUntil: Union[str, None]
    runId: Union[str, None]
    stepId: Union[str, None]
    why: Union[str, None]
    whyCode: Union[TextCode, None]
    questions: list[Question]
    approval: Union[Approval, None]
    link: Union[Link, None]
    digest: Union[str, None]
    executes: Union[ExecutedCode, None]
    outcome: Union[Outcome, None]
    delivery: Union[Delivery, None]
    deliveryReason: Union[str, None]
    deliveryCode: Union[TextCode, None]
    truncated: bool
    raw: Union[dict[str, Any], None]


class _AskDeliveryRequired(TypedDict):
    id: str
    delivery: Delivery


class AskDelivery(_AskDeliveryRequired, total=False):
    """The payload of `ask.delivery`."""
    deliveryReason: Union[str, None]
    deliveryCode: Union[TextCode, None]


class _AskDeliveryEventRequired(TypedDict):
    at: str
    type: Literal["ask.delivery"]
    data: AskDelivery


class AskDeliveryEvent(_AskDeliveryEventRequired, total=False):
    """The delivery of an outcome to the agent progressed or failed."""
    seq: int
    sessionId: Union[str, None]


class AskEvent(Ask, total=False):
    """The payload of events about an ask."""
    question: Union[QuestionEventData, None]


class _AskFileRequired(TypedDict):
    path: str


class AskFile(_AskFileRequired, total=False):
    """The content of one file."""
    text: Union[str, None]
    truncated: bool
    size: Union[int, None]
    digest: Union[str, None]


class _AskFilesRequired(TypedDict):
    files: list[AskFile]


class AskFiles(_AskFilesRequired, total=False):
    """The current content of the files that an ask executes. Only tokens that may answer can read it."""
    digest: Union[str, None]
    unlisted: bool


class _AskPageRequired(TypedDict):
    data: list[Ask]
    seq: int


class AskPage(_AskPageRequired, total=False):
    """One page of a list of asks."""
    nextCursor: Union[str, None]
    pending: Union[int, None]
    truncated: bool


class AskParked(TypedDict):
    """The payload of `ask.parked`."""
    id: str
    reach: Reach


class _AskParkedEventRequired(TypedDict):
    at: str
    type: Literal["ask.parked"]
    data: AskParked


class AskParkedEvent(_AskParkedEventRequired, total=False):
    """An ask was parked, or became live again."""
    seq: int
    sessionId: Union[str, None]


class _AskSnoozedRequired(TypedDict):
    id: str


class AskSnoozed(_AskSnoozedRequired, total=False):
    """The payload of `ask.snoozed`."""
    snoozedUntil: Union[str, None]


class _AskSnoozedEventRequired(TypedDict):
    at: str
    type: Literal["ask.snoozed"]
    data: AskSnoozed


class AskSnoozedEvent(_AskSnoozedEventRequired, total=False):
    """An ask was snoozed, or returned to the inbox."""
    seq: int
    sessionId: Union[str, None]


class _AttachmentRequired(TypedDict):
    id: str
    agent: str
    place: str
    state: AttachmentState
    capabilities: Capabilities


class Attachment(_AttachmentRequired, total=False):
    """A server of an agent that someone else started and that Sayso is attached to."""
    problem: Union[str, None]
    version: Union[str, None]


class _CapabilitiesRequired(TypedDict):
    questions: bool
    approvals: bool
    plans: bool
    elicitation: bool
    resume: bool
    survivesRestart: bool
    messageAnswersSets: bool


class Capabilities(_CapabilitiesRequired, total=False):
    """What an agent supports."""
    changeSettings: bool


class _CertificateRequired(TypedDict):
    file: str


class Certificate(_CertificateRequired, total=False):
    """The TLS certificate that the server presents to other devices."""
    expiresAt: Union[str, None]
    problem: Union[str, None]


class ChangeSession(TypedDict, total=False):
    """Changes the permission mode or the model of a session. Fields that are left out keep their value."""
    permissionMode: Union[str, None]
    model: Union[str, None]


class _ChannelRequired(TypedDict):
    name: str
    kind: str
    content: bool
    gone: bool


class Channel(_ChannelRequired, total=False):
    """A notification channel, without its secrets."""
    after: Union[str, None]
    then: Union[Then, None]
    quiet: Union[str, None]
    person: Union[str, None]
    lastFailure: Union[str, None]


class ChannelList(TypedDict):
    """All configured notification channels."""
    data: list[Channel]


class _CheckpointOption2Required(TypedDict):
    label: str


class CheckpointOption2(_CheckpointOption2Required, total=False):
    """A label with a description."""
    description: Union[str, None]


class Choice(TypedDict):
    """A way of approving that the agent offers, such as "Allow for this session"."""
    id: str
    label: str


class _ClaimRequired(TypedDict):
    group: Group
    epoch: int


class Claim(_ClaimRequired, total=False):
    """The right to resume one run."""
    state: Union[str, None]
    resumeRef: Union[str, None]


class ClaimRequest(TypedDict, total=False):
    """Claims one complete group: the oldest one with a name, or one by id."""
    name: Union[str, None]
    group: Union[str, None]
    worker: str
    lease: Union[str, None]


class _EditPolicyRequired(TypedDict):
    text: str


class EditPolicy(_EditPolicyRequired, total=False):
    """Applies edits to a policy text, which does not have to be saved. The policy file stays unchanged."""
    edits: list[PolicyEdit]


class _ErrorBlockRequired(TypedDict):
    id: str
    at: str
    text: str


class ErrorBlock(_ErrorBlockRequired, total=False):
    """The payload of `error`: the error as a block of the transcript."""
    subagent: Union[str, None]
    type: ErrorType


class _ErrorEventRequired(TypedDict):
    at: str
    type: Literal["error"]
    data: ErrorBlock


class ErrorEvent(_ErrorEventRequired, total=False):
    """An error happened in a session."""
    seq: int
    sessionId: Union[str, None]


class _ExecutedCodeRequired(TypedDict):
    files: list[str]


class ExecutedCode(_ExecutedCodeRequired, total=False):
    """The project files that a command executes, as far as the command line names them."""
    unlisted: bool
    readable: bool


class ExplainRequest(TypedDict, total=False):
    """Asks how a policy decides: one ask (`askId`), all pending asks (`pending`) or past asks (`history`)."""
    askId: Union[str, None]
    policy: Union[str, None]
    pending: bool
    history: Union[int, None]


class _ExplainedRequired(TypedDict):
    askId: str
    summary: str
    status: AskStatus
    verdict: str
    because: str


class Explained(_ExplainedRequired, total=False):
    """The decision of a policy about one ask."""
    considered: Union[dict[str, Any], None]


class _ExplanationRequired(TypedDict):
    data: list[Explained]


class Explanation(_ExplanationRequired, total=False):
    """The decisions of a policy."""
    truncated: bool


class _ExternalNewsRequired(TypedDict):
    agent: str
    sessionId: str
    event: ExternalEvent


class ExternalNews(_ExternalNewsRequired, total=False):
    """Reports an event of an external agent, so that Sayso can withdraw asks that were decided in its terminal."""
    dedupeKey: Union[str, None]


class ExternalNewsTaken(TypedDict):
    """The result of reporting an event."""
    withdrawn: list[str]


class _ExternalSessionRequired(TypedDict):
    agent: str
    sessionId: str
    cwd: str


class ExternalSession(_ExternalSessionRequired, total=False):
    """The session of an external agent, as the agent identifies it."""
    title: Union[str, None]
    branch: Union[str, None]


class FileDiff(TypedDict):
    """The change to one file."""
    path: str
    diff: str


class FormRule(TypedDict):
    """A rule with its place in the file."""
    place: int
    key: str
    label: str
    rule: PolicyRule


class GatewayEvent1Data(TypedDict):
    """A fragment of assistant text."""
    text: str


class GatewayEvent1(TypedDict):
    """A fragment of assistant text."""
    data: GatewayEvent1Data
    type: Literal["text_delta"]


class GatewayEvent2Data(TypedDict):
    """The agent started a tool call."""
    toolCallId: str
    toolName: str


class GatewayEvent2(TypedDict):
    """The agent started a tool call."""
    data: GatewayEvent2Data
    type: Literal["tool_call_start"]


class GatewayEvent3Data(TypedDict):
    """The arguments of a tool call."""
    toolCallId: str
    input: str


class GatewayEvent3(TypedDict):
    """The arguments of a tool call."""
    data: GatewayEvent3Data
    type: Literal["tool_call_delta"]


class GatewayEvent4Data(TypedDict):
    """The arguments of the tool call are complete."""
    toolCallId: str


class GatewayEvent4(TypedDict):
    """The arguments of the tool call are complete."""
    data: GatewayEvent4Data
    type: Literal["tool_call_end"]


class GatewayEvent5Data(TypedDict):
    """The tool call finished."""
    toolCallId: str
    toolName: str
    result: str
    status: str


class GatewayEvent5(TypedDict):
    """The tool call finished."""
    data: GatewayEvent5Data
    type: Literal["tool_result"]


class GatewayEvent6Data(TypedDict):
    """The agent needs approval before it runs a tool."""
    toolCallId: str
    toolName: str
    input: str


class GatewayEvent6(TypedDict):
    """The agent needs approval before it runs a tool."""
    data: GatewayEvent6Data
    type: Literal["approval_required"]


class GatewayEvent7Data(TypedDict):
    """The agent asked questions and waits for the answers."""
    toolCallId: str
    questions: list[QuestionItem]


class GatewayEvent7(TypedDict):
    """The agent asked questions and waits for the answers."""
    data: GatewayEvent7Data
    type: Literal["question_prompt"]


class GatewayEvent8Data(TypedDict):
    """An error in the session."""
    message: str


class GatewayEvent8(TypedDict):
    """An error in the session."""
    data: GatewayEvent8Data
    type: Literal["error"]


class GatewayEvent9Data(TypedDict):
    """The agent finished its turn."""
    sessionId: str


class GatewayEvent9(TypedDict):
    """The agent finished its turn."""
    data: GatewayEvent9Data
    type: Literal["done"]


class GatewayEvent10Data(TypedDict):
    """The status of the session changed."""
    sessionId: str
    status: str


class GatewayEvent10(TypedDict):
    """The status of the session changed."""
    data: GatewayEvent10Data
    type: Literal["session_status"]


class _GrantRequired(TypedDict):
    id: str
    run: list[str]


class Grant(_GrantRequired, total=False):
    """A temporary rule that allows actions."""
    edit: list[str]
    read: list[str]
    fetch: list[str]
    mcp: list[str]
    tool: list[str]
    project: Union[str, None]
    until: Union[str, None]


class _GroupRequired(TypedDict):
    id: str
    name: str
    status: GroupStatus
    asks: list[Ask]
    epoch: int
    retry: bool
    openedAt: str


class Group(_GroupRequired, total=False):
    """One group. The state is not part of it."""
    key: Union[str, None]
    worker: Union[str, None]
    leaseUntil: Union[str, None]
    uncertainAsk: Union[str, None]
    callback: Union[str, None]


class Health(TypedDict):
    """The state of the server."""
    status: str
    version: str


class _ItemOptionRequired(TypedDict):
    label: str


class ItemOption(_ItemOptionRequired, total=False):
    """An option in the gateway dialect."""
    description: Union[str, None]


class _LinkRequired(TypedDict):
    url: str


class Link(_LinkRequired, total=False):
    """A request to open a URL in a browser."""
    message: Union[str, None]


class _LinkRequestedEventRequired(TypedDict):
    at: str
    type: Literal["link.requested"]
    data: AskEvent


class LinkRequestedEvent(_LinkRequestedEventRequired, total=False):
    """A link needs a decision from a person."""
    seq: int
    sessionId: Union[str, None]


class _LinkResolvedEventRequired(TypedDict):
    at: str
    type: Literal["link.resolved"]
    data: AskEvent


class LinkResolvedEvent(_LinkResolvedEventRequired, total=False):
    """A link got its outcome."""
    seq: int
    sessionId: Union[str, None]


class Listener(TypedDict):
    """One address at which the server listens."""
    address: str
    url: str
    main: bool


class _ListenerListRequired(TypedDict):
    data: list[Listener]


class ListenerList(_ListenerListRequired, total=False):
    """All addresses at which the server listens."""
    publicUrl: Union[str, None]
    suggested: Union[str, None]
    certificate: Union[Certificate, None]


class LoginCode(TypedDict):
    """A code that signs a browser in. It works once."""
    code: str
    url: str
    expiresAt: str


class _LoginRequestRequired(TypedDict):
    code: str


class LoginRequest(_LoginRequestRequired, total=False):
    """Exchanges a login code for a token that belongs to this browser."""
    device: Union[str, None]


class _MessageAcceptedRequired(TypedDict):
    messageId: str


class MessageAccepted(_MessageAcceptedRequired, total=False):
    """The result of sending a message."""
    answered: Union[Ask, None]


class _MessageBlockRequired(TypedDict):
    id: str
    at: str
    role: MessageRole
    text: str


class MessageBlock(_MessageBlockRequired, total=False):
    """The payload of `message.completed`: the message as a block of the transcript."""
    subagent: Union[str, None]
    type: MessageType


class _MessageCompletedEventRequired(TypedDict):
    at: str
    type: Literal["message.completed"]
    data: MessageBlock


class MessageCompletedEvent(_MessageCompletedEventRequired, total=False):
    """A message is complete."""
    seq: int
    sessionId: Union[str, None]


class MessageDelta(TypedDict):
    """The payload of `message.delta`."""
    messageId: str
    text: str


class _MessageDeltaEventRequired(TypedDict):
    at: str
    type: Literal["message.delta"]
    data: MessageDelta


class MessageDeltaEvent(_MessageDeltaEventRequired, total=False):
    """A fragment of a message. Sent to live subscribers only: it has no `seq` and is not stored."""
    seq: int
    sessionId: Union[str, None]


class _MessageRequestRequired(TypedDict):
    text: str


class MessageRequest(_MessageRequestRequired, total=False):
    """Sends a message to the agent."""
    ifPending: IfPending


class NewAsk(TypedDict, total=False):
    """Opens an ask. Set exactly one of `questions`, `approval` and `link`."""
    sessionId: Union[str, None]
    external: Union[ExternalSession, None]
    agent: Union[str, None]
    title: Union[str, None]
    project: Union[str, None]
    branch: Union[str, None]
    subagent: Union[str, None]
    toolCallId: Union[str, None]
    context: Union[str, None]
    questions: Union[list[Question], None]
    approval: Union[Approval, None]
    link: Union[Link, None]
    blocking: Union[bool, None]
    labels: dict[str, str]
    policyOnly: Union[bool, None]
    dedupeKey: Union[str, None]
    keep: Union[str, None]
    timeout: Union[str, None]


class _NewAttachmentRequired(TypedDict):
    agent: str
    place: str


class NewAttachment(_NewAttachmentRequired, total=False):
    """Attaches Sayso to a running server of an agent."""
    user: Union[str, None]
    password: Union[str, None]


class NewGroup(TypedDict, total=False):
    """Opens the asks at which a run pauses: all of them or none."""
    name: str
    key: Union[str, None]
    asks: list[NewAsk]
    askIds: list[str]
    state: Union[str, None]
    resumeRef: Union[str, None]
    callback: Union[str, None]
    retry: Union[bool, None]
    keep: Union[str, None]


class NewListener(TypedDict, total=False):
    """Makes the server reachable at a network address until that listener is closed or the server stops."""
    address: Union[str, None]


class NewLoginCode(TypedDict, total=False):
    """Creates a login code."""
    role: Union[Role, None]


class _NewNoticeRequired(TypedDict):
    text: str


class NewNotice(_NewNoticeRequired, total=False):
    """Sends people a message that needs no answer."""
    agent: Union[str, None]
    external: Union[ExternalSession, None]


class NewPush(TypedDict):
    """A push subscription of a browser: the fields `endpoint` and `keys` of `PushSubscription.toJSON()`."""
    endpoint: str
    keys: PushKeys


class _NewRunRequired(TypedDict):
    workflow: WorkflowSource


class NewRun(_NewRunRequired, total=False):
    """Starts a run of a workflow."""
    input: dict[str, str]
    directory: Union[str, None]
    labels: dict[str, str]
    environment: Union[dict[str, str], None]


class _NewSessionRequired(TypedDict):
    agent: str


class NewSession(_NewSessionRequired, total=False):
    """Starts a session."""
    cwd: Union[str, None]
    prompt: Union[str, None]
    permissionMode: Union[str, None]
    model: Union[str, None]
    policy: Union[dict[str, Any], None]
    labels: dict[str, str]
    environment: Union[dict[str, str], None]


class _NewTokenRequired(TypedDict):
    role: Role
    actor: str


class NewToken(_NewTokenRequired, total=False):
    """Creates a token."""
    sessionId: Union[str, None]
    labels: dict[str, str]
    agent: Union[str, None]
    project: Union[str, None]
    expiresIn: Union[str, None]


class NoRequest(TypedDict, total=False):
    """Rejects a question, or denies an approval or link."""
    message: Union[str, None]
    stop: bool


class _NoticeRequired(TypedDict):
    text: str


class Notice(_NoticeRequired, total=False):
    """The payload of `notice`. In a session, it is a block of the transcript; otherwise `agent` names the sender."""
    id: Union[str, None]
    at: Union[str, None]
    subagent: Union[str, None]
    type: Union[NoticeType, None]
    agent: Union[str, None]


class _NoticeEventRequired(TypedDict):
    at: str
    type: Literal["notice"]
    data: Notice


class NoticeEvent(_NoticeEventRequired, total=False):
    """An agent or a program sent people a message that needs no answer."""
    seq: int
    sessionId: Union[str, None]


class Ok(TypedDict):
    """The response of gateway calls that succeed."""
    ok: bool


class _OutcomeRequired(TypedDict):
    status: AskStatus
    by: Actor
    at: str


class Outcome(_OutcomeRequired, total=False):
    """How an ask ended."""
    answers: Union[list[ShownAnswer], None]
    note: Union[str, None]
    message: Union[str, None]
    messageCode: Union[TextCode, None]
    stop: bool
    choice: Union[str, None]
    input: Union[dict[str, Any], None]


class PolicyChanged(TypedDict):
    """The payload of `policy.changed`."""
    fingerprint: str
    valid: bool


class _PolicyChangedEventRequired(TypedDict):
    at: str
    type: Literal["policy.changed"]
    data: PolicyChanged


class PolicyChangedEvent(_PolicyChangedEventRequired, total=False):
    """The rules in force changed, or the policy file became valid or invalid."""
    seq: int
    sessionId: Union[str, None]


class PolicyEdit1(TypedDict):
    """Adds a rule after the last one."""
    rule: PolicyRule
    kind: Literal["addRule"]


class PolicyEdit2(TypedDict):
    """Replaces a rule. Comments and unchanged keys keep their text."""
    place: int
    rule: PolicyRule
    kind: Literal["setRule"]


class PolicyEdit3(TypedDict):
    """Removes a rule and the comment directly above it."""
    place: int
    kind: Literal["removeRule"]


class PolicyEdit4(TypedDict):
    """Moves a rule together with the comment directly above it."""
    place: int
    to: int
    kind: Literal["moveRule"]


class PolicyEdit5(TypedDict):
    """Sets the defaults for asks that no rule matches."""
    questions: QuestionDefaults
    approvals: ApprovalDefaults
    kind: Literal["setDefaults"]


class PolicyEdit6(TypedDict):
    """Sets the defaults of a profile. Adds the profile if it does not exist."""
    name: str
    questions: QuestionDefaults
    approvals: ApprovalDefaults
    kind: Literal["setProfile"]


class PolicyForm(TypedDict):
    """A policy text and its content as structured values."""
    text: str
    questions: QuestionDefaults
    approvals: ApprovalDefaults
    rules: list[FormRule]
    profiles: dict[str, ProfileDefaults]


class _PolicyRuleRequired(TypedDict):
    do: RuleEffect


class PolicyRule(_PolicyRuleRequired, total=False):
    """One rule of a policy. It matches an ask only if all conditions that it sets match."""
    id: Union[str, None]
    name: Union[str, None]
    run: list[str]
    edit: list[str]
    read: list[str]
    fetch: list[str]
    mcp: list[str]
    tool: list[str]
    agent: list[str]
    project: Union[str, None]
    header: Union[str, None]
    match: Union[str, None]
    answer: list[str]
    pick: Union[int, None]
    until: Union[str, None]
    message: Union[str, None]


class _PolicyViewRequired(TypedDict):
    path: str
    text: str
    fingerprint: str
    grants: list[Grant]


class PolicyView(_PolicyViewRequired, total=False):
    """The policy file and the rules in force."""
    error: Union[str, None]
    textFingerprint: str
    profile: Union[ActiveProfile, None]


class _PrecedentsRequired(TypedDict):
    approved: int
    denied: int


class Precedents(_PrecedentsRequired, total=False):
    """Earlier decisions of people about the same action: the same tool with the same command, files or address."""
    lastAt: Union[str, None]


class _Preview1Required(TypedDict):
    command: str
    type: Literal["command"]


class Preview1(_Preview1Required, total=False):
    """A command line that the tool would run."""
    cwd: Union[str, None]


class Preview2(TypedDict):
    """Changes that the tool would make to files."""
    files: list[FileDiff]
    type: Literal["diff"]


class Preview3(TypedDict):
    """A plan that the agent proposes."""
    text: str
    type: Literal["plan"]


class Preview4(TypedDict):
    """Any other description of the action."""
    text: str
    type: Literal["text"]


class _ProblemRequired(TypedDict):
    title: str
    status: int
    detail: str
    code: ErrorCode


class Problem(_ProblemRequired, total=False):
    """The body of an error response, as in RFC 9457. Fields after `code` are present only for the codes that mention
    them."""
    type: str
    error: Union[str, None]
    outcome: Union[Outcome, None]
    own: Union[bool, None]
    problems: list[QuestionProblem]
    asks: list[str]
    changes: list[FileDiff]
    faults: list[WorkflowFault]
    line: Union[int, None]
    column: Union[int, None]


class ProfileDefaults(TypedDict):
    """The defaults that a profile replaces."""
    questions: QuestionDefaults
    approvals: ApprovalDefaults


class PushInfo(TypedDict, total=False):
    """What a browser needs to subscribe to push notifications."""
    publicKey: Union[str, None]


class PushKeys(TypedDict):
    """The keys that the server uses to encrypt messages to a browser."""
    p256dh: str
    auth: str


class _QuestionRequired(TypedDict):
    text: str


class Question(_QuestionRequired, total=False):
    """One question of an ask."""
    key: Union[str, None]
    header: Union[str, None]
    input: InputKind
    multiple: bool
    custom: bool
    required: bool
    secret: bool
    minimum: Union[float, None]
    maximum: Union[float, None]
    integer: bool
    responseSchema: Union[dict[str, Any], None]
    options: list[QuestionOption]
    preselected: Union[list[str], None]


class _QuestionAnsweredRequired(TypedDict):
    runId: str
    stepId: str
    sessionId: str
    questionId: str
    status: AskStatus
    answers: list[ShownAnswer]
    timestamp: str
    by: Actor
    question: RunQuestion


class QuestionAnswered(_QuestionAnsweredRequired, total=False):
    """The payload of `agent_question_answered`, which is also sent when a rule, a policy default or a timeout
    decided."""
    message: Union[str, None]


class QuestionAsked(TypedDict):
    """The payload of `agent_question_asked`."""
    runId: str
    stepId: str
    sessionId: str
    question: RunQuestion
    timestamp: str


class QuestionDefaults(TypedDict, total=False):
    """Settings for questions that no rule matches. Missing fields are inherited from the enclosing scope."""
    policy: Union[QuestionDefault, None]
    timeout: Union[str, None]
    onTimeout: Union[QuestionTimeout, None]
    message: Union[str, None]


class _QuestionEventDataRequired(TypedDict):
    questionId: str
    prompt: str
    options: list[str]
    status: QuestionStatus
    questions: list[Question]


class QuestionEventData(_QuestionEventDataRequired, total=False):
    """The question REST dialect's view of an ask. `question.*` events carry it as `question`, next to the ask."""
    response: Union[str, None]
    reason: Union[str, None]


class QuestionItem(TypedDict):
    """One question in the gateway dialect."""
    header: str
    question: str
    options: list[ItemOption]
    multiSelect: bool


class _QuestionOptionRequired(TypedDict):
    label: str


class QuestionOption(_QuestionOptionRequired, total=False):
    """An option of a question."""
    value: Union[str, None]
    description: Union[str, None]
    preview: Union[str, None]
    recommended: bool


class QuestionProblem(TypedDict):
    """Why the answer to one question is invalid."""
    index: int
    key: str
    reason: str


class QuestionReplyRequest(TypedDict):
    """The body of a reply in the question REST dialect."""
    answers: list[list[str]]


class _QuestionRequestedEventRequired(TypedDict):
    at: str
    type: Literal["question.requested"]
    data: AskEvent


class QuestionRequestedEvent(_QuestionRequestedEventRequired, total=False):
    """A question needs an answer from a person."""
    seq: int
    sessionId: Union[str, None]


class _QuestionResolvedEventRequired(TypedDict):
    at: str
    type: Literal["question.resolved"]
    data: AskEvent


class QuestionResolvedEvent(_QuestionResolvedEventRequired, total=False):
    """A question got its outcome."""
    seq: int
    sessionId: Union[str, None]


class ReadyGroups(TypedDict):
    """Whether a group can be claimed."""
    ready: int


class _ReleaseRequestRequired(TypedDict):
    epoch: int


class ReleaseRequest(_ReleaseRequestRequired, total=False):
    """Releases a claim."""
    started: bool
    reason: Union[str, None]


class _RenewRequestRequired(TypedDict):
    epoch: int


class RenewRequest(_RenewRequestRequired, total=False):
    """Extends the lease of a claim."""
    lease: Union[str, None]


class ResetEvent(TypedDict):
    """Tells the client that the requested position is no longer available. List the resources again and continue the
    stream at `seq`. A reset is not an event and has no time."""
    seq: int
    type: ResetType
    data: NoData


class _RuleHitsRequired(TypedDict):
    rule: str
    hits: int


class RuleHits(_RuleHitsRequired, total=False):
    """How often one rule decided an ask or left it to a person."""
    lastAt: Union[str, None]


class RuleHitsList(TypedDict):
    """How often each rule of the saved policy matched."""
    since: str
    data: list[RuleHits]


class _RunRequired(TypedDict):
    id: str
    workflow: str
    status: RunStatus
    input: dict[str, str]
    directory: str
    steps: list[RunStep]
    outputs: dict[str, str]
    pending: int
    labels: dict[str, str]
    createdAt: str
    updatedAt: str


class Run(_RunRequired, total=False):
    """One execution of a workflow."""
    reason: Union[str, None]
    pendingQuestions: list[RunQuestion]
    pendingCheckpoints: list[str]
    pendingApprovals: list[str]
    truncated: bool
    seq: Union[int, None]


class RunAnswerRequest(TypedDict, total=False):
    """Answers or rejects a pending question of a run. Set exactly one of `answers` and `reject`."""
    answers: Union[list[list[str]], None]
    reject: Union[bool, None]
    message: Union[str, None]


class RunAnswered(TypedDict):
    """The result of answering or rejecting a question."""
    status: str


class _RunCancelledEventRequired(TypedDict):
    at: str
    type: Literal["run.cancelled"]
    data: RunNews


class RunCancelledEvent(_RunCancelledEventRequired, total=False):
    """A person cancelled a run."""
    seq: int
    sessionId: Union[str, None]


class _RunCompletedEventRequired(TypedDict):
    at: str
    type: Literal["run.completed"]
    data: RunNews


class RunCompletedEvent(_RunCompletedEventRequired, total=False):
    """A run completed all its steps."""
    seq: int
    sessionId: Union[str, None]


class _RunFailedEventRequired(TypedDict):
    at: str
    type: Literal["run.failed"]
    data: RunNews


class RunFailedEvent(_RunFailedEventRequired, total=False):
    """A run failed."""
    seq: int
    sessionId: Union[str, None]


class _RunNewsRequired(TypedDict):
    runId: str
    workflow: str
    status: RunStatus


class RunNews(_RunNewsRequired, total=False):
    """The payload of `run.started`, `run.completed`, `run.failed` and `run.cancelled`."""
    reason: Union[str, None]


class _RunPageRequired(TypedDict):
    data: list[Run]
    seq: int


class RunPage(_RunPageRequired, total=False):
    """One page of a list of runs, newest first."""
    nextCursor: Union[str, None]
    truncated: bool


class _RunQuestionRequired(TypedDict):
    id: str
    stepId: str
    sessionId: str
    questions: list[RunQuestionItem]
    askedAt: str


class RunQuestion(_RunQuestionRequired, total=False):
    """The questions of one ask of a step's agent."""
    deadlineAt: Union[str, None]
    onTimeout: Union[OnTimeout, None]


class _RunQuestionItemRequired(TypedDict):
    question: str
    header: str
    options: list[RunQuestionOption]
    multiple: bool


class RunQuestionItem(_RunQuestionItemRequired, total=False):
    """One question of the ask."""
    custom: bool


class _RunQuestionOptionRequired(TypedDict):
    label: str


class RunQuestionOption(_RunQuestionOptionRequired, total=False):
    """An option of a question."""
    description: Union[str, None]


class _RunStartedEventRequired(TypedDict):
    at: str
    type: Literal["run.started"]
    data: RunNews


class RunStartedEvent(_RunStartedEventRequired, total=False):
    """A run started."""
    seq: int
    sessionId: Union[str, None]


class _RunStepRequired(TypedDict):
    id: str
    status: str
    attempts: int


class RunStep(_RunStepRequired, total=False):
    """One step of a run."""
    agent: Union[str, None]
    onQuestion: Union[str, None]
    question: Union[str, None]
    sessionId: Union[str, None]
    askId: Union[str, None]
    output: Union[str, None]
    reason: Union[str, None]
    startedAt: Union[str, None]
    endedAt: Union[str, None]


class _SessionRequired(TypedDict):
    id: str
    agent: str
    title: str
    cwd: str
    status: SessionStatus
    permissionMode: str
    labels: dict[str, str]
    createdAt: str
    updatedAt: str
    pending: int


class Session(_SessionRequired, total=False):
    """One conversation with one agent."""
    branch: Union[str, None]
    reason: Union[str, None]
    resumable: bool
    model: Union[str, None]
    policy: dict[str, Any]
    external: bool
    nativeId: Union[str, None]
    asks: Union[list[Ask], None]
    truncated: bool
    seq: Union[int, None]


class _SessionCreatedEventRequired(TypedDict):
    at: str
    type: Literal["session.created"]
    data: Session


class SessionCreatedEvent(_SessionCreatedEventRequired, total=False):
    """A session was created."""
    seq: int
    sessionId: Union[str, None]


class _SessionEndedEventRequired(TypedDict):
    at: str
    type: Literal["session.ended"]
    data: SessionStatusChange


class SessionEndedEvent(_SessionEndedEventRequired, total=False):
    """A session ended."""
    seq: int
    sessionId: Union[str, None]


class _SessionPageRequired(TypedDict):
    data: list[Session]
    seq: int


class SessionPage(_SessionPageRequired, total=False):
    """One page of a list of sessions, newest first."""
    nextCursor: Union[str, None]
    truncated: bool


class _SessionStatusChangeRequired(TypedDict):
    status: SessionStatus


class SessionStatusChange(_SessionStatusChangeRequired, total=False):
    """The payload of `session.status` and `session.ended`."""
    reason: Union[str, None]
    resumable: bool
    permissionMode: Union[str, None]
    model: Union[str, None]


class _SessionStatusEventRequired(TypedDict):
    at: str
    type: Literal["session.status"]
    data: SessionStatusChange


class SessionStatusEvent(_SessionStatusEventRequired, total=False):
    """The status of a session changed."""
    seq: int
    sessionId: Union[str, None]


class SetPolicy(TypedDict):
    """Replaces the text of the policy file."""
    text: str
    ifFingerprint: str


class ShownAnswer2(TypedDict):
    """The answer is a secret and is never displayed."""
    secret: bool


class SnoozeRequest(TypedDict, total=False):
    """Hides an ask from the inbox for a while, without deciding it."""
    until: Union[str, None]


class _StepCancelledEventRequired(TypedDict):
    at: str
    type: Literal["step.cancelled"]
    data: StepNews


class StepCancelledEvent(_StepCancelledEventRequired, total=False):
    """A step of a run was cancelled, before or after it started."""
    seq: int
    sessionId: Union[str, None]


class _StepCompletedEventRequired(TypedDict):
    at: str
    type: Literal["step.completed"]
    data: StepNews


class StepCompletedEvent(_StepCompletedEventRequired, total=False):
    """A step of a run completed."""
    seq: int
    sessionId: Union[str, None]


class _StepFailedEventRequired(TypedDict):
    at: str
    type: Literal["step.failed"]
    data: StepNews


class StepFailedEvent(_StepFailedEventRequired, total=False):
    """A step of a run failed."""
    seq: int
    sessionId: Union[str, None]


class StepNews(RunStep):
    """The payload of `step.started`, `step.completed`, `step.failed` and `step.cancelled`."""
    runId: str
    stepId: str


class _StepStartedEventRequired(TypedDict):
    at: str
    type: Literal["step.started"]
    data: StepNews


class StepStartedEvent(_StepStartedEventRequired, total=False):
    """A step of a run started."""
    seq: int
    sessionId: Union[str, None]


class SubmitAnswers(TypedDict):
    """Answers the questions of one tool call in the gateway dialect."""
    toolCallId: Union[str, None]
    answers: Union[dict[str, str], None]


class TestChannels(TypedDict, total=False):
    """Sends a test notification."""
    name: Union[str, None]


class _TestedRequired(TypedDict):
    name: str
    kind: str
    sent: bool


class Tested(_TestedRequired, total=False):
    """The result of testing one channel."""
    failure: Union[str, None]


class TestedList(TypedDict):
    """The results of a test."""
    data: list[Tested]


class _TextCodeRequired(TypedDict):
    code: str


class TextCode(_TextCodeRequired, total=False):
    """The code and the parameters of a text that Sayso wrote. Clients that do not know the code show the text."""
    params: dict[str, str]


class Then(TypedDict):
    """The next channel of an escalation."""
    name: str
    after: str


class _TokenRequired(TypedDict):
    id: str
    role: Role
    actor: str
    createdAt: str


class Token(_TokenRequired, total=False):
    """A token, without its secret."""
    device: Union[str, None]
    sessionId: Union[str, None]
    labels: dict[str, str]
    agent: Union[str, None]
    project: Union[str, None]
    expiresAt: Union[str, None]
    revokedAt: Union[str, None]
    lastUsedAt: Union[str, None]


class CreatedToken(Token, total=False):
    """A new token with its secret, which is shown only in this response."""
    token: Union[str, None]


class TokenList(TypedDict):
    """All tokens that exist."""
    data: list[Token]


class _ToolBlockRequired(TypedDict):
    id: str
    at: str
    toolCallId: str
    name: str
    status: ToolCallStatus


class ToolBlock(_ToolBlockRequired, total=False):
    """The payload of `tool.started`, `tool.updated` and `tool.completed`: the tool call as a block of the
    transcript."""
    subagent: Union[str, None]
    type: ToolType
    input: Any
    output: Union[str, None]


class ToolCallRef(TypedDict):
    """Refers to a tool call in the gateway dialect."""
    toolCallId: Union[str, None]


class _ToolCompletedEventRequired(TypedDict):
    at: str
    type: Literal["tool.completed"]
    data: ToolBlock


class ToolCompletedEvent(_ToolCompletedEventRequired, total=False):
    """A tool call finished."""
    seq: int
    sessionId: Union[str, None]


class _ToolStartedEventRequired(TypedDict):
    at: str
    type: Literal["tool.started"]
    data: ToolBlock


class ToolStartedEvent(_ToolStartedEventRequired, total=False):
    """A tool call started."""
    seq: int
    sessionId: Union[str, None]


class _ToolUpdatedEventRequired(TypedDict):
    at: str
    type: Literal["tool.updated"]
    data: ToolBlock


class ToolUpdatedEvent(_ToolUpdatedEventRequired, total=False):
    """A tool call changed."""
    seq: int
    sessionId: Union[str, None]


class _TranscriptRequired(TypedDict):
    data: list[dict[str, Any]]
    seq: int


class Transcript(_TranscriptRequired, total=False):
    """A part of a transcript: messages, tool calls, notices and asks in chronological order."""
    nextCursor: Union[str, None]
    truncated: bool


class TrustRequest(TypedDict):
    """Trusts the `.sayso.toml` of a project in its current state."""
    directory: str


class Trusted(TypedDict):
    """The project policy that is now trusted."""
    path: str
    hash: str


class _WorkflowCheckpointRequired(TypedDict):
    question: str


class WorkflowCheckpoint(_WorkflowCheckpointRequired, total=False):
    """A question to a person at which the run pauses. The answer is the output of the step."""
    header: Union[str, None]
    input: Union[CheckpointInput, None]
    options: list[CheckpointOption]
    multiple: bool
    custom: bool
    minimum: Union[float, None]
    maximum: Union[float, None]
    integer: bool


class _WorkflowFaultRequired(TypedDict):
    path: str
    message: str


class WorkflowFault(_WorkflowFaultRequired, total=False):
    """One mistake in a workflow."""
    line: Union[int, None]
    column: Union[int, None]


class _WorkflowFileRequired(TypedDict):
    name: str
    steps: list[WorkflowStep]


class WorkflowFile(_WorkflowFileRequired, total=False):
    """The content of a workflow file."""
    description: Union[str, None]
    directory: Union[str, None]
    inputs: dict[str, WorkflowInput]


class WorkflowInput(TypedDict, total=False):
    """A declared input of a workflow."""
    description: Union[str, None]
    default: Union[str, None]


class _WorkflowStepRequired(TypedDict):
    id: str


class WorkflowStep(_WorkflowStepRequired, total=False):
    """One step: an `agent` with a `prompt`, a group of `parallel` steps, or a `checkpoint`."""
    agent: Union[str, None]
    prompt: Union[str, None]
    directory: Union[str, None]
    model: Union[str, None]
    permission_mode: Union[str, None]
    questions: Union[StepQuestions, None]
    question_timeout: Union[str, None]
    on_timeout: Union[OnTimeout, None]
    message: Union[str, None]
    approvals: Union[dict[str, Any], None]
    rules: list[dict[str, Any]]
    if_agent_dies: Union[IfAgentDies, None]
    parallel: Union[list[WorkflowStep], None]
    on_failure: Union[OnFailure, None]
    checkpoint: Union[WorkflowCheckpoint, None]


ActionKind = Literal["run", "edit", "read", "fetch", "mcp", "plan", "mode", "other"]
ApprovalDecision = Literal["approve", "edit", "deny"]
ApprovalDefault = Literal["allow", "ask", "deny"]
AskKind = Literal["question", "approval", "link"]
AskStatus = Literal["pending", "answered", "rejected", "approved", "denied", "withdrawn"]
AttachmentState = Literal["connecting", "connected", "unreachable"]
CheckpointInput = Literal["choice", "text", "number", "yes-no"]
CheckpointOption = Union[str, CheckpointOption2]
Delivery = Literal["queued", "delivered", "confirmed", "withheld", "undeliverable"]
ErrorCode = Literal["malformed_request", "invalid_request", "unauthorized", "forbidden", "identity_refused", "foreign_origin", "foreign_host", "not_found", "ask_not_found", "session_not_found", "run_not_found", "question_not_found", "method_not_allowed", "ask_already_resolved", "content_changed", "ask_pending", "wrong_kind", "invalid_answers", "decision_not_allowed", "invalid_input", "invalid_schema", "invalid_link", "link_expired", "session_ended", "run_ended", "not_resumable", "settings_fixed", "not_decided", "external_session", "idempotency_key_reused", "dedupe_key_reused", "outcome_taken", "group_not_found", "group_not_ready", "group_ended", "claim_lost", "state_unreadable", "unknown_callback", "limit_exceeded", "too_large", "byte_quota_exceeded", "request_timeout", "rate_limited", "invalid_policy", "policy_changed", "invalid_workflow", "unknown_agent", "agent_not_installed", "agent_unreachable", "directory_not_allowed", "storage_full", "shutting_down", "internal"]
ErrorType = Literal["error"]
Event = Union[QuestionRequestedEvent, QuestionResolvedEvent, ApprovalRequestedEvent, ApprovalResolvedEvent, LinkRequestedEvent, LinkResolvedEvent, AskParkedEvent, AskSnoozedEvent, AskDeliveryEvent, SessionCreatedEvent, SessionStatusEvent, SessionEndedEvent, MessageDeltaEvent, MessageCompletedEvent, ToolStartedEvent, ToolUpdatedEvent, ToolCompletedEvent, NoticeEvent, ErrorEvent, PolicyChangedEvent, RunStartedEvent, RunCompletedEvent, RunFailedEvent, RunCancelledEvent, StepStartedEvent, StepCompletedEvent, StepFailedEvent, StepCancelledEvent, AgentQuestionAskedEvent, AgentQuestionAnsweredEvent, ResetEvent]
ExternalEvent = Literal["toolDone", "prompted", "turnEnded", "ended"]
GatewayEvent = Union[GatewayEvent1, GatewayEvent2, GatewayEvent3, GatewayEvent4, GatewayEvent5, GatewayEvent6, GatewayEvent7, GatewayEvent8, GatewayEvent9, GatewayEvent10]
GroupStatus = Literal["pending", "ready", "claimed", "uncertain", "acknowledged", "abandoned", "withdrawn", "expired"]
IfAgentDies = Literal["fail", "retry"]
IfPending = Literal["refuse", "queue"]
InputKind = Literal["choice", "text", "number", "yesNo"]
MessageRole = Literal["user", "assistant"]
MessageType = Literal["message"]
NewGrant = TypedDict("NewGrant", {"run": "list[str]", "edit": "list[str]", "read": "list[str]", "fetch": "list[str]", "mcp": "list[str]", "tool": "list[str]", "for": "Union[str, None]", "until": "Union[str, None]", "project": "Union[str, None]"}, total=False)
NoData = dict[str, Any]
NoticeType = Literal["notice"]
OnFailure = Literal["cancel", "finish"]
OnTimeout = Literal["reject", "accept-first", "deny"]
PolicyEdit = Union[PolicyEdit1, PolicyEdit2, PolicyEdit3, PolicyEdit4, PolicyEdit5, PolicyEdit6]
Preview = Union[Preview1, Preview2, Preview3, Preview4]
QuestionDefault = Literal["reject", "accept-first", "forward", "auto"]
QuestionStatus = Literal["requested", "answered", "rejected"]
QuestionTimeout = Literal["reject", "accept-first", "deny"]
Reach = Literal["live", "parked"]
ResetType = Literal["reset"]
Role = Literal["admin", "answerer", "viewer", "agent"]
RuleEffect = Literal["allow", "deny", "ask", "answer", "reject"]
RunStatus = Literal["running", "waiting", "completed", "failed", "cancelled"]
SessionStatus = Literal["running", "waiting", "idle", "stalled", "ended", "failed"]
SetProfile = TypedDict("SetProfile", {"name": "Union[str, None]", "for": "Union[str, None]"}, total=False)
ShownAnswer = Union[list[str], ShownAnswer2]
StepQuestions = Literal["reject", "accept-first", "forward", "auto"]
ToolCallStatus = Literal["running", "complete", "error"]
ToolType = Literal["tool"]
WorkflowSource = Union[str, WorkflowFile]
