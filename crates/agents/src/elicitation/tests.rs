//! Form schemas as real agents send them, and the answers to them.

use super::*;

fn schema(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap()
}

fn answer_entries(answers: &[(&str, &[&str])]) -> Vec<(String, Vec<String>)> {
    answers.iter().map(|(key, entries)| ((*key).to_owned(), entries.iter().map(|entry| (*entry).to_owned()).collect())).collect()
}

/// Two questions in Claude's format.
const CLAUDE: &str = r#"{"type":"object","properties":{
    "question_0":{"type":"string","title":"Database","description":"Which database?","oneOf":[{"const":"pg","title":"Postgres","description":"Robust","_meta":{"_claude/askUserQuestionOption":{"preview":"CREATE TABLE"}}},{"const":"SQLite"}]},
    "question_0_custom":{"type":"string","title":"Other"},
    "question_1":{"type":"array","title":"Features","items":{"anyOf":[{"const":"Auth","title":"Auth"},{"const":"Export","title":"Export"}]}},
    "question_1_custom":{"type":"string","title":"Other"}}}"#;

#[test]
fn field_and_twin_become_one_question() {
    let questions = questions(&schema(CLAUDE), None);
    assert_eq!(questions.len(), 2);
    let first = QuestionOption {
        value: "pg".into(),
        label: "Postgres".into(),
        description: Some("Robust".into()),
        preview: Some("CREATE TABLE".into()),
    };
    let options = vec![first, QuestionOption::new("SQLite", None)];
    let input = Input::Choice { options, multiple: false, custom: true };
    let wanted = Question {
        key: "question_0".into(),
        header: Some("Database".into()),
        text: "Which database?".into(),
        input,
        required: false,
        response_schema: None,
    };
    assert_eq!(questions[0], wanted);
    assert!(questions[1].multiple() && questions[1].takes_text());
}

#[test]
fn answers_are_split_between_field_and_twin() {
    let content = |answers: &[(&str, &[&str])]| content(&schema(CLAUDE), &answer_entries(answers));
    assert_eq!(
        content(&[("question_0", &["pg"]), ("question_1", &["Auth", "Export", "Dark mode"])]),
        r#"{"question_0":"pg","question_1_custom":"Dark mode","question_1":["Auth","Export"]}"#
    );
    assert_eq!(content(&[("question_0", &["DuckDB"]), ("question_1", &[])]), r#"{"question_0_custom":"DuckDB"}"#);
    assert_eq!(content(&[("question_0", &["pg", "in WAL mode"])]), r#"{"question_0_custom":"in WAL mode","question_0":"pg"}"#);
    assert_eq!(content(&[("question_0", &["  "]), ("nobody", &["x"])]), "{}");
}

#[test]
fn codex_title_becomes_the_question_text() {
    let schema = schema(
        r#"{"properties":{"db":{"type":"string","title":"Which database?","description":"Database","enum":["A","None of the above"]},
        "db_note":{"type":"string"},"token":{"type":"string","title":"Token","_meta":{"codex":{"isSecret":true}}}},"required":["db"]}"#,
    );
    let asked = questions(&schema, None);
    assert_eq!(
        (asked[0].header.as_deref(), asked[0].text.as_str(), asked[0].required),
        (Some("Database"), "Which database?", true)
    );
    assert!(asked[1].is_secret());
    assert_eq!(
        content(&schema, &answer_entries(&[("db", &["own words"])])),
        r#"{"db_note":"own words","db":"None of the above"}"#
    );
}

#[test]
fn every_schema_type_is_asked_and_answered() {
    let schema = schema(
        r#"{"properties":{
        "zeta":{"type":"integer","minimum":1,"maximum":5,"title":"Replicas","default":2},
        "alpha":{"type":["null","number"]},
        "sure":{"type":"boolean","title":"Sure?"},
        "level":{"enum":[1,"two",true],"enumNames":["One"]},
        "pin":{"type":"string","format":"password"},
        "maybe":{"anyOf":[{"type":"string"},{"type":"null"}],"title":"Maybe"},
        "tags":{"type":"array","items":{"type":"integer"}},
        "shape":{"type":"object"},
        "bare":{},
        "odd":7},"required":["zeta","sure"]}"#,
    );
    let asked = questions(&schema, Some(&["pin".to_owned(), "bare".to_owned()]));
    let kinds: Vec<String> = asked
        .iter()
        .map(|question| {
            let kind = match &question.input {
                Input::Choice { options, multiple, custom } => format!("choice of {} {multiple} {custom}", options.len()),
                Input::Text { secret } => format!("text {secret}"),
                Input::Number { minimum, maximum, integer } => format!("number {minimum:?} {maximum:?} {integer}"),
                Input::YesNo => "yes or no".to_owned(),
            };
            format!("{}: {kind} {}", question.key, question.required)
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "pin: text true false",
            "bare: text false false",
            "zeta: number Some(1.0) Some(5.0) true false",
            "alpha: number None None false false",
            "sure: yes or no true",
            "level: choice of 3 false false false",
            "maybe: text false false",
            "tags: text false false",
            "shape: text false false",
            "odd: text false false",
        ]
    );
    assert_eq!(asked[2].text, "Replicas (default: 2)");
    assert_eq!(
        content(
            &schema,
            &answer_entries(&[
                ("zeta", &[]),
                ("alpha", &["+.5"]),
                ("sure", &["false"]),
                ("level", &["true"]),
                ("tags", &["1\n 2.0"]),
                ("shape", &[r#"{"a":1}"#]),
                ("odd", &["x"])
            ])
        ),
        r#"{"zeta":2,"alpha":0.5,"sure":false,"level":true,"tags":[1,2],"shape":{"a":1},"odd":"x"}"#
    );
    assert_eq!(
        content(&schema, &answer_entries(&[("zeta", &["3.0"]), ("alpha", &["1e400"]), ("level", &["One"])])),
        r#"{"zeta":3,"alpha":"1e400","level":1}"#
    );
}

#[test]
fn form_without_fields_is_a_yes_or_no_question() {
    for empty in ["{}", r#"{"type":"object","properties":{}}"#, "7", r#"{"properties":[]}"#] {
        let mut asked = questions(&schema(empty), None);
        introduce(&mut asked, "Deploy now?");
        assert_eq!((asked[0].text.as_str(), &asked[0].input, asked.len()), ("Deploy now?", &Input::YesNo, 1));
        assert!(refuses(&schema(empty), &answer_entries(&[("confirm", &["false"])])));
        assert!(!refuses(&schema(empty), &answer_entries(&[("confirm", &["true"])])));
        assert_eq!(content(&schema(empty), &answer_entries(&[("confirm", &["true"])])), "{}");
    }
    assert!(!refuses(&schema(CLAUDE), &[]));
}

#[test]
fn form_message_is_kept_in_the_first_question() {
    let first = |json: &str, message: &str| {
        let mut asked = questions(&schema(json), None);
        introduce(&mut asked, message);
        (asked[0].header.clone(), asked[0].text.clone())
    };
    let titled = r#"{"properties":{"env":{"type":"string","title":"Environment"},"n":{"type":"number"}}}"#;
    assert_eq!(first(titled, "Deploy where?"), (Some("Environment".into()), "Deploy where?".into()));
    assert_eq!(first(CLAUDE, "Please answer the following questions."), (Some("Database".into()), "Which database?".into()));
    assert_eq!(first(CLAUDE, "Two things."), (Some("Database".into()), "Two things.\n\nWhich database?".into()));
    assert_eq!(first(titled, " "), (None, "Environment".into()));
    let preset = r#"{"properties":{"n":{"type":"integer","title":"Replicas","default":2}}}"#;
    assert_eq!(first(preset, "How many?"), (Some("Replicas".into()), "How many? (default: 2)".into()));
}
