//! Workflows: mistakes, explanations and the steps of runs.

use std::collections::BTreeMap;

use sayso_core::ask::Decision;
use sayso_core::id::{AskId, RunId, SessionId, TokenId};
use sayso_core::run::{Effect, Event, NewRun, Run, RunStatus, StepState};
use sayso_core::time::Time;
use sayso_core::workflow::{Surroundings, Workflow};

const NOW: Time = Time::from_millis(1_700_000_000_000);

/// Returns all mistakes in a text, as they are printed.
fn faults(text: &str) -> Vec<String> {
    let agents = ["mock".to_owned()];
    match Workflow::parse_toml(text) {
        Err(error) => vec![error.to_string()],
        Ok((workflow, source)) => {
            let errors = workflow.check(&source, Surroundings { agents: Some(&agents), input: None });
            errors.iter().map(ToString::to_string).collect()
        }
    }
}

fn agent(more: &str) -> String {
    format!("name = \"w\"\n[[steps]]\nid = \"a\"\nagent = \"mock\"\nprompt = \"hello\"\n{more}")
}

#[test]
fn every_bad_line_is_refused_with_its_place() {
    assert_eq!(faults(&agent("")), Vec::<String>::new());
    for (text, expected) in [
        (agent("").replace("mock", "nobody"), "line 4, column 1: steps[0].agent: there is no agent `nobody`; there are: mock"),
        (
            agent("").replacen("name = \"", "name = \"\\u0000", 1),
            "line 1, column 1: name: the name contains the character U+0000; remove that character",
        ),
        (
            agent("").replace("hello", "{{steps.b.output}}"),
            "line 5, column 1: steps[0].prompt: {{steps.b.output}}: there is no step `b`",
        ),
        (
            agent("").replace("hello", "{{steps.a.output}}"),
            "line 5, column 1: steps[0].prompt: {{steps.a.output}} is the step's own output: it would wait for itself",
        ),
        (
            agent("[[steps]]\nid = \"b\"\nagent = \"mock\"\nprompt = \"x\"\n").replace("hello", "{{steps.b.output}}"),
            "line 5, column 1: steps[0].prompt: {{steps.b.output}}: `b` does not end before this step begins",
        ),
        (
            agent("").replace("hello", "{{topic}}"),
            "line 5, column 1: steps[0].prompt: `{{topic}}` is not a variable: write {{input.NAME}} or {{steps.ID.output}}",
        ),
        (
            format!("{}[inputs.other]\n", agent("").replace("hello", "{{input.topic}}")),
            "line 5, column 1: steps[0].prompt: {{input.topic}} is not declared: add topic to [inputs]",
        ),
        (
            agent("[[steps]]\nid = \"a\"\nagent = \"mock\"\nprompt = \"x\"\n"),
            "line 7, column 1: steps[1].id: two steps have the id `a`: give each step its own id",
        ),
        (
            agent("questions = \"maybe\"\n"),
            "line 6, column 13: unknown variant `maybe`, expected one of `reject`, `accept-first`, `forward`, `auto`",
        ),
        (
            agent("question_timeout = \"30s\"\n"),
            "line 6, column 1: steps[0].question_timeout: only forwarded questions wait: write questions = \"forward\" instead of \"reject\"",
        ),
        (
            agent("questions = \"auto\"\nquestion_timeout = \"30s\"\n"),
            "line 7, column 1: steps[0].question_timeout: only forwarded questions wait: write questions = \"forward\" instead of \"auto\"",
        ),
        (
            agent("questions = \"forward\"\non_timeout = \"reject\"\n"),
            "line 7, column 1: steps[0].on_timeout: on_timeout without question_timeout: also write question_timeout = \"30s\"",
        ),
        (agent("on_failure = \"finish\"\n"), "line 6, column 1: steps[0].on_failure: only a group can have this key"),
        (
            agent("[steps.checkpoint]\nquestion = \"x\"\n"),
            "line 2, column 1: steps[0]: a step has one of these: an agent with a prompt, parallel, or a checkpoint",
        ),
        (agent("directory = \"here\"\n"), "line 6, column 1: steps[0].directory: `here` is not absolute: begin it with / or ~/"),
        ("name = \"w\"\nsteps = []\n".to_owned(), "line 2, column 1: steps: a workflow has at least one step"),
    ] {
        assert_eq!(faults(&text), [expected], "{text}");
    }
    let regex = faults(&agent("[[steps.rules]]\ndo = \"answer\"\nmatch = \"/(/\"\nanswer = \"x\"\n"));
    assert!(regex.len() == 1 && regex[0].starts_with("line 6, column 1: steps[0].rules[0]: "), "{regex:?}");
    assert!(faults("name = \n")[0].starts_with("line 1, column 8: "), "{:?}", faults("name = \n"));
}

#[test]
fn workflow_from_json_reports_errors_by_path() {
    let json = r#"{"name":"w","steps":[{"id":"a","agent":"mock","prompt":"{{steps.x.output}}","questions":"forward","questionTimeout":"30s"}]}"#;
    let (workflow, source) = Workflow::parse_json(json).unwrap();
    let errors = workflow.check(&source, Surroundings::default());
    assert_eq!(errors[0].to_string(), "steps[0].prompt: {{steps.x.output}}: there is no step `x`");
    let toml = "name = \"w\"\n[[steps]]\nid = \"a\"\nagent = \"mock\"\nprompt = \"{{steps.x.output}}\"\nquestions = \"forward\"\nquestion_timeout = \"30s\"\n";
    assert_eq!(Workflow::parse_toml(toml).unwrap().0, workflow);
    let again = serde_json::to_string(&workflow).unwrap();
    assert_eq!(Workflow::parse_json(&again).unwrap().0, workflow);
    assert_eq!(Workflow::parse_json("{\"name\": 1}").unwrap_err().line, Some(1));
}

#[test]
fn run_requires_exactly_the_variables_of_its_templates() {
    let text = agent("").replace("hello", "{{input.topic}}");
    let (workflow, source) = Workflow::parse_toml(&text).unwrap();
    let check = |input: &[(&str, &str)]| {
        let input: BTreeMap<String, String> = input.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let errors = workflow.check(&source, Surroundings { agents: None, input: Some(&input) });
        errors.iter().map(|error| error.message.clone()).collect::<Vec<_>>()
    };
    assert_eq!(check(&[("topic", "x")]), Vec::<String>::new());
    assert_eq!(check(&[]), ["the input `topic` is missing: set topic=VALUE"]);
    assert_eq!(check(&[("topic", "x"), ("b", "y")]), ["the workflow has no input `b`; its inputs are: topic"]);
}

#[test]
fn check_explains_what_each_step_does() {
    let text = include_str!("../../../../examples/workflows/feature.toml");
    let (workflow, source) = Workflow::parse_toml(text).unwrap();
    assert_eq!(workflow.check(&source, Surroundings::default()), []);
    let explained: Vec<(String, String, String)> =
        workflow.explain().into_iter().map(|step| (step.id, step.on_question, step.on_timeout)).collect();
    let row = |id: &str, question: &str, timeout: &str| (id.to_owned(), question.to_owned(), timeout.to_owned());
    let first = "after 30 seconds the first option of every question is taken (the default)";
    assert_eq!(
        explained,
        [
            row("explore", "a person answers", first),
            row("plan", "a person answers", first),
            row("go", "the run pauses until a person answers; if the person rejects, the run fails", "waits forever"),
            row("build", "rejected (the default); the question tool of the agent is disabled", "the agent does not wait"),
            row("verify", "rejected; the question tool of the agent is disabled", "the agent does not wait"),
        ]
    );
}

#[test]
fn every_example_is_valid() {
    for text in [
        include_str!("../../../../examples/workflows/feature.toml"),
        include_str!("../../../../examples/workflows/review.toml"),
        include_str!("../../../../examples/workflows/unattended.toml"),
    ] {
        assert_eq!(faults(text), Vec::<String>::new(), "{text}");
    }
}

/// A run of a workflow that the test advances step by step.
struct Driven {
    run: Run,
    next: u8,
}

impl Driven {
    fn of(text: &str) -> (Self, Vec<Effect>) {
        let (workflow, _) = Workflow::parse_toml(text).unwrap();
        let new = NewRun {
            id: RunId::new(NOW, [1; 10]),
            workflow,
            input: BTreeMap::from([("topic".to_owned(), "login".to_owned())]),
            directory: "/p".to_owned(),
            labels: BTreeMap::new(),
            opened_by: TokenId::new(NOW, [2; 10]),
        };
        let mut driven = Self { run: Run::new(new, NOW), next: 0 };
        let effects = driven.apply_event(Event::Begin);
        (driven, effects)
    }

    fn apply_event(&mut self, event: Event) -> Vec<Effect> {
        let next = &mut self.next;
        self.run.next(event, NOW, &mut || {
            *next += 1;
            [*next; 10]
        })
    }

    fn session(&self, step: &str) -> SessionId {
        match self.run.step(step).unwrap().state {
            StepState::Running { session } => session,
            ref other => panic!("{step} is {other:?}"),
        }
    }

    fn ask(&self, step: &str) -> AskId {
        match self.run.step(step).unwrap().state {
            StepState::Asking { ask } => ask,
            ref other => panic!("{step} is {other:?}"),
        }
    }

    fn done(&mut self, step: &str, output: &str) -> Vec<Effect> {
        let event = Event::Finished { session: self.session(step), output: output.to_owned() };
        self.apply_event(event)
    }

    fn died(&mut self, step: &str) -> Vec<Effect> {
        let event = Event::Ended { session: self.session(step), reason: "exit 1".to_owned(), died: true };
        self.apply_event(event)
    }

    fn words(&self) -> Vec<&'static str> {
        self.run.steps.iter().map(|step| step.state.word().as_str()).collect()
    }
}

fn prompts(effects: &[Effect]) -> Vec<&str> {
    effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::StartSession { prompt, .. } => Some(prompt.as_str()),
            _ => None,
        })
        .collect()
}

const ROW: &str = r#"
name = "row"
[[steps]]
id = "a"
agent = "mock"
prompt = "look at {{input.topic}}"
[[steps]]
id = "ok"
[steps.checkpoint]
question = "Use {{steps.a.output}}?"
options = ["Yes", "No"]
[[steps]]
id = "b"
agent = "mock"
prompt = "{{steps.ok.output}}: {{steps.a.output}}"
"#;

// The answer of a checkpoint is its output. Agents' questions do not change the state of a run.
#[test]
fn steps_run_in_order_with_earlier_outputs() {
    let (mut driven, effects) = Driven::of(ROW);
    assert_eq!(prompts(&effects), ["look at login"]);
    assert_eq!(driven.words(), ["running", "pending", "pending"]);
    let effects = driven.done("a", "x {{input.topic}}");
    let asked = effects.iter().find_map(|effect| match effect {
        Effect::OpenCheckpoint { question, .. } => Some(question.text.clone()),
        _ => None,
    });
    assert_eq!(asked.as_deref(), Some("Use x {{input.topic}}?"), "what an agent said is not a template");
    let decision = Decision::Answered { answers: vec![vec!["Yes".to_owned()]], note: None };
    let event = Event::Decided { ask: driven.ask("ok"), decision };
    assert_eq!(prompts(&driven.apply_event(event.clone())), ["Yes: x {{input.topic}}"]);
    assert_eq!(driven.apply_event(event), [], "events of an ended run change nothing");
    let effects = driven.done("b", "fine");
    assert_eq!(effects.last(), Some(&Effect::RunOver));
    assert_eq!(driven.run.status, RunStatus::Completed);
}

#[test]
fn rejected_checkpoint_fails_the_run_and_skips_later_steps() {
    let (mut driven, _) = Driven::of(ROW);
    driven.done("a", "x");
    let decision = Decision::Rejected { message: "no".to_owned(), stop: false };
    let event = Event::Decided { ask: driven.ask("ok"), decision };
    driven.apply_event(event);
    assert_eq!(driven.words(), ["completed", "failed", "cancelled"]);
    assert_eq!(driven.run.status, RunStatus::Failed { reason: "ok: the checkpoint was rejected: no".to_owned() });
}

const GROUP: &str = r#"
name = "group"
[[steps]]
id = "g"
on_failure = "cancel"
[[steps.parallel]]
id = "a"
agent = "mock"
prompt = "a"
[[steps.parallel]]
id = "b"
agent = "mock"
prompt = "b"
[[steps]]
id = "c"
agent = "mock"
prompt = "{{steps.a.output}}{{steps.b.output}}"
"#;

#[test]
fn failed_step_of_a_group_cancels_or_keeps_the_other_steps() {
    let (mut driven, effects) = Driven::of(GROUP);
    assert_eq!(prompts(&effects), ["a", "b"]);
    let b = driven.session("b");
    let effects = driven.died("a");
    assert!(effects.contains(&Effect::CloseSession { session: b }), "{effects:?}");
    assert_eq!(driven.words(), ["failed", "cancelled", "cancelled"]);
    assert_eq!(driven.run.status, RunStatus::Failed { reason: "a: exit 1".to_owned() });

    let (mut driven, _) = Driven::of(&GROUP.replace("\"cancel\"", "\"finish\""));
    driven.died("a");
    assert_eq!((driven.words(), &driven.run.status), (vec!["failed", "running", "pending"], &RunStatus::Running));
    driven.done("b", "B");
    assert_eq!(driven.words(), ["failed", "completed", "cancelled"]);

    let (mut driven, _) = Driven::of(GROUP);
    driven.done("b", "B");
    assert_eq!(prompts(&driven.done("a", "A")), ["AB"]);
}

#[test]
fn dead_agent_fails_or_retries_its_step_as_configured() {
    let once = "name = \"w\"\n[[steps]]\nid = \"a\"\nagent = \"mock\"\nprompt = \"x\"\n";
    let (mut driven, _) = Driven::of(once);
    driven.died("a");
    assert_eq!(driven.run.status, RunStatus::Failed { reason: "a: exit 1".to_owned() });

    let (mut driven, _) = Driven::of(&format!("{once}if_agent_dies = \"retry\"\n"));
    for attempt in 2..=3 {
        assert_eq!(prompts(&driven.died("a")), ["x"]);
        assert_eq!(driven.run.step("a").unwrap().attempts, attempt);
    }
    driven.died("a");
    assert_eq!(driven.words(), ["failed"]);
    // A step that was ended on purpose is not retried.
    let (mut driven, _) = Driven::of(&format!("{once}if_agent_dies = \"retry\"\n"));
    let event = Event::Ended { session: driven.session("a"), reason: "closed".to_owned(), died: false };
    driven.apply_event(event);
    assert_eq!(driven.words(), ["failed"]);
}

#[test]
fn cancelling_stops_active_steps() {
    let (mut driven, _) = Driven::of(ROW);
    driven.done("a", "x");
    let ask = driven.ask("ok");
    let effects = driven.apply_event(Event::Cancel { reason: "by ada".to_owned() });
    assert!(effects.contains(&Effect::Withdraw { ask, reason: "by ada".to_owned() }), "{effects:?}");
    assert_eq!(driven.words(), ["completed", "cancelled", "cancelled"]);
    assert_eq!(driven.apply_event(Event::Begin), [], "an ended run does not begin again");
}
