//! `sayso answer`: answers with values from the command line, or with a prompt.

use std::cell::Cell;
use std::io::Read;

use sayso_client::Client;
use sayso_client::api::ask::{AnswerRequest, Ask, AskKind, Delivery, Question};

use crate::app::App;
use crate::args::AnswerArgs;
use crate::failure::{Failure, exit};
use crate::order::ending;
use crate::output::Output;
use crate::prompt::{Ended, Prompt, parse, render};
use crate::terminal::Keyboard;
use crate::words;

pub(crate) async fn run(app: &App, args: AnswerArgs) -> Result<(), Failure> {
    let client = app.client()?;
    let ask = client.find_ask(&args.id).await?;
    let answers = match (&args.answers, args.values.is_empty()) {
        (Some(json), _) => serde_json::from_str(json).map_err(|error| {
            Failure::usage(format!("The answers are not valid: {error}."))
                .then("Expected one list of strings per question, for example '[[\"SQLite\"],[\"a\",\"b\"]]'.")
        })?,
        (None, false) => from_values(&ask, &args.values, read_stdin)?,
        (None, true) if ask.outcome.is_some() => return Err(Failure::new(format!("Not sent. {}", words::state(&ask)))),
        (None, true) if app.out.json => {
            return Err(Failure::usage("There is no prompt with --json.").then("Pass the values: sayso answer ID VALUE"));
        }
        (None, true) => return prompt_for(app, &client, &ask).await,
    };
    let decided = client.answer(&ask.id, &AnswerRequest { answers, note: args.note }).await?;
    app.out.result(&decided, || result(&decided, &app.out))
}

/// Shows an ask with its context and prompts for a decision.
pub(crate) async fn prompt_for(app: &App, client: &Client, ask: &Ask) -> Result<(), Failure> {
    let mut keyboard = Keyboard::open(&app.out)?;
    if let Some(context) = render::context(ask, &app.out.look) {
        app.out.line(&context);
    }
    let prompt = Prompt { out: &app.out, client, ask, note: &String::new, is_sending: Cell::new(false) };
    match prompt.run(&mut keyboard).await? {
        Ended::Decided(decided) => app.out.line(&result(&decided, &app.out)),
        Ended::Elsewhere(_) => {}
        Ended::Left => {
            let verb = if ask.kind == AskKind::Question { "reject" } else { "deny" };
            app.out.line(&format!("The ask is still pending. To say no: sayso {verb} {}", ending(&ask.id, 4)));
        }
        Ended::Interrupted => return Err(Failure { exit: exit::INTERRUPTED, ..Failure::new("The ask is still pending.") }),
    }
    Ok(())
}

/// Describes the outcome of an ask in one line.
pub(crate) fn result(ask: &Ask, out: &Output) -> String {
    // Right after the commit the outcome is always queued, so this state is not mentioned.
    let sentence = match (&ask.outcome, ask.delivery) {
        (Some(outcome), Some(Delivery::Queued)) => words::outcome(outcome),
        (Some(_) | None, _) => words::state(ask),
    };
    format!("{} {sentence}", words::sign(ask, &out.look))
}

/// Parses the values: a single question takes all of them, several questions take one value each. A value for a
/// `multiple` question can list options, separated by commas.
fn from_values(
    ask: &Ask,
    values: &[String],
    stdin: impl FnOnce() -> Result<String, Failure>,
) -> Result<Vec<Vec<String>>, Failure> {
    if ask.kind != AskKind::Question {
        return Err(Failure::usage("This ask is not a question.").then("Decide it with: sayso approve ID, or sayso deny ID"));
    }
    let shown = values.iter().zip(&ask.questions).any(|(value, question)| question.secret && value != "-");
    if shown {
        return Err(Failure::usage("Other users can read a secret on the command line.")
            .then("Omit the value to be prompted for it, or pipe it: … | sayso answer ID -"));
    }
    let mut stdin = Some(stdin);
    let mut values: Vec<String> = values.to_vec();
    for value in values.iter_mut().filter(|value| value.as_str() == "-") {
        let read = stdin.take().ok_or_else(|| Failure::usage("`-` can be used only once."))?;
        *value = read()?;
    }
    match ask.questions.as_slice() {
        [only] if only.multiple && values.len() > 1 => {
            let mut entries: Vec<String> = Vec::new();
            for value in &values {
                for entry in parse_value(only, value)? {
                    if !entries.contains(&entry) {
                        entries.push(entry);
                    }
                }
            }
            Ok(vec![entries])
        }
        [only] if values.len() == 1 => Ok(vec![parse_value(only, &values[0])?]),
        questions if questions.len() == values.len() => {
            questions.iter().zip(&values).map(|(question, value)| parse_value(question, value)).collect()
        }
        questions => Err(Failure::usage(format!(
            "{} for {}.",
            words::count(values.len(), "value", "values"),
            words::count(questions.len(), "question", "questions")
        ))
        .then("Pass one value per question, or omit them to be prompted.")),
    }
}

fn parse_value(question: &Question, value: &str) -> Result<Vec<String>, Failure> {
    parse::answer(question, value).map_err(|problem| Failure::usage(format!("Not sent. {problem}")))
}

fn read_stdin() -> Result<String, Failure> {
    let mut text = String::new();
    std::io::stdin().lock().read_to_string(&mut text).map_err(|error| Failure::io("Cannot read standard input", &error))?;
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{approval_ask, database, question, question_ask};

    fn parse_values(ask: &Ask, values: &[&str]) -> Result<Vec<Vec<String>>, Failure> {
        let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
        from_values(ask, &values, || Ok("piped".to_owned()))
    }

    #[test]
    fn values_parse_as_in_the_prompt() {
        let single = question_ask();
        assert_eq!(parse_values(&single, &["2"]).unwrap(), [["PostgreSQL"]]);
        assert_eq!(parse_values(&single, &["my own"]).unwrap(), [["my own"]]);
        assert_eq!(parse_values(&single, &["-"]).unwrap(), [["piped"]]);
        assert_eq!(parse_values(&single, &["1", "2"]).unwrap_err().exit, exit::USAGE);
        assert_eq!(parse_values(&single, &["7"]).unwrap_err().exit, exit::USAGE);

        let several = Ask { questions: vec![Question { multiple: true, ..database() }], ..question_ask() };
        assert_eq!(parse_values(&several, &["1", "2", "1"]).unwrap(), [["SQLite", "PostgreSQL"]]);
        assert_eq!(parse_values(&several, &["1,2"]).unwrap(), [["SQLite", "PostgreSQL"]]);

        let set = Ask { questions: vec![database(), question(&[])], ..question_ask() };
        assert_eq!(parse_values(&set, &["1", "free text"]).unwrap(), [["SQLite"], ["free text"]]);
        assert_eq!(parse_values(&set, &["1"]).unwrap_err().what, "1 value for 2 questions.");
        assert_eq!(parse_values(&set, &["-", "-"]).unwrap_err().what, "`-` can be used only once.");
        assert_eq!(parse_values(&approval_ask(), &["yes"]).unwrap_err().exit, exit::USAGE);
    }

    #[test]
    fn secret_on_the_command_line_is_refused() {
        let secret = Ask { questions: vec![Question { secret: true, ..question(&[]) }], ..question_ask() };
        assert_eq!(parse_values(&secret, &["hunter2"]).unwrap_err().what, "Other users can read a secret on the command line.");
        assert_eq!(parse_values(&secret, &["-"]).unwrap(), [["piped"]]);
    }
}
