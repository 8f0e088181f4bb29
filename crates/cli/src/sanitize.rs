//! Makes agent text safe to print: it cannot control the terminal, and no character in it is invisible.
//!
//! Characters that a terminal would obey, reorder or hide are shown as `<U+001B>`. No text is dropped.

use unicode_width::UnicodeWidthChar;

/// Columns between tab stops.
const TAB: usize = 8;

/// Maximum number of combining marks on one character; further marks are escaped. Enough for all scripts, and too few
/// to cover neighboring lines.
const MARKS: usize = 4;

/// Sanitizes text of several lines: newlines are kept, tabs become spaces.
pub(crate) fn text(input: &str) -> String {
    clean(input, NewLines::Kept)
}

/// Sanitizes text for one line: newlines become spaces.
pub(crate) fn line(input: &str) -> String {
    clean(input, NewLines::Joined)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum NewLines {
    Kept,
    Joined,
}

fn clean(input: &str, new_lines: NewLines) -> String {
    let mut out = String::with_capacity(input.len());
    let mut column = 0;
    let mut marks = 0;
    let mut before = None;
    let mut characters = input.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\r' if characters.peek() == Some(&'\n') => continue,
            '\n' if new_lines == NewLines::Kept => {
                out.push('\n');
                column = 0;
            }
            '\n' => {
                out.push(' ');
                column += 1;
            }
            '\t' => {
                let spaces = TAB - column % TAB;
                out.extend(std::iter::repeat_n(' ', spaces));
                column += spaces;
            }
            _ => {
                let width = character.width().unwrap_or(0);
                marks = if width == 0 { marks + 1 } else { 0 };
                if is_dangerous(character, before) || marks > MARKS {
                    let shown = format!("<U+{:04X}>", u32::from(character));
                    column += shown.len();
                    out.push_str(&shown);
                } else {
                    column += width;
                    out.push(character);
                }
            }
        }
        before = Some(character);
    }
    out
}

/// Returns true for characters that would mislead a terminal or a reader.
fn is_dangerous(character: char, before: Option<char>) -> bool {
    match character {
        // C0, DEL and C1: terminal control. The caller handles newline and tab.
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' => true,
        // Direction: overrides, embeddings, isolates, marks.
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        // Invisible: zero-width, joiners, fillers, soft hyphen, invisible operators, byte order mark.
        '\u{ad}'
        | '\u{34f}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200d}'
        | '\u{2060}'..='\u{2065}'
        | '\u{206a}'..='\u{206f}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}' => true,
        // Separators that some terminals treat as newlines, and annotations.
        '\u{2028}' | '\u{2029}' | '\u{fff0}'..='\u{fffb}' => true,
        // The variation selectors for emoji are harmless after a symbol. All others can carry hidden text.
        '\u{fe0e}' | '\u{fe0f}' => {
            before.is_none_or(|before| before.is_ascii_alphabetic() || before.is_whitespace() || is_selector(before))
        }
        '\u{fe00}'..='\u{fe0d}' => true,
        // Tags, further variation selectors, and noncharacters.
        '\u{e0000}'..='\u{e0fff}' | '\u{1d173}'..='\u{1d17a}' | '\u{1bca0}'..='\u{1bca3}' => true,
        _ => u32::from(character) & 0xfffe == 0xfffe,
    }
}

const fn is_selector(character: char) -> bool {
    matches!(character, '\u{fe00}'..='\u{fe0f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Input and expected output.
    const TABLE: &[(&str, &str)] = &[
        // Harmless text is unchanged.
        ("plain words", "plain words"),
        ("two\nlines", "two\nlines"),
        ("", ""),
        ("naïve façade", "naïve façade"),
        ("日本語", "日本語"),
        ("مرحبا", "مرحبا"),
        ("שלום", "שלום"),
        ("e\u{301}", "e\u{301}"),
        ("👍🏽 done", "👍🏽 done"),
        ("⚠\u{fe0f} careful", "⚠\u{fe0f} careful"),
        ("1\u{fe0f}\u{20e3}", "1\u{fe0f}\u{20e3}"),
        ("$ git diff | less", "$ git diff | less"),
        ("<U+001B>", "<U+001B>"),
        // Tabs and line ends.
        ("a\tb", "a       b"),
        ("\tb", "        b"),
        ("1234567\tb", "1234567 b"),
        ("12345678\tb", "12345678        b"),
        ("x\n\ty", "x\n        y"),
        ("dos\r\nlines\r\n", "dos\nlines\n"),
        ("safe\rrm -rf ~", "safe<U+000D>rm -rf ~"),
        ("a\r\rb", "a<U+000D><U+000D>b"),
        // Terminal control.
        ("\u{1b}[31mred\u{1b}[0m", "<U+001B>[31mred<U+001B>[0m"),
        ("\u{1b}[2J\u{1b}[H", "<U+001B>[2J<U+001B>[H"),
        ("\u{1b}[1A\u{1b}[2K", "<U+001B>[1A<U+001B>[2K"),
        ("\u{1b}]0;title\u{7}", "<U+001B>]0;title<U+0007>"),
        ("\u{1b}]52;c;cm0gLXJmIH4=\u{7}", "<U+001B>]52;c;cm0gLXJmIH4=<U+0007>"),
        ("\u{1b}]8;;http://evil\u{1b}\\ok\u{1b}]8;;\u{1b}\\", "<U+001B>]8;;http://evil<U+001B>\\ok<U+001B>]8;;<U+001B>\\"),
        ("\u{1b}P+q544e\u{1b}\\", "<U+001B>P+q544e<U+001B>\\"),
        ("\u{1b}c", "<U+001B>c"),
        ("\u{1b}[?1049h", "<U+001B>[?1049h"),
        ("\u{1b}[6n", "<U+001B>[6n"),
        ("\u{1b}_Gf=100;AAAA\u{1b}\\", "<U+001B>_Gf=100;AAAA<U+001B>\\"),
        ("\u{1b}[200~paste\u{1b}[201~", "<U+001B>[200~paste<U+001B>[201~"),
        ("\u{1b}(0lqqk", "<U+001B>(0lqqk"),
        ("\u{9b}31m", "<U+009B>31m"),
        ("\u{9d}0;title\u{9c}", "<U+009D>0;title<U+009C>"),
        ("\u{90}x\u{9c}", "<U+0090>x<U+009C>"),
        ("\u{85}next line", "<U+0085>next line"),
        ("\u{0}", "<U+0000>"),
        ("bell\u{7}", "bell<U+0007>"),
        ("rm -rf ~\u{8}\u{8}\u{8}ok", "rm -rf ~<U+0008><U+0008><U+0008>ok"),
        ("\u{b}\u{c}", "<U+000B><U+000C>"),
        ("\u{e}\u{f}", "<U+000E><U+000F>"),
        ("\u{7f}", "<U+007F>"),
        ("\u{1a}", "<U+001A>"),
        ("\u{1c}\u{1d}\u{1e}\u{1f}", "<U+001C><U+001D><U+001E><U+001F>"),
        ("\u{4}\u{11}\u{13}", "<U+0004><U+0011><U+0013>"),
        // Direction.
        ("file\u{202e}txt.exe", "file<U+202E>txt.exe"),
        ("\u{202a}a\u{202c}", "<U+202A>a<U+202C>"),
        ("\u{202b}\u{202d}", "<U+202B><U+202D>"),
        ("\u{2066}\u{2067}\u{2068}\u{2069}", "<U+2066><U+2067><U+2068><U+2069>"),
        ("\u{200e}\u{200f}", "<U+200E><U+200F>"),
        ("\u{61c}", "<U+061C>"),
        // Invisible.
        ("pay\u{200b}pal", "pay<U+200B>pal"),
        ("a\u{200c}b\u{200d}c", "a<U+200C>b<U+200D>c"),
        ("\u{feff}#!/bin/sh", "<U+FEFF>#!/bin/sh"),
        ("soft\u{ad}hyphen", "soft<U+00AD>hyphen"),
        ("\u{2060}\u{2061}\u{2062}\u{2063}\u{2064}", "<U+2060><U+2061><U+2062><U+2063><U+2064>"),
        ("\u{206a}\u{206f}", "<U+206A><U+206F>"),
        ("\u{34f}", "<U+034F>"),
        ("\u{115f}\u{1160}\u{3164}\u{ffa0}", "<U+115F><U+1160><U+3164><U+FFA0>"),
        ("\u{180e}", "<U+180E>"),
        ("\u{e0001}\u{e0041}\u{e007f}", "<U+E0001><U+E0041><U+E007F>"),
        ("a\u{fe00}\u{fe0d}", "a<U+FE00><U+FE0D>"),
        ("a\u{fe0f}", "a<U+FE0F>"),
        ("☺\u{fe0f}\u{fe0e}\u{fe0f}", "☺\u{fe0f}<U+FE0E><U+FE0F>"),
        ("\u{e0100}\u{e01ef}", "<U+E0100><U+E01EF>"),
        ("\u{2028}\u{2029}", "<U+2028><U+2029>"),
        ("\u{fff9}a\u{fffa}b\u{fffb}", "<U+FFF9>a<U+FFFA>b<U+FFFB>"),
        ("\u{fffe}\u{ffff}\u{1fffe}", "<U+FFFE><U+FFFF><U+1FFFE>"),
        ("\u{1d173}\u{1d17a}", "<U+1D173><U+1D17A>"),
        // More marks than any script needs.
        ("z\u{310}\u{311}\u{312}\u{313}\u{314}!", "z\u{310}\u{311}\u{312}\u{313}<U+0314>!"),
    ];

    #[test]
    fn text_is_sanitized_as_in_the_table() {
        assert!(TABLE.len() >= 60, "{}", TABLE.len());
        for (given, wanted) in TABLE {
            assert_eq!(text(given), *wanted, "{given:?}");
        }
    }

    #[test]
    fn all_control_characters_are_escaped() {
        for character in (0..0x11_0000).filter_map(char::from_u32).filter(|c| c.is_control()) {
            let shown = text(&format!("a{character}b"));
            assert!(shown.chars().all(|c| !c.is_control() || c == '\n'), "{character:?}");
            let shown = line(&format!("a{character}b"));
            assert!(shown.chars().all(|c| !c.is_control()), "{character:?}");
        }
    }

    #[test]
    fn newlines_become_spaces_in_a_line() {
        assert_eq!(line("fake\n━━━ ada asks\r\nApprove? [y]"), "fake ━━━ ada asks Approve? [y]");
    }

    #[test]
    fn sanitizing_is_idempotent() {
        for (given, _) in TABLE {
            assert_eq!(text(&text(given)), text(given), "{given:?}");
        }
    }
}
