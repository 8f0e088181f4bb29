//! Here-documents, cut out before the parser sees the line.
//!
//! The parser does not come back from some of them (`$( << &&`): it loops and eats memory, and an
//! agent could send it one. So they are cut out here, the parser gets the rest, and a line whose
//! here-documents are not all clear is unreadable.

/// A line without its here-documents.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// What is left.
    pub(super) line: String,
    /// What was in them.
    pub(super) bodies: Vec<Body>,
}

/// What stands in a here-document.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Body {
    /// Its lines.
    pub(super) text: String,
    /// Whether the shell expands it, as it does when the tag is not quoted.
    pub(super) expands: bool,
}

struct Tag {
    name: String,
    tabs: bool,
    expands: bool,
}

/// Where quotes mean something else.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Quotes,
    Parentheses,
}

struct Cutter<'a> {
    chars: &'a [char],
    at: usize,
    line: String,
    bodies: Vec<Body>,
    pending: Vec<Tag>,
    nested: Vec<Inside>,
}

/// Cuts the here-documents out of a line; nothing if it is not clear where they are.
pub(super) fn cut(line: &str) -> Option<Cut> {
    if !line.contains("<<") {
        return Some(Cut { line: line.to_owned(), bodies: Vec::new() });
    }
    let chars: Vec<char> = line.chars().collect();
    let mut cutter =
        Cutter { chars: &chars, at: 0, line: String::new(), bodies: Vec::new(), pending: Vec::new(), nested: Vec::new() };
    cutter.run()?;
    cutter.pending.is_empty().then_some(Cut { line: cutter.line, bodies: cutter.bodies })
}

impl Cutter<'_> {
    fn run(&mut self) -> Option<()> {
        while let Some(c) = self.peek(0) {
            let quoted = self.nested.last() == Some(&Inside::Quotes);
            match (c, self.peek(1)) {
                ('\\', _) => self.copy(2),
                ('"', _) if quoted => {
                    self.nested.pop();
                    self.copy(1);
                }
                ('"', _) => {
                    self.nested.push(Inside::Quotes);
                    self.copy(1);
                }
                ('$', Some('(')) => {
                    self.nested.push(Inside::Parentheses);
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
                    self.nested.push(Inside::Parentheses);
                    self.copy(1);
                }
                (')', _) if !quoted => {
                    self.nested.pop();
                    self.copy(1);
                }
                ('<', Some('<')) if !quoted => self.here()?,
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

    /// A `<<`: a here-string stays, a here-document's tag is noted and left out.
    fn here(&mut self) -> Option<()> {
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
        // The tag is the whole word; `<<E"O"F` and `1<<2` are somebody else's problem.
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
    fn here_documents_are_cut_out() {
        let body = |text: &str, expands| Body { text: text.to_owned(), expands };
        for (line, left, bodies) in [
            ("cat << E\nx\nE\nls", "cat  \nls", vec![body("x\n", true)]),
            ("cat <<'E' > f\n$(rm x)\nE", "cat   > f\n", vec![body("$(rm x)\n", false)]),
            ("git commit -m \"$(cat <<'EOF'\nit's\nEOF\n)\"", "git commit -m \"$(cat  \n)\"", vec![body("it's\n", false)]),
            ("cat <<A <<-B\n1\nA\n\t2\n\tB\nls", "cat    \nls", vec![body("1\n", true), body("\t2\n", true)]),
            ("cat <<< x", "cat <<< x", vec![]),
            ("grep '<<<<<<< HEAD' \"<< x\"", "grep '<<<<<<< HEAD' \"<< x\"", vec![]),
        ] {
            assert_eq!(cut(line), Some(Cut { line: left.to_owned(), bodies }), "{line}");
        }
        for unclear in
            ["cat << E\nx", "$( << &&", "cat <<", "cat << $x\na\n", "cat <<<< x", "cat <<E\"O\"F\nEOF", "cat << 'E\nE", "cat <<E"]
        {
            assert_eq!(cut(unclear), None, "{unclear}");
        }
    }

    fn cut_of(line: &str, left: &str, bodies: &[(&str, bool)]) {
        let bodies = bodies.iter().map(|(text, expands)| Body { text: (*text).to_owned(), expands: *expands }).collect();
        assert_eq!(cut(line), Some(Cut { line: left.to_owned(), bodies }), "{line}");
    }

    #[test]
    fn every_quote_of_a_tag_keeps_the_text_as_it_is() {
        cut_of("cat <<E\n$x\nE", "cat  \n", &[("$x\n", true)]);
        cut_of("cat <<'E'\n$x\nE", "cat  \n", &[("$x\n", false)]);
        cut_of("cat <<\"E\"\n$x\nE", "cat  \n", &[("$x\n", false)]);
        cut_of("cat <<\\E\n$x\nE", "cat  \n", &[("$x\n", false)]);
        for unclear in ["cat <<'E\"\n\nE", "cat <<\"E\n\nE", "cat <<'E'F\n\nEF", "cat <<\\E'\n\nE"] {
            assert_eq!(cut(unclear), None, "{unclear}");
        }
    }

    #[test]
    fn a_tag_ends_where_the_word_ends() {
        for behind in [";ls", "|cat", "&", ")", ">f", "<f", " f", "\tf"] {
            cut_of(&format!("cat <<E{behind}\nx\nE"), &format!("cat  {behind}\n"), &[("x\n", true)]);
        }
        cut_of("cat << \t E-1.x_2\n\nE-1.x_2\n", "cat  \n", &[("\n", true)]);
        cut_of("cat <<_\n_", "cat  \n", &[("", true)]);
        for unclear in ["cat <<1\n\n1", "cat <<-\n\n-", "cat <<E$x\n\nE", "cat <<E(\n\nE", "cat <<.E\n\n.E"] {
            assert_eq!(cut(unclear), None, "{unclear}");
        }
    }

    #[test]
    fn tabs_before_the_end_count_only_behind_a_dash() {
        cut_of("cat <<-E\n\tx\n\t\tE\nls", "cat  \nls", &[("\tx\n", true)]);
        assert_eq!(cut("cat <<E\nx\n\tE"), None);
        assert_eq!(cut("cat <<-E\nx\n E"), None);
    }

    #[test]
    fn quotes_and_parentheses_say_where_a_line_ends() {
        // A new line inside quotes does not start the text.
        cut_of("cat <<E \"a\nb\"\nx\nE", "cat   \"a\nb\"\n", &[("x\n", true)]);
        cut_of("cat <<E 'a\nb'\nx\nE", "cat   'a\nb'\n", &[("x\n", true)]);
        cut_of("cat <<E $'a\\'\nb'\nx\nE", "cat   $'a\\'\nb'\n", &[("x\n", true)]);
        cut_of("cat <<E \\\" \nx\nE", "cat   \\\" \n", &[("x\n", true)]);
        cut_of("cat <<E \"a\\\"\nb\"\nx\nE", "cat   \"a\\\"\nb\"\n", &[("x\n", true)]);
        // Behind the parenthesis the quotes go on.
        cut_of("echo \"$(cat <<E\nx\nE\n) << y\" z", "echo \"$(cat  \n) << y\" z", &[("x\n", true)]);
        cut_of("echo \"$( (ls) ; cat <<E\nx\nE\n) << y\"", "echo \"$( (ls) ; cat  \n) << y\"", &[("x\n", true)]);
        cut_of("echo \"( << y\" ) \"$'\" <<< x", "echo \"( << y\" ) \"$'\" <<< x", &[]);
        for unclear in ["cat <<E '\nx\nE", "cat <<E $'\nx\nE", "cat <<E \"\nx\nE"] {
            assert_eq!(cut(unclear), None, "{unclear}");
        }
    }
}
