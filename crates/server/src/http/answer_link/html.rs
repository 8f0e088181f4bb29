//! The page as text. Everything that an agent said is escaped, and nothing in it is hidden.

use sayso_core::ask::{Approval, Ask, AskBody, Input, Link, Preview, Question};

use crate::notify::{choices, visible};

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}\
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f3f3f3;padding:.75rem;border-radius:.25rem}\
button{font:inherit;padding:.6rem 1rem;margin:.25rem .5rem .25rem 0;min-height:44px}\
input[type=text]{font:inherit;width:100%;padding:.5rem;box-sizing:border-box}label{display:block;padding:.4rem 0}\
fieldset{border:1px solid #bbb;margin:1rem 0}.who{color:#555}\
@media(prefers-color-scheme:dark){body{color:#eee;background:#161616}pre{background:#262626}.who{color:#aaa}}";

fn page(body: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <meta name=\"robots\" content=\"noindex\"><title>Sayso</title><style>{STYLE}</style></head><body>{body}</body></html>"
    )
}

/// A page that only says something.
pub(super) fn message(words: &str) -> String {
    page(&format!("<p role=\"status\">{}</p>", safe(words)))
}

/// A page that shows what is asked, with everything that can be decided.
pub(super) fn ask(ask: &Ask) -> String {
    let who = match &ask.context.project {
        Some(project) => format!("{} in {project}", ask.context.agent),
        None => ask.context.agent.clone(),
    };
    let asked = match &*ask.body {
        AskBody::Approval(approval) => of_approval(approval),
        AskBody::Link(link) => of_link(link),
        AskBody::Question { questions } => of_questions(questions, ask.body.is_secret()),
    };
    let said = ask
        .context
        .context
        .as_ref()
        .map(|said| format!("<details><summary>What the agent said before</summary><pre>{}</pre></details>", safe(said)));
    page(&format!("<p class=\"who\">{} waits for you</p>{asked}{}", safe(&who), said.unwrap_or_default()))
}

fn of_approval(approval: &Approval) -> String {
    let mut out = format!("<h1>{}</h1>", safe(&approval.title));
    match &approval.preview {
        Some(Preview::Command { command, cwd }) => {
            out.push_str(&pre(command));
            out.extend(cwd.as_ref().map(|cwd| format!("<p>in {}</p>", safe(cwd))));
        }
        Some(Preview::Diff { files }) => {
            for file in files {
                out.push_str(&format!("<h2>{}</h2>{}", safe(&file.path), pre(&file.diff)));
            }
        }
        Some(Preview::Plan { text } | Preview::Text { text }) => out.push_str(&pre(text)),
        None => {}
    }
    out.push_str(&format!(
        "<details{}><summary>{}</summary>{}</details>",
        if approval.preview.is_none() { " open" } else { "" },
        safe(&approval.tool),
        pre(approval.input.as_str())
    ));
    out.extend(approval.reason.as_ref().map(|reason| format!("<p>{}</p>", safe(reason))));
    out.push_str(&form(&format!("{}{}", button("approve", "Approve"), button("deny", "Deny"))));
    out
}

fn of_link(link: &Link) -> String {
    let message = link.message.as_ref().map(|message| format!("<p>{}</p>", safe(message))).unwrap_or_default();
    // The address is shown, not linked: it is the agent's.
    let buttons = format!("{}{}", button("approve", "I opened it"), button("deny", "Deny"));
    format!("<h1>Open this address</h1>{message}{}{}", pre(&link.url), form(&buttons))
}

fn of_questions(questions: &[Question], is_secret: bool) -> String {
    let reject = button("reject", "Reject");
    if is_secret {
        let texts: String = questions.iter().map(|question| format!("<h1>{}</h1>", safe(&question.text))).collect();
        return format!("{texts}<p>The answer is a secret. Give it in Sayso itself, not over a link.</p>{}", form(&reject));
    }
    if let [only] = questions
        && !only.takes_text()
        && !choices(only).is_empty()
    {
        let choice = |(index, (label, _)): (usize, (String, String))| button(&format!("choose:{index}"), &label);
        let options: String = choices(only).into_iter().enumerate().map(choice).collect();
        return format!("<h1>{}</h1>{}{}{}", safe(&only.text), descriptions(only), form(&options), form(&reject));
    }
    let fields: String = questions.iter().enumerate().map(|(index, question)| field(index, question)).collect();
    format!("{}{}", form(&format!("{fields}{}", button("answer", "Answer"))), form(&reject))
}

fn field(index: usize, question: &Question) -> String {
    let name = format!("q{index}");
    let option = |kind: &str, value: &str, label: &str| {
        format!("<label><input type=\"{kind}\" name=\"{name}\" value=\"{}\"> {}</label>", safe(value), safe(label))
    };
    let text = |hint: &str| format!("<label>{hint}<input type=\"text\" name=\"{name}\" autocomplete=\"off\"></label>");
    let inputs = match &question.input {
        Input::Choice { options, multiple, custom } => {
            let kind = if *multiple { "checkbox" } else { "radio" };
            let mut out: String = options.iter().map(|one| option(kind, &one.value, &one.label)).collect();
            if *custom {
                out.push_str(&text("Or in your own words "));
            }
            out
        }
        Input::YesNo => format!("{}{}", option("radio", "true", "Yes"), option("radio", "false", "No")),
        Input::Text { .. } | Input::Number { .. } => text(""),
    };
    format!("<fieldset><legend>{}</legend>{}{inputs}</fieldset>", safe(&question.text), descriptions(question))
}

fn descriptions(question: &Question) -> String {
    let line = |option: &sayso_core::ask::QuestionOption| {
        let about = option.description.as_ref()?;
        Some(format!("<li>{}: {}</li>", safe(&option.label), safe(about)))
    };
    let lines: String = question.options().iter().filter_map(line).collect();
    if lines.is_empty() { lines } else { format!("<ul>{lines}</ul>") }
}

fn form(inside: &str) -> String {
    format!("<form method=\"post\">{inside}</form>")
}

fn button(press: &str, label: &str) -> String {
    format!("<button name=\"press\" value=\"{press}\">{}</button>", safe(label))
}

fn pre(text: &str) -> String {
    format!("<pre>{}</pre>", safe(text))
}

/// Somebody's text inside a page, also inside an attribute.
fn safe(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in visible(text).chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_an_agent_is_never_markup() {
        assert_eq!(safe("<b a='1' c=\"2\">&\u{202e}"), "&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;&lt;U+202E&gt;");
    }

    #[test]
    fn an_option_with_markup_in_its_value_stays_an_option() {
        let options = vec![sayso_core::ask::QuestionOption::new("\"><script>x</script>", None)];
        let input = Input::Choice { options, multiple: true, custom: false };
        let question = Question { key: "0".into(), header: None, text: "<i>?".into(), input, required: true };
        let page = of_questions(&[question], false);
        assert!(!page.contains("<script") && !page.contains("<i>") && page.contains("value=\"&quot;&gt;&lt;script"), "{page}");
    }
}
