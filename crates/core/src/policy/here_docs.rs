//! Removes here-documents from a line before it is parsed.
//!
//! The parser loops forever and exhausts memory on some here-documents (`$( << &&`), and an agent could send one. So they are
//! removed here and the parser gets the rest. If the position of a here-document is unclear, the line is unreadable.

#[derive(Debug, PartialEq, Eq)]
pub(super) struct LineWithoutHereDocs {
    /// The rest of the line.
    pub(super) line: String,
    /// The content of the here-documents.
    pub(super) bodies: Vec<Body>,
}

/// The content of a here-document.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Body {
    pub(super) text: String,
    /// Whether the shell expands it, because the tag is not quoted.
    pub(super) expands: bool,
}

struct Tag {
    name: String,
    tabs: bool,
    expands: bool,
}

/// A context in which quotes have another meaning.
#[derive(Clone, Copy, PartialEq, Eq)]
enum QuoteContext {
    Quotes,
    Parentheses,
}

struct Cutter<'a> {
    chars: &'a [char],
    at: usize,
    line: String,
    bodies: Vec<Body>,
    pending: Vec<Tag>,
    nested: Vec<QuoteContext>,
}

/// Removes the here-documents from a line. Returns `None` if their positions are unclear.
pub(super) fn remove_here_docs(line: &str) -> Option<LineWithoutHereDocs> {
    if !line.contains("<<") {
        return Some(LineWithoutHereDocs { line: line.to_owned(), bodies: Vec::new() });
    }
    let chars: Vec<char> = line.chars().collect();
    let mut cutter =
        Cutter { chars: &chars, at: 0, line: String::new(), bodies: Vec::new(), pending: Vec::new(), nested: Vec::new() };
    cutter.run()?;
    cutter.pending.is_empty().then_some(LineWithoutHereDocs { line: cutter.line, bodies: cutter.bodies })
}

impl Cutter<'_> {
    fn run(&mut self) -> Option<()> {
        while let Some(c) = self.peek(0) {
            let quoted = self.nested.last() == Some(&QuoteContext::Quotes);
            match (c, self.peek(1)) {
                ('\\', _) => self.copy(2),
                ('"', _) if quoted => {
                    self.nested.pop();
                    self.copy(1);
                }
                ('"', _) => {
                    self.nested.push(QuoteContext::Quotes);
                    self.copy(1);
                }
                ('$', Some('(')) => {
                    self.nested.push(QuoteContext::Parentheses);
                    self.copy(2);
                }
                ('$', Some('\'')) if !quoted => {
                    self.copy(2);
                    while self.peek(0)? != '\'' {
                        self.copy(if self.peek(0) == Some('\\') { 2 } else { 1 });
                    }
                    self.copy(1);
                }
                ('\'', _) if !quoted => {
                    self.copy(1);
                    while self.peek(0)? != '\'' {
                        self.copy(1);
                    }
                    self.copy(1);
                }
                ('(', _) if !quoted => {
                    self.nested.push(QuoteContext::Parentheses);
                    self.copy(1);
                }
                (')', _) if !quoted => {
                    self.nested.pop();
                    self.copy(1);
                }
                ('<', Some('<')) if !quoted => self.read_here_operator()?,
                ('\n', _) if !quoted => {
                    self.copy(1);
                    self.take_bodies()?;
                }
                _ => self.copy(1),
            }
        }
        Some(())
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn copy(&mut self, count: usize) {
        let end = (self.at + count).min(self.chars.len());
        self.line.extend(&self.chars[self.at..end]);
        self.at = end;
    }

    /// Handles `<<`. A here-string stays; the tag of a here-document is stored and removed.
    fn read_here_operator(&mut self) -> Option<()> {
        if self.peek(2) == Some('<') {
            self.copy(3);
            return (self.peek(0) != Some('<')).then_some(());
        }
        self.at += 2;
        let tabs = self.peek(0) == Some('-');
        self.at += usize::from(tabs);
        while matches!(self.peek(0), Some(' ' | '\t')) {
            self.at += 1;
        }
        let quote = self.peek(0).filter(|c| matches!(c, '\'' | '"' | '\\'));
        self.at += usize::from(quote.is_some());
        let start = self.at;
        while self.peek(0).is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')) {
            self.at += 1;
        }
        let name: String = self.chars[start..self.at].iter().collect();
        if matches!(quote, Some('\'' | '"')) {
            if self.peek(0) != quote {
                return None;
            }
            self.at += 1;
        }
        // The tag has to be the whole word. Lines with `<<E"O"F` or `1<<2` are refused.
        let ends = self.peek(0).is_none_or(|c| matches!(c, ' ' | '\t' | '\n' | ';' | '|' | '&' | ')' | '>' | '<'));
        if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') || !ends {
            return None;
        }
        self.line.push(' ');
        self.pending.push(Tag { name, tabs, expands: quote.is_none() });
        Some(())
    }

    fn take_bodies(&mut self) -> Option<()> {
        for tag in std::mem::take(&mut self.pending) {
            let mut text = String::new();
            loop {
                if self.at >= self.chars.len() {
                    return None;
                }
                let end = (self.at..self.chars.len()).find(|at| self.chars[*at] == '\n').unwrap_or(self.chars.len());
                let line: String = self.chars[self.at..end].iter().collect();
                self.at = (end + 1).min(self.chars.len());
                if (if tag.tabs { line.trim_start_matches('\t') } else { &line }) == tag.name {
                    break;
                }
                text.push_str(&line);
                text.push('\n');
            }
            self.bodies.push(Body { text, expands: tag.expands });
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn here_documents_are_removed() {
        let body = |text: &str, expands| Body { text: text.to_owned(), expands };
        for (line, left, bodies) in [
            ("cat << E\nx\nE\nls", "cat  \nls", vec![body("x\n", true)]),
            ("cat <<'E' > f\n$(rm x)\nE", "cat   > f\n", vec![body("$(rm x)\n", false)]),
            ("git commit -m \"$(cat <<'EOF'\nit's\nEOF\n)\"", "git commit -m \"$(cat  \n)\"", vec![body("it's\n", false)]),
            ("cat <<A <<-B\n1\nA\n\t2\n\tB\nls", "cat    \nls", vec![body("1\n", true), body("\t2\n", true)]),
            ("cat <<< x", "cat <<< x", vec![]),
            ("grep '<<<<<<< HEAD' \"<< x\"", "grep '<<<<<<< HEAD' \"<< x\"", vec![]),
        ] {
            assert_eq!(remove_here_docs(line), Some(LineWithoutHereDocs { line: left.to_owned(), bodies }), "{line}");
        }
        for unclear in
            ["cat << E\nx", "$( << &&", "cat <<", "cat << $x\na\n", "cat <<<< x", "cat <<E\"O\"F\nEOF", "cat << 'E\nE", "cat <<E"]
        {
            assert_eq!(remove_here_docs(unclear), None, "{unclear}");
        }
    }

    fn cut_of(line: &str, left: &str, bodies: &[(&str, bool)]) {
        let bodies = bodies.iter().map(|(text, expands)| Body { text: (*text).to_owned(), expands: *expands }).collect();
        assert_eq!(remove_here_docs(line), Some(LineWithoutHereDocs { line: left.to_owned(), bodies }), "{line}");
    }

    #[test]
    fn every_quote_of_a_tag_keeps_the_text_as_it_is() {
        cut_of("cat <<E\n$x\nE", "cat  \n", &[("$x\n", true)]);
        cut_of("cat <<'E'\n$x\nE", "cat  \n", &[("$x\n", false)]);
        cut_of("cat <<\"E\"\n$x\nE", "cat  \n", &[("$x\n", false)]);
        cut_of("cat <<\\E\n$x\nE", "cat  \n", &[("$x\n", false)]);
        for unclear in ["cat <<'E\"\n\nE", "cat <<\"E\n\nE", "cat <<'E'F\n\nEF", "cat <<\\E'\n\nE"] {
            assert_eq!(remove_here_docs(unclear), None, "{unclear}");
        }
    }

    #[test]
    fn tag_ends_with_its_word() {
        for behind in [";ls", "|cat", "&", ")", ">f", "<f", " f", "\tf"] {
            cut_of(&format!("cat <<E{behind}\nx\nE"), &format!("cat  {behind}\n"), &[("x\n", true)]);
        }
        cut_of("cat << \t E-1.x_2\n\nE-1.x_2\n", "cat  \n", &[("\n", true)]);
        cut_of("cat <<_\n_", "cat  \n", &[("", true)]);
        for unclear in ["cat <<1\n\n1", "cat <<-\n\n-", "cat <<E$x\n\nE", "cat <<E(\n\nE", "cat <<.E\n\n.E"] {
            assert_eq!(remove_here_docs(unclear), None, "{unclear}");
        }
    }

    #[test]
    fn tabs_before_the_end_count_only_behind_a_dash() {
        cut_of("cat <<-E\n\tx\n\t\tE\nls", "cat  \nls", &[("\tx\n", true)]);
        assert_eq!(remove_here_docs("cat <<E\nx\n\tE"), None);
        assert_eq!(remove_here_docs("cat <<-E\nx\n E"), None);
    }

    #[test]
    fn quotes_and_parentheses_say_where_a_line_ends() {
        // A line break inside quotes does not start the here-document.
        cut_of("cat <<E \"a\nb\"\nx\nE", "cat   \"a\nb\"\n", &[("x\n", true)]);
        cut_of("cat <<E 'a\nb'\nx\nE", "cat   'a\nb'\n", &[("x\n", true)]);
        cut_of("cat <<E $'a\\'\nb'\nx\nE", "cat   $'a\\'\nb'\n", &[("x\n", true)]);
        cut_of("cat <<E \\\" \nx\nE", "cat   \\\" \n", &[("x\n", true)]);
        cut_of("cat <<E \"a\\\"\nb\"\nx\nE", "cat   \"a\\\"\nb\"\n", &[("x\n", true)]);
        // The quotes continue after the parenthesis.
        cut_of("echo \"$(cat <<E\nx\nE\n) << y\" z", "echo \"$(cat  \n) << y\" z", &[("x\n", true)]);
        cut_of("echo \"$( (ls) ; cat <<E\nx\nE\n) << y\"", "echo \"$( (ls) ; cat  \n) << y\"", &[("x\n", true)]);
        cut_of("echo \"( << y\" ) \"$'\" <<< x", "echo \"( << y\" ) \"$'\" <<< x", &[]);
        for unclear in ["cat <<E '\nx\nE", "cat <<E $'\nx\nE", "cat <<E \"\nx\nE"] {
            assert_eq!(remove_here_docs(unclear), None, "{unclear}");
        }
    }
}
