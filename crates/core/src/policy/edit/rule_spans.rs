//! Finds the positions of rules in the text of a policy.

use toml_edit::{Document, Item, Table, TomlError};

/// The byte positions of one `[[rules]]` table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RuleSpan {
    /// The start of the comment directly above the header, or of the header line if there is none.
    pub(super) start: usize,
    /// The end of the rule's last line.
    pub(super) body_end: usize,
    /// The start of the next header with the comment directly above it, or the end of the text.
    pub(super) end: usize,
}

/// Returns the spans of the rules with a `[[rules]]` header, in order. Rules in an array of inline tables have no header.
pub(super) fn rule_spans(text: &str) -> Result<Vec<RuleSpan>, TomlError> {
    let document = Document::parse(text)?;
    let mut starts = Vec::new();
    header_starts(text, document.as_table(), &mut starts);
    starts.sort_unstable();
    let rules = document.as_table().get("rules").and_then(Item::as_array_of_tables);
    let spans = rules.into_iter().flatten().map(|rule| {
        let start = start_of(text, rule).unwrap_or(0);
        let end = starts.iter().copied().find(|other| *other > start).unwrap_or(text.len());
        RuleSpan { start, body_end: start + body_length(&text[start..end]), end }
    });
    Ok(spans.collect())
}

fn header_starts(text: &str, table: &Table, starts: &mut Vec<usize>) {
    for (_, item) in table {
        match item {
            Item::Table(inner) => {
                starts.extend(start_of(text, inner));
                header_starts(text, inner, starts);
            }
            Item::ArrayOfTables(tables) => {
                for inner in tables {
                    starts.extend(start_of(text, inner));
                    header_starts(text, inner, starts);
                }
            }
            Item::Value(_) | Item::None => {}
        }
    }
}

/// Returns the start of a table with a header: the comment directly above it, or the header line.
fn start_of(text: &str, table: &Table) -> Option<usize> {
    if table.is_implicit() || table.is_dotted() {
        return None;
    }
    let header = table.span()?.start;
    // The prefix contains only whitespace and comments.
    let from = table.decor().prefix().and_then(toml_edit::RawString::span).map_or(header, |prefix| prefix.start);
    let mut start = text[from..header].rfind('\n').map_or(from, |newline| from + newline + 1);
    while let Some(line) = text[from..start].strip_suffix('\n') {
        let line_start = line.rfind('\n').map_or(from, |newline| from + newline + 1);
        if !text[line_start..start].trim_start().starts_with('#') {
            break;
        }
        start = line_start;
    }
    Some(start)
}

/// Returns the length of a table up to the end of its last line. Comments after that do not belong to it.
fn body_length(section: &str) -> usize {
    let trailing = Document::parse(section).ok().and_then(|document| document.trailing().span());
    trailing.filter(|span| span.end > span.start).map_or(section.len(), |span| span.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_owns_the_comment_directly_above_it() {
        let text = "# file\n\n# one\n[[rules]]\ndo = \"ask\" # same line\n\n# loose\n\n[questions]\nmessage = \"\"\"\n# no comment\"\"\"\n[[rules]]\ndo = \"deny\"\n";
        let spans = rule_spans(text).unwrap();
        let parts: Vec<(&str, &str)> =
            spans.iter().map(|span| (&text[span.start..span.body_end], &text[span.body_end..span.end])).collect();
        assert_eq!(
            parts,
            [("# one\n[[rules]]\ndo = \"ask\" # same line\n", "\n# loose\n\n"), ("[[rules]]\ndo = \"deny\"\n", ""),]
        );
    }

    #[test]
    fn a_comment_after_the_last_rule_does_not_belong_to_it() {
        let text = "[[rules]]\r\ndo = \"ask\"\r\n\r\n# the end";
        let spans = rule_spans(text).unwrap();
        assert_eq!(spans, [RuleSpan { start: 0, body_end: 23, end: text.len() }]);
    }
}
