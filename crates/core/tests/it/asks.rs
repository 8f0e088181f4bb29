//! Sizes and limits of asks, and the effect of decisions on them.

use std::time::Duration;

use sayso_core::actor::Actor;
use sayso_core::ask::{
    Action, Approval, ApprovalDecision, Ask, AskBody, AskContext, AskKind, AskState, Asker, Choice, Claims, Decision, Delivery,
    DeliveryError, ExecutedFile, ExecutedFiles, FileDiff, Input, InvalidAnswers, Link, MessageTarget, Origin, Outcome,
    OutcomeStatus, PendingAsk, PolicyNote, Preview, Question, QuestionOption, QuestionProblem, Reach, Refused, TextShape,
    TypedAnswers, content_digest, find_message_target, first_options, resolve, validate_answers,
};
use sayso_core::digest::{FileHash, ShaDigest};
use sayso_core::id::{AskId, BlockId, TokenId};
use sayso_core::limits;
use sayso_core::raw::Raw;
use sayso_core::texts;
use sayso_core::time::Span;

use crate::support::{NOW, ask, choice, link, make_question, run};

fn open(body: AskBody) -> Ask {
    open_in(body, AskContext::default())
}

fn open_in(body: AskBody, context: AskContext) -> Ask {
    Ask {
        id: AskId::from_bytes([1; 16]),
        origin: Origin { session: None, connection: None, native_id: None, opened_by: None },
        body: body.into(),
        context: context.into(),
        policy: PolicyNote::default(),
        opened_at: NOW,
        snoozed_until: None,
        state: AskState::Pending(Reach::Live),
        raw: None,
    }
}

fn ended(body: AskBody, decision: Decision, delivery: Delivery) -> Ask {
    let outcome = Outcome { decision, by: Actor::Agent, at: NOW, content: None };
    Ask { state: AskState::Resolved { outcome, delivery }, ..open(body) }
}

fn approval_of(change: impl FnOnce(&mut Approval)) -> AskBody {
    let AskBody::Approval(mut approval) = run("ls") else { panic!("an approval") };
    change(&mut approval);
    AskBody::Approval(approval)
}

fn long(bytes: usize) -> String {
    "x".repeat(bytes)
}

fn approved() -> Decision {
    Decision::Approved { choice: None, input: None }
}

fn undeliverable() -> Delivery {
    Delivery::Undeliverable { reason: "gone".to_owned() }
}

#[test]
fn every_text_of_an_ask_counts_once() {
    // Powers of two, so that every missing or repeated text changes the sum.
    let option = |value, label, description, preview| QuestionOption {
        value: long(value),
        label: long(label),
        description: Some(long(description)),
        preview: Some(long(preview)),
    };
    let question = Question {
        key: long(1),
        header: Some(long(2)),
        text: long(4),
        input: Input::Choice {
            options: vec![option(8, 16, 32, 64), option(128, 256, 512, 1024)],
            multiple: false,
            custom: false,
        },
        required: true,
        response_schema: None,
    };
    assert_eq!(open(ask(&[question])).text_size(), 2047);
    assert_eq!(open(AskBody::Link(Link { url: long(1), message: Some(long(2)) })).text_size(), 3);

    let approval = |action, preview| {
        open(approval_of(|approval| {
            approval.tool = long(1);
            approval.title = long(2);
            // The length includes the quotes.
            approval.input = Raw::of(&long(2));
            approval.choices = vec![Choice { id: long(8), label: long(16) }, Choice { id: long(32), label: long(64) }];
            approval.action = action;
            approval.preview = preview;
        }))
        .text_size()
    };
    assert_eq!(approval(Action::Other, None), 127);
    for none in [Action::Plan, Action::Mode] {
        assert_eq!(approval(none, None), 127);
    }
    assert_eq!(approval(Action::Run { command: long(128) }, None), 255);
    assert_eq!(approval(Action::Edit { paths: vec![long(128), long(256)] }, None), 511);
    assert_eq!(approval(Action::Read { paths: vec![long(128), long(256)] }, None), 511);
    assert_eq!(approval(Action::Fetch { url: long(128) }, None), 255);
    assert_eq!(approval(Action::Mcp { server: long(128), tool: long(256) }, None), 511);
    let command = Preview::Command { command: long(128), cwd: Some(long(256)) };
    assert_eq!(approval(Action::Other, Some(command)), 511);
    let file = |path, diff| FileDiff { path: long(path), diff: long(diff) };
    assert_eq!(approval(Action::Other, Some(Preview::Diff { files: vec![file(128, 256), file(512, 1024)] })), 2047);
    assert_eq!(approval(Action::Other, Some(Preview::Plan { text: long(128) })), 255);
    assert_eq!(approval(Action::Other, Some(Preview::Text { text: long(128) })), 255);
}

#[test]
fn sizes_include_context_outcome_and_request() {
    let context = AskContext {
        agent: long(1),
        title: long(2),
        project: Some(long(4)),
        branch: Some(long(8)),
        subagent: Some(long(16)),
        context: Some(long(32)),
        tool_call_id: Some(long(64)),
        step: Some(long(128)),
        labels: [(long(256), long(512)), ("y".repeat(1024), long(2048))].into(),
        ..AskContext::default()
    };
    let link = || AskBody::Link(Link { url: long(4096), message: None });
    let request = Raw::of(&long(8190));
    let asked = Ask { raw: Some(request), ..open_in(link(), context) };
    assert_eq!((asked.text_size(), asked.memory_size()), (8191, 16383));

    let answers = vec![vec![long(1), long(2)], vec![long(4)]];
    for (decision, size) in [
        (Decision::Answered { answers, note: Some(long(8)) }, 15),
        (Decision::Rejected { message: long(1), stop: true }, 1),
        (Decision::Denied { message: long(2), stop: true }, 2),
        (approved(), 0),
        (Decision::Approved { choice: Some(long(9)), input: Some(Raw::of(&long(2))) }, 4),
        (Decision::Withdrawn { reason: long(8) }, 8),
    ] {
        let ask = ended(link(), decision, Delivery::Queued);
        assert_eq!((ask.text_size(), ask.memory_size()), (4096 + size, 4096 + size), "{ask:?}");
    }
}

#[test]
fn limit_error_names_the_text_that_is_too_long() {
    let question = |change: &dyn Fn(&mut Question)| {
        let mut question = choice("h", "t", &["a"]);
        change(&mut question);
        ask(&[question])
    };
    let option = |change: &dyn Fn(&mut QuestionOption)| {
        question(&|question| {
            let mut option = QuestionOption::new("a", None);
            change(&mut option);
            question.input = Input::Choice { options: vec![option], multiple: false, custom: false };
        })
    };
    let options = |count| vec![QuestionOption::new("a", None); count];
    let choices = |count| vec![Choice { id: String::new(), label: String::new() }; count];
    type Sized<'a> = &'a dyn Fn(usize) -> AskBody;
    let cases: [(&str, usize, Sized<'_>); 18] = [
        ("the number of questions", limits::QUESTIONS, &|size| ask(&vec![choice("h", "t", &["a"]); size])),
        ("the key of a question", limits::TEXT, &|size| question(&|question| question.key = long(size))),
        ("the text of a question", limits::TEXT, &|size| question(&|question| question.text = long(size))),
        ("the header of a question", limits::TEXT, &|size| question(&|question| question.header = Some(long(size)))),
        ("the number of options", limits::OPTIONS, &|size| {
            question(&|question| question.input = Input::Choice { options: options(size), multiple: false, custom: false })
        }),
        ("the label of an option", limits::TEXT, &|size| option(&|option| option.label = long(size))),
        ("the value of an option", limits::TEXT, &|size| option(&|option| option.value = long(size))),
        ("the description of an option", limits::TEXT, &|size| option(&|option| option.description = Some(long(size)))),
        ("the preview of an option", limits::RAW, &|size| option(&|option| option.preview = Some(long(size)))),
        ("the name of the tool", limits::NAME, &|size| approval_of(|approval| approval.tool = long(size))),
        ("the title", limits::TEXT, &|size| approval_of(|approval| approval.title = long(size))),
        ("the input of the tool", limits::RAW, &|size| approval_of(|approval| approval.input = Raw::of(&long(size - 2)))),
        ("the preview", limits::RAW, &|size| approval_of(|approval| approval.preview = Some(Preview::Text { text: long(size) }))),
        ("the command or the paths", limits::RAW, &|size| run(&long(size))),
        ("the number of choices", limits::OPTIONS, &|size| approval_of(|approval| approval.choices = choices(size))),
        ("a choice", limits::TEXT, &|size| {
            approval_of(|approval| approval.choices = vec![Choice { id: long(size), label: String::new() }])
        }),
        ("the address", limits::TEXT, &|size| AskBody::Link(Link { url: long(size), message: None })),
        ("the message", limits::TEXT, &|size| AskBody::Link(Link { url: String::new(), message: Some(long(size)) })),
    ];
    for (what, limit, body) in cases {
        assert_eq!(body(limit).check_limits(), Ok(()), "{what}");
        let refused = limits::LimitExceeded { what: what.to_owned(), limit, actual: limit + 1 };
        assert_eq!(body(limit + 1).check_limits(), Err(refused));
    }
}

#[test]
fn names_of_kinds_actions_outcomes_and_deliveries_match_the_api() {
    assert_eq!([AskKind::Question, AskKind::Approval, AskKind::Link].map(AskKind::as_str), ["question", "approval", "link"]);
    assert_eq!([ask(&[]), run("ls"), link()].map(|body| open(body).kind().as_str()), ["question", "approval", "link"]);
    let actions = [
        Action::Run { command: String::new() },
        Action::Edit { paths: vec![] },
        Action::Read { paths: vec![] },
        Action::Fetch { url: String::new() },
        Action::Mcp { server: String::new(), tool: String::new() },
        Action::Plan,
        Action::Mode,
        Action::Other,
    ];
    assert_eq!(actions.map(|action| action.as_str()), ["run", "edit", "read", "fetch", "mcp", "plan", "mode", "other"]);
    let decisions = [
        Decision::Answered { answers: vec![], note: None },
        Decision::Rejected { message: String::new(), stop: false },
        approved(),
        Decision::Denied { message: String::new(), stop: false },
        Decision::Withdrawn { reason: String::new() },
    ];
    assert_eq!(decisions.map(|decision| decision.status().as_str()), ["answered", "rejected", "approved", "denied", "withdrawn"]);
    let deliveries = [Delivery::Queued, Delivery::Delivered, Delivery::Confirmed, Delivery::Withheld, undeliverable()];
    assert_eq!(deliveries.map(|delivery| delivery.as_str()), ["queued", "delivered", "confirmed", "withheld", "undeliverable"]);
}

#[test]
fn delivery_goes_forward_only() {
    let all = [Delivery::Queued, Delivery::Delivered, Delivery::Confirmed, Delivery::Withheld, undeliverable()];
    for from in &all {
        for to in &all {
            let forward = match from {
                Delivery::Queued => *to != Delivery::Queued,
                Delivery::Delivered => matches!(to, Delivery::Confirmed | Delivery::Undeliverable { .. }),
                Delivery::Confirmed | Delivery::Withheld | Delivery::Undeliverable { .. } => false,
            };
            assert_eq!(from.advance(to.clone()), forward.then(|| to.clone()), "{from:?} to {to:?}");
            let ask = ended(run("ls"), approved(), from.clone());
            let after = forward.then(|| ended(run("ls"), approved(), to.clone()).state);
            assert_eq!(ask.state.apply_delivery(to.clone()), Ok(after), "{from:?} to {to:?}");
        }
    }
    assert_eq!(open(link()).state.apply_delivery(Delivery::Delivered), Err(DeliveryError));
}

#[test]
fn only_a_live_ask_is_parked_and_only_a_parked_one_revived() {
    let [live, parked] = [Reach::Live, Reach::Parked].map(AskState::Pending);
    let resolved = ended(link(), approved(), Delivery::Queued).state;
    assert_eq!([&live, &parked, &resolved].map(AskState::park), [Some(parked.clone()), None, None]);
    assert_eq!([&live, &parked, &resolved].map(AskState::revive), [None, Some(live.clone()), None]);
}

#[test]
fn asks_are_compared_by_digest_or_else_by_content() {
    let digest = |text: &str| Some(ShaDigest::of_bytes(text.as_bytes()));
    let with = |body: AskBody, agent: &str, project: &str, digest| {
        let (agent, project) = (agent.to_owned(), Some(project.to_owned()));
        open_in(body, AskContext { agent, project, digest, ..AskContext::default() })
    };
    let one = with(run("ls"), "a", "/p", digest("1"));
    assert!(one.requests_the_same(&with(run("rm x"), "b", "/q", digest("1"))));
    assert!(!one.requests_the_same(&with(run("ls"), "a", "/p", digest("2"))));
    // An ask of an earlier version has no digest.
    for old in [with(run("ls"), "a", "/p", None), one] {
        assert!(old.requests_the_same(&with(run("ls"), "a", "/p", None)));
        assert!(with(run("ls"), "a", "/p", None).requests_the_same(&old));
        for other in [with(run("rm x"), "a", "/p", None), with(run("ls"), "b", "/p", None), with(run("ls"), "a", "/q", None)] {
            assert!(!old.requests_the_same(&other));
        }
    }
}

#[test]
fn approval_counts_as_delivered_once_it_leaves_the_queue() {
    let denied = || Decision::Denied { message: String::new(), stop: false };
    assert!(!open(run("ls")).is_delivered_approval());
    assert!(!ended(run("ls"), approved(), Delivery::Queued).is_delivered_approval());
    for delivery in [Delivery::Delivered, Delivery::Confirmed, Delivery::Withheld, undeliverable()] {
        assert!(ended(run("ls"), approved(), delivery.clone()).is_delivered_approval(), "{delivery:?}");
        assert!(!ended(run("ls"), denied(), delivery.clone()).is_delivered_approval(), "{delivery:?}");
    }
}

#[test]
fn summary_describes_the_request() {
    assert_eq!(run("ls -l").summary(), "Bash run");
    assert_eq!(link().summary(), "https://example.com/login");
    assert_eq!(ask(&[choice("Database", "Which one?", &[])]).summary(), "Which one?");
    let blank = Question { header: Some(" ".to_owned()), ..choice("", "Where?", &[]) };
    assert_eq!(
        ask(&[choice("Database", "Which one?", &[]), choice("", "When?", &[]), blank]).summary(),
        "Database, When?, Where?"
    );
    let id = AskId::from_bytes([1; 16]).to_string();
    assert_eq!(open(link()).tool_call_id(), id);
    let context = AskContext { tool_call_id: Some("toolu_1".to_owned()), ..AskContext::default() };
    assert_eq!(open_in(link(), context).tool_call_id(), "toolu_1");

    let titled = |title: &str, preview| {
        let AskBody::Approval(approval) =
            approval_of(|approval| (approval.title, approval.preview) = (title.to_owned(), preview))
        else {
            panic!("an approval")
        };
        approval.own_title().map(str::to_owned)
    };
    let command = || Some(Preview::Command { command: "ls".to_owned(), cwd: None });
    assert_eq!(titled("ls", command()), None);
    assert_eq!(titled("List files", command()), Some("List files".to_owned()));
    assert_eq!(titled("ls", Some(Preview::Text { text: "ls".to_owned() })), Some("ls".to_owned()));
}

#[test]
fn claims_are_stored_only_if_there_are_any() {
    let asker = |agent, project| Asker { name: "ci".to_owned(), claims: Claims { agent, project } };
    for (asker, json) in [
        (asker(false, false), r#"{"name":"ci"}"#),
        (asker(true, false), r#"{"name":"ci","claims":{"agent":true,"project":false}}"#),
        (asker(false, true), r#"{"name":"ci","claims":{"agent":false,"project":true}}"#),
    ] {
        assert_eq!(serde_json::to_string(&asker).unwrap(), json);
        assert_eq!(serde_json::from_str::<Asker>(json).unwrap(), asker);
    }
}

#[test]
fn executed_files_are_listed_from_the_directory_of_the_command() {
    let cwd = |cwd: Option<&str>| Some(Preview::Command { command: "./a.sh".to_owned(), cwd: cwd.map(str::to_owned) });
    let executed = |command: &str, preview, project: Option<&str>| {
        let body = approval_of(|approval| {
            (approval.action, approval.preview) = (Action::Run { command: command.to_owned() }, preview);
        });
        ExecutedFiles::of(&body, project, Some("/home/u"))
    };
    let list = |paths: &[&str], unlisted| {
        let files = paths.iter().map(|path| ExecutedFile { path: (*path).to_owned(), digest: None }).collect();
        Some(ExecutedFiles { files, unlisted, readable: false })
    };
    assert_eq!(executed("./a.sh", None, Some("/p")), list(&["/p/a.sh"], false));
    assert_eq!(executed("./a.sh", cwd(Some("/q")), Some("/p")), list(&["/q/a.sh"], false));
    assert_eq!(executed("./a.sh", cwd(Some("/q")), None), list(&["/q/a.sh"], false));
    assert_eq!(executed("./a.sh", cwd(Some("sub")), Some("/p")), list(&["/p/a.sh"], false));
    assert_eq!(executed("./a.sh", cwd(None), Some("/p")), list(&["/p/a.sh"], false));
    assert_eq!(executed("~/a.sh && make", None, Some("/p")), list(&["/home/u/a.sh"], true));
    assert_eq!(executed("make", None, Some("/p")), list(&[], true));
    assert_eq!(executed("./a.sh", None, None), None);
    assert_eq!(executed("ls", None, Some("/p")), None);
    for body in [link(), ask(&[]), approval_of(|approval| approval.action = Action::Other)] {
        assert_eq!(ExecutedFiles::of(&body, Some("/p"), None), None);
    }
}

#[test]
fn content_digest_covers_every_path_and_content() {
    let file = |path: &str, content: Option<&str>| ExecutedFile {
        path: path.to_owned(),
        digest: content.map(|content| FileHash::of_bytes(content.as_bytes())),
    };
    let files = [file("/a", Some("1")), file("/b", None)];
    let digest = content_digest(&files);
    assert_eq!(content_digest(&files), digest);
    for other in [
        vec![],
        vec![file("/a", Some("1"))],
        vec![file("/b", None), file("/a", Some("1"))],
        vec![file("/a", Some("2")), file("/b", None)],
        vec![file("/a", Some("1")), file("/c", None)],
        vec![file("/a", Some("1")), file("/b", Some("1"))],
    ] {
        assert_ne!(content_digest(&other), digest, "{other:?}");
    }
}

#[test]
fn message_answers_live_questions_that_accept_text() {
    let text = |secret| make_question("", "Name?", Input::Text { secret });
    let options = choice("", "Which?", &["A"]);
    let own = make_question("", "Which?", Input::Choice { options: vec![], multiple: false, custom: true });
    let shape = |body: AskBody, typed| PendingAsk::of(&open(body), typed).as_answer;
    use TypedAnswers::{Any, OwnText, Sets};
    for (body, shapes) in [
        (ask(&[text(false)]), [Some(TextShape::Only), Some(TextShape::Only), Some(TextShape::Only)]),
        (ask(&[own]), [Some(TextShape::Only), Some(TextShape::Only), Some(TextShape::Only)]),
        (ask(std::slice::from_ref(&options)), [None, None, Some(TextShape::Only)]),
        (ask(&[text(true)]), [None; 3]),
        (ask(&[text(false), text(true)]), [None; 3]),
        (ask(&[text(false), options]), [None, Some(TextShape::WholeSet), None]),
        (ask(&[]), [None; 3]),
        (run("ls"), [None; 3]),
        (link(), [None; 3]),
    ] {
        assert_eq!([OwnText, Sets, Any].map(|typed| shape(body.clone(), typed)), shapes, "{body:?}");
    }
    let parked = Ask { state: AskState::Pending(Reach::Parked), ..open(ask(&[text(false)])) };
    assert_eq!(PendingAsk::of(&parked, Any).as_answer, None);
    let helper = open_in(ask(&[text(false)]), AskContext { subagent: Some("helper".to_owned()), ..AskContext::default() });
    let pending = PendingAsk { id: helper.id, as_answer: Some(TextShape::Only), in_root: false };
    assert_eq!(PendingAsk::of(&helper, OwnText), pending);
    assert!(PendingAsk::of(&open(link()), OwnText).in_root);
    assert_eq!(find_message_target(&[pending.clone(), pending.clone()]), MessageTarget::Pending(vec![helper.id, helper.id]));
    assert_eq!(TextShape::Only.answers("x", 3), [["x"]]);
    assert_eq!(TextShape::WholeSet.answers("x", 3), [["x"], ["x"], ["x"]]);
}

#[test]
fn answers_are_refused_with_the_reason() {
    let number = |minimum, maximum, integer| make_question("", "?", Input::Number { minimum, maximum, integer });
    let reason = |question: &Question, entries: &[&str]| {
        let entries: Vec<String> = entries.iter().map(|entry| (*entry).to_owned()).collect();
        match validate_answers(std::slice::from_ref(question), &[entries]) {
            Ok(_) => None,
            Err(InvalidAnswers::Questions(problems)) => Some(problems[0].reason.clone()),
            Err(error @ InvalidAnswers::Count { .. }) => panic!("{error}"),
        }
    };
    let (between, least, most) =
        (number(Some(1.0), Some(2.5), false), number(Some(1.0), None, false), number(None, Some(2.5), false));
    for (question, entry, expected) in [
        (&between, "1", None),
        (&between, " 2.5 ", None),
        (&between, "0.9", Some("must be between 1 and 2.5")),
        (&between, "2.6", Some("must be between 1 and 2.5")),
        (&least, "1", None),
        (&least, "0", Some("must be at least 1")),
        (&most, "2.5", None),
        (&most, "2.6", Some("must be at most 2.5")),
        (&number(None, None, true), "2.0", None),
        (&number(None, None, true), "2.5", Some("takes a whole number")),
        (&number(None, None, false), "two", Some("takes a number")),
        (&number(None, None, false), "inf", Some("takes a number")),
        (&choice("", "?", &["A"]), "Z", Some("entry 1 is not one of the options")),
        (&make_question("", "?", Input::YesNo), "maybe", Some("takes yes or no")),
        (&make_question("", "?", Input::Text { secret: false }), " ", Some("an answer is required")),
    ] {
        assert_eq!(reason(question, &[entry]).as_deref(), expected, "{entry} {question:?}");
    }
    assert_eq!(reason(&choice("", "?", &["A", "B"]), &["A", "B"]).as_deref(), Some("takes one answer, got 2"));
    let several = |custom| {
        let options = ["A", "B"].map(|label| QuestionOption::new(label, None)).to_vec();
        make_question("", "?", Input::Choice { options, multiple: true, custom })
    };
    assert_eq!(reason(&several(false), &["A", "Z"]).as_deref(), Some("entry 2 is not one of the options"));
    assert_eq!(
        reason(&several(true), &["Y", "A", "Z"]).as_deref(),
        Some("takes only one text of your own in addition to the options")
    );
    let text = make_question("", "?", Input::Text { secret: false });
    assert_eq!(reason(&text, &[&long(limits::ANSWER)]), None);
    let too_long = format!("an answer may have {} bytes, this one has {}", limits::ANSWER, limits::ANSWER + 1);
    assert_eq!(reason(&text, &[&long(limits::ANSWER + 1)]), Some(too_long));
    for (entry, value) in
        [("yes", "true"), ("Y", "true"), ("TRUE", "true"), (" no ", "false"), ("n", "false"), ("False", "false")]
    {
        let answers = validate_answers(&[make_question("", "?", Input::YesNo)], &[vec![entry.to_owned()]]);
        assert_eq!(answers, Ok(vec![vec![value.to_owned()]]), "{entry}");
    }

    let two = [choice("", "?", &["A"]), Question { key: "second".to_owned(), ..choice("", "?", &["A"]) }];
    let error = validate_answers(&two, &[vec!["A".to_owned()], vec![]]).unwrap_err();
    let problem = QuestionProblem { index: 1, key: "second".to_owned(), reason: "an answer is required".to_owned() };
    assert_eq!(error.to_string(), "question 2: an answer is required");
    assert_eq!(error, InvalidAnswers::Questions(vec![problem]));
    assert_eq!(validate_answers(&two, &[]).unwrap_err().to_string(), "0 answers for 2 questions");
}

#[test]
fn exact_option_name_wins_over_one_without_the_recommended_mark() {
    let option = |value: &str, label: &str| QuestionOption {
        value: value.to_owned(),
        label: label.to_owned(),
        description: None,
        preview: None,
    };
    let options = vec![option("1", "A (Recommended)"), option("2", "A"), option("3", "B (recommended) ")];
    let question = make_question("", "?", Input::Choice { options: options.clone(), multiple: false, custom: false });
    let chosen = |entry: &str| validate_answers(std::slice::from_ref(&question), &[vec![entry.to_owned()]]);
    for (entry, value) in [("A", "2"), ("A (Recommended)", "1"), ("1", "1"), ("B", "3"), ("B (Recommended)", "3")] {
        assert_eq!(chosen(entry), Ok(vec![vec![value.to_owned()]]), "{entry}");
    }
    assert_eq!(options.iter().map(QuestionOption::is_recommended).collect::<Vec<_>>(), [true, false, true]);
    assert_eq!(first_options(std::slice::from_ref(&question)), Some(vec![vec!["1".to_owned()]]));
    assert_eq!(first_options(&[question, make_question("", "?", Input::YesNo)]), None);
    assert!(!option("v", "label ").is_recommended());
    assert!(option("v", "label").is_named_by("v"));
}

#[test]
fn invalid_decisions_leave_the_ask_unchanged() {
    let by = || Actor::Person { name: "ada".to_owned(), via: "page".to_owned(), token: TokenId::from_bytes([2; 16]) };
    let refused = |body: &AskBody, decision: Decision| resolve(&open(body.clone()), decision, by(), NOW).unwrap_err();
    let (question, tool) = (ask(&[choice("", "?", &["A"])]), run("ls"));
    let choice_of = |id: &str| Decision::Approved { choice: Some(id.to_owned()), input: None };
    let with_input = |input: &str| Decision::Approved { choice: None, input: Some(Raw::of(&input)) };
    let answered = || Decision::Answered { answers: vec![vec!["A".to_owned()]], note: None };
    let no = |message: &str| Decision::Denied { message: message.to_owned(), stop: true };
    let rejected = |message: &str| Decision::Rejected { message: message.to_owned(), stop: true };
    assert_eq!(refused(&tool, choice_of("always")), Refused::UnknownChoice("always".to_owned()));
    assert_eq!(refused(&link(), choice_of(&long(100))), Refused::UnknownChoice(long(80)));
    assert_eq!(refused(&tool, with_input("x")), Refused::NotEditable);
    assert_eq!(refused(&link(), with_input("x")), Refused::NotEditable);
    for (body, decision, kind) in [
        (&question, approved(), AskKind::Question),
        (&question, no(""), AskKind::Question),
        (&tool, answered(), AskKind::Approval),
        (&tool, rejected(""), AskKind::Approval),
        (&link(), answered(), AskKind::Link),
        (&link(), rejected(""), AskKind::Link),
    ] {
        let error = refused(body, decision);
        assert_eq!(error, Refused::WrongKind(kind));
        assert_eq!(error.to_string(), format!("a {} cannot be decided this way", kind.as_str()));
    }
    let past = ended(tool.clone(), approved(), Delivery::Queued);
    let error = resolve(&past, no(""), by(), NOW).unwrap_err();
    assert_eq!(error.to_string(), "the ask was already approved");
    assert_eq!(error, Refused::AlreadyResolved(Box::new(past.outcome().unwrap().clone())));
    assert_eq!(past.outcome().map(|outcome| outcome.decision.status()), Some(OutcomeStatus::Approved));
    assert_eq!(open(tool.clone()).outcome(), None);

    let limit = |what: &str| {
        Refused::Limit(limits::LimitExceeded { what: what.to_owned(), limit: limits::ANSWER, actual: limits::ANSWER + 1 })
    };
    let too_long = long(limits::ANSWER + 1);
    assert_eq!(refused(&tool, no(&too_long)), limit("the message"));
    assert_eq!(refused(&question, rejected(&too_long)), limit("the message"));
    let noted = Decision::Answered { answers: vec![vec!["A".to_owned()]], note: Some(too_long) };
    assert_eq!(refused(&question, noted), limit("the note"));
    let editable = approval_of(|approval| approval.editable = true);
    let LimitError { what, actual } = limit_of(refused(&editable, with_input(&long(limits::RAW - 1))));
    assert_eq!((what.as_str(), actual), ("the input", limits::RAW + 1));
}

struct LimitError {
    what: String,
    actual: usize,
}

fn limit_of(refused: Refused) -> LimitError {
    match refused {
        Refused::Limit(limits::LimitExceeded { what, actual, .. }) => LimitError { what, actual },
        other => panic!("{other}"),
    }
}

#[test]
fn only_people_are_limited_to_the_allowed_decisions() {
    use ApprovalDecision::{Approve, Deny, Edit};
    let person = || Actor::Person { name: "ada".to_owned(), via: "page".to_owned(), token: TokenId::from_bytes([2; 16]) };
    let edit = || Decision::Approved { choice: None, input: Some(Raw::of(&7)) };
    let deny = || Decision::Denied { message: "no".to_owned(), stop: false };
    for allowed in [vec![Approve], vec![Edit], vec![Deny], vec![Approve, Edit], vec![Approve, Deny], vec![Edit, Deny]] {
        let body = || {
            approval_of(|approval| {
                (approval.editable, approval.allowed_decisions) = (allowed.contains(&Edit), Some(allowed.clone().into()));
            })
        };
        let taken = |decision: Decision, by: Actor| resolve(&open(body()), decision, by, NOW).map(|taken| taken.for_agent);
        for (kind, decision) in [(Approve, approved()), (Deny, deny())] {
            let refused = Refused::DecisionNotAllowed { decision: kind, allowed: allowed.clone() };
            let expected = if allowed.contains(&kind) { Ok(decision.clone()) } else { Err(refused) };
            assert_eq!(taken(decision, person()), expected, "{allowed:?}");
        }
        let expected = if allowed.contains(&Edit) { Ok(edit()) } else { Err(Refused::NotEditable) };
        assert_eq!(taken(edit(), person()), expected, "{allowed:?}");
        let (policy, timeout) = (Actor::Policy { rule: "r".to_owned() }, Actor::Timeout { after: Span(Duration::from_secs(1)) });
        assert_eq!((taken(deny(), policy), taken(deny(), timeout)), (Ok(deny()), Ok(deny())));
        let withdrawn = Decision::Withdrawn { reason: "gone".to_owned() };
        assert_eq!(taken(withdrawn.clone(), Actor::Agent), Ok(withdrawn));
    }
}

#[test]
fn valid_decisions_get_default_messages_if_they_have_none() {
    let person = || Actor::Person { name: "ada".to_owned(), via: "page".to_owned(), token: TokenId::from_bytes([2; 16]) };
    let taken =
        |body: AskBody, decision: Decision, by: Actor| resolve(&open(body), decision, by, NOW).map(|taken| taken.for_agent);
    let no = |message: &str| Decision::Denied { message: message.to_owned(), stop: true };
    let rejected = |message: &str| Decision::Rejected { message: message.to_owned(), stop: true };
    let question = || ask(&[choice("", "?", &["A"])]);
    for own in ["", " \n"] {
        assert_eq!(taken(run("ls"), no(own), person()), Ok(no(texts::DENIED)));
        assert_eq!(taken(link(), no(own), person()), Ok(no(texts::LINK_DENIED)));
        assert_eq!(taken(question(), rejected(own), person()), Ok(rejected(texts::REJECTED)));
    }
    assert_eq!(taken(run("ls"), no("Not now"), person()), Ok(no("Not now")));
    assert_eq!(taken(link(), approved(), person()), Ok(approved()));
    let withdrawn = || Decision::Withdrawn { reason: "gone".to_owned() };
    for body in [run("ls"), link(), question()] {
        assert_eq!(taken(body, withdrawn(), Actor::Agent), Ok(withdrawn()));
    }
    let tool = approval_of(|approval| {
        approval.editable = true;
        approval.choices = vec![Choice { id: "always".to_owned(), label: "Always".to_owned() }];
    });
    let chosen = Decision::Approved { choice: Some("always".to_owned()), input: Some(Raw::of(&"x")) };
    assert_eq!(taken(tool, chosen.clone(), person()), Ok(chosen));

    // A typed message is free text, even for a question that offers only options.
    let typed = || Decision::Answered { answers: vec![vec!["Z".to_owned()]], note: None };
    let (token, message) = (TokenId::from_bytes([2; 16]), BlockId::from_bytes([3; 16]));
    let by_message = Actor::Message { name: "ada".to_owned(), via: "page".to_owned(), token, message };
    assert_eq!(taken(question(), typed(), by_message), Ok(typed()));
    assert!(matches!(taken(question(), typed(), person()), Err(Refused::InvalidAnswers(_))));
}

#[test]
fn secret_answers_are_masked_and_others_unchanged() {
    let secret = || make_question("", "?", Input::Text { secret: true });
    let optional = Question { required: false, ..secret() };
    let body = ask(&[secret(), make_question("", "?", Input::Text { secret: false }), optional]);
    let answers = vec![vec!["hunter2".to_owned()], vec!["open".to_owned()], vec![]];
    let answered = |answers| Decision::Answered { answers, note: Some("note".to_owned()) };
    let taken = resolve(&open(body.clone()), answered(answers.clone()), Actor::Agent, NOW).unwrap();
    let masked = vec![vec!["•••".to_owned()], vec!["open".to_owned()], vec![]];
    let outcome = Outcome { decision: answered(masked), by: Actor::Agent, at: NOW, content: None };
    assert_eq!((taken.outcome, taken.for_agent, taken.secret), (outcome, answered(answers), true));
    let rejected = Decision::Rejected { message: "No".to_owned(), stop: false };
    let taken = resolve(&open(body), rejected.clone(), Actor::Agent, NOW).unwrap();
    assert_eq!((taken.outcome.decision, taken.secret), (rejected, false));
    let plain = ask(&[make_question("", "?", Input::Text { secret: false })]);
    let taken = resolve(&open(plain), Decision::Answered { answers: vec![vec!["x".to_owned()]], note: None }, Actor::Agent, NOW);
    assert!(!taken.unwrap().secret);
}
