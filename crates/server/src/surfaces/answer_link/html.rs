//! The HTML of the answer page. All agent text is escaped, and invisible characters are shown as their codes.

use sayso_core::ask::{Approval, ApprovalDecision, Ask, AskBody, ExecutedFiles, Input, Link, Preview, Question, QuestionOption};

use crate::config::language::Language;
use crate::service::notes::{choices, project, visible};

/// The part of the page's style sheet that the answer page uses.
const STYLE: &str = ":root{color-scheme:light dark;--canvas:#f5f6f8;--surface:#fff;--sunken:#f3f4f7;--edge:#d5d9e0;--control:#838a97;--ink:#14171d;\
--ink-2:#454c58;--ink-3:#5f6673;--accent:#2255d4;--on-accent:#fff;--pending:#8f4a00;--pending-tint:#fff5dc;--pending-line:#eccd84;--rejected:#b02318}\
@media(prefers-color-scheme:dark){:root{--canvas:#0d0f12;--surface:#14171b;--sunken:#0f1215;--edge:#303741;--control:#6d7684;--ink:#eceef2;\
--ink-2:#b3bac5;--ink-3:#929aa7;--accent:#86abff;--on-accent:#0d0f12;--pending:#f4ba4f;--pending-tint:#2a2010;--pending-line:#5e471c;--rejected:#ff9188}}\
*{box-sizing:border-box}body{margin:0;font:16px/24px system-ui,sans-serif;color:var(--ink);background:var(--canvas)}\
main{max-width:40rem;margin:0 auto;padding:0 1rem 2rem;background:var(--surface);min-height:100vh;overflow-wrap:anywhere}\
.waits{margin:0 -1rem 1rem;padding:.6rem 1rem;font-weight:600;color:var(--pending);background:var(--pending-tint);border-bottom:1px solid var(--pending-line)}\
.who,.about{color:var(--ink-3)}.who b{color:var(--ink)}h1{font-size:20px;line-height:28px;margin:1rem 0}h2{font-size:16px}\
.head{display:inline-block;padding:0 .5rem;border-radius:4px;background:var(--sunken);color:var(--ink-2);font-size:14px}\
details,pre{background:var(--sunken);border-radius:6px}details{padding:.5rem .75rem;margin:1rem 0;color:var(--ink-2)}\
pre{white-space:pre-wrap;margin:.5rem 0;padding:.75rem;font:14px/22px ui-monospace,Menlo,Consolas,monospace}details pre{padding:0}\
fieldset{border:0;margin:0 0 1.5rem;padding:0}legend{padding:0;font-size:20px;line-height:28px;font-weight:600;margin:.5rem 0}\
button,.option,input[type=text]{display:block;width:100%;min-height:44px;margin:.5rem 0;padding:.6rem .75rem;font:inherit;text-align:left;color:var(--ink);\
background:var(--surface);border:1px solid var(--edge);border-radius:10px}input[type=text]{border-color:var(--control)}\
button:focus-visible,input:focus-visible{outline:2px solid var(--accent);outline-offset:1px}.about{display:block;font-size:14px}\
.option:has(:checked){border-color:var(--accent)}.yes{background:var(--accent);border-color:var(--accent);color:var(--on-accent);text-align:center}\
.no{border:0;background:none;color:var(--rejected);text-align:center}";

fn page(language: Language, body: &str) -> String {
    let lang = language.tag();
    format!(
        "<!doctype html><html lang=\"{lang}\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <meta name=\"robots\" content=\"noindex\"><title>Sayso</title><style>{STYLE}</style></head><body><main>{body}</main></body></html>"
    )
}

/// A page with a message.
pub(super) fn message(language: Language, words: &str) -> String {
    page(language, &format!("<p role=\"status\">{}</p>", safe(words)))
}

/// The page of a pending ask, with its controls.
pub(super) fn ask(language: Language, ask: &Ask) -> String {
    let project = project(ask).map(|project| format!(" · {}", safe(&project))).unwrap_or_default();
    let who = format!("<p class=\"who\"><b>{}</b>{project}</p>", safe(&ask.context.agent));
    let asked = match &*ask.body {
        AskBody::Approval(approval) => of_approval(language, approval, ask.context.executes.as_ref()),
        AskBody::Link(link) => of_link(language, link),
        AskBody::Question { questions } => of_questions(language, questions, ask.body.is_secret()),
    };
    let before = ask.context.context.as_ref();
    let summary = language.pick("Before asking, the agent said", "询问之前，智能体说");
    let before = before.map(|said| format!("<details><summary>{summary}</summary>{}</details>", pre(said)));
    let waits = language.pick("Waiting for you", "等待你处理");
    page(language, &format!("<p class=\"waits\">{waits}</p>{who}{}{asked}", before.unwrap_or_default()))
}

fn of_approval(language: Language, approval: &Approval, executes: Option<&ExecutedFiles>) -> String {
    let mut out = approval.own_title().map(|title| format!("<h1>{}</h1>", safe(title))).unwrap_or_default();
    match &approval.preview {
        Some(Preview::Command { command, cwd }) => {
            out.push_str(&pre(command));
            out.extend(cwd.as_ref().map(|cwd| format!("<p class=\"about\">{} {}</p>", language.pick("in", "位于"), safe(cwd))));
        }
        Some(Preview::Diff { files }) => {
            for file in files {
                out.push_str(&format!("<h2>{}</h2>{}", safe(&file.path), pre(&file.diff)));
            }
        }
        Some(Preview::Plan { text } | Preview::Text { text }) => out.push_str(&pre(text)),
        None => {}
    }
    for file in executes.map(|executes| executes.files.as_slice()).unwrap_or_default() {
        let (executes, hidden) = match language {
            Language::English => ("Executes", ". Content not available here."),
            Language::Chinese => ("将执行", "。此处无法显示内容。"),
        };
        out.push_str(&format!("<p class=\"about\">{executes} {}{hidden}</p>", safe(&file.path)));
    }
    if executes.is_some_and(|executes| executes.unlisted) {
        let words = language.pick("Runs code from the project", "会运行项目中的代码");
        out.push_str(&format!("<p class=\"about\">{words}</p>"));
    }
    out.push_str(&format!(
        "<details{}><summary>{}</summary>{}</details>",
        if approval.preview.is_none() { " open" } else { "" },
        safe(&approval.tool),
        pre(approval.input.as_str())
    ));
    out.extend(approval.reason.as_ref().map(|reason| format!("<p>{}</p>", safe(reason))));
    let allowed = |decision, button: String| if approval.allows(decision) { button } else { String::new() };
    let approve = allowed(ApprovalDecision::Approve, yes("approve", language.pick("Approve", "批准")));
    if approve.is_empty() && approval.allows(ApprovalDecision::Edit) {
        let words = language
            .pick("The input has to be edited. To edit and approve it, open Sayso.", "必须先修改输入。请打开 Sayso 修改并批准。");
        out.push_str(&format!("<p>{words}</p>"));
    }
    out.push_str(&form(&format!("{approve}{}", allowed(ApprovalDecision::Deny, no("deny", language.pick("Deny", "拒绝"))))));
    out
}

fn of_link(language: Language, link: &Link) -> String {
    let message = link.message.as_ref().map(|message| format!("<p>{}</p>", safe(message))).unwrap_or_default();
    // The address comes from the agent, so it is shown as text and not as a link.
    let opened = yes("approve", language.pick("I opened it", "我已打开"));
    let buttons = format!("{opened}{}", no("deny", language.pick("Deny", "拒绝")));
    format!("<h1>{}</h1>{message}{}{}", language.pick("Open a link", "打开链接"), pre(&link.url), form(&buttons))
}

fn of_questions(language: Language, questions: &[Question], is_secret: bool) -> String {
    let reject = no("reject", language.pick("Reject", "拒答"));
    if is_secret {
        let texts: String = questions.iter().map(|question| format!("<h1>{}</h1>", safe(&question.text))).collect();
        let words = language.pick("The answer is a secret. To enter it, open Sayso.", "答案是机密。请打开 Sayso 输入。");
        return format!("{texts}<p>{words}</p>{}", form(&reject));
    }
    if let [only] = questions
        && !only.takes_text()
        && !choices(only, language).is_empty()
    {
        let abouts = only.options().iter().map(|option| option.description.as_deref()).chain(std::iter::repeat(None));
        let choice = |((index, (label, _)), description): ((usize, (String, String)), Option<&str>)| {
            button("", &format!("choose:{index}"), &format!("{}{}", safe(&label), option_description(description)))
        };
        let options: String = choices(only, language).into_iter().enumerate().zip(abouts).map(choice).collect();
        return format!("{}<h1>{}</h1>{}{}", header(only), safe(&only.text), form(&options), form(&reject));
    }
    let fields: String = questions.iter().enumerate().map(|(index, question)| field(language, index, question)).collect();
    format!("{}{}", form(&format!("{fields}{}", yes("answer", language.pick("Answer", "回答")))), form(&reject))
}

fn field(language: Language, index: usize, question: &Question) -> String {
    let name = format!("q{index}");
    let option = |kind: &str, value: &str, label: &str, description: Option<&str>| {
        let (value, label, about) = (safe(value), safe(label), option_description(description));
        format!("<label class=\"option\"><input type=\"{kind}\" name=\"{name}\" value=\"{value}\"> {label}{about}</label>")
    };
    let text = |hint: &str| {
        format!("<input type=\"text\" name=\"{name}\" autocomplete=\"off\" placeholder=\"{hint}\" aria-label=\"{hint}\">")
    };
    let inputs = match &question.input {
        Input::Choice { options, multiple, custom } => {
            let kind = if *multiple { "checkbox" } else { "radio" };
            let one = |one: &QuestionOption| option(kind, &one.value, &one.label, one.description.as_deref());
            let mut out: String = options.iter().map(one).collect();
            if *custom {
                out.push_str(&text(language.pick("Other: type your answer", "其他：输入你的回答")));
            }
            out
        }
        Input::YesNo => choices(question, language).iter().map(|(label, value)| option("radio", value, label, None)).collect(),
        Input::Text { .. } | Input::Number { .. } => text(language.pick("Your answer", "你的回答")),
    };
    format!("{}<fieldset><legend>{}</legend>{inputs}</fieldset>", header(question), safe(&question.text))
}

fn header(question: &Question) -> String {
    question.header.as_ref().map(|header| format!("<span class=\"head\">{}</span>", safe(header))).unwrap_or_default()
}

fn option_description(description: Option<&str>) -> String {
    description.map(|about| format!("<span class=\"about\">{}</span>", safe(about))).unwrap_or_default()
}

fn form(inside: &str) -> String {
    format!("<form method=\"post\">{inside}</form>")
}

/// Renders a button. `inside` is HTML and must be escaped.
fn button(class: &str, press: &str, inside: &str) -> String {
    format!("<button class=\"{class}\" name=\"press\" value=\"{press}\">{inside}</button>")
}

fn yes(press: &str, label: &str) -> String {
    button("yes", press, label)
}

fn no(press: &str, label: &str) -> String {
    button("no", press, label)
}

fn pre(text: &str) -> String {
    format!("<pre>{}</pre>", safe(text))
}

/// Escapes text for a page or an attribute.
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
    fn markup_in_an_option_value_is_escaped() {
        let options = vec![QuestionOption::new("\"><script>x</script>", None)];
        let input = Input::Choice { options, multiple: true, custom: false };
        let question =
            Question { key: "0".into(), header: None, text: "<i>?".into(), input, required: true, response_schema: None };
        let page = of_questions(Language::English, &[question], false);
        assert!(!page.contains("<script") && !page.contains("<i>") && page.contains("value=\"&quot;&gt;&lt;script"), "{page}");
    }
}
