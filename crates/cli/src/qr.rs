//! Draws an address as a QR code for terminals.

use qrcode::types::Color;
use qrcode::{EcLevel, QrCode};

use crate::output::Look;

/// Width of the empty frame, in modules. Two are enough for phones, although the standard requires four.
const FRAME: usize = 2;

/// Returns the code as lines; `None` if the terminal is too narrow or the text too long.
pub(crate) fn draw(text: &str, look: &Look) -> Option<String> {
    let code = QrCode::with_error_correction_level(text, EcLevel::L).ok()?;
    let width = code.width() + 2 * FRAME;
    let columns = if look.ascii { 2 * width } else { width };
    if columns > look.width {
        return None;
    }
    let is_light = |row: usize, column: usize| {
        let inside = |at: usize| at.checked_sub(FRAME).filter(|at| *at < code.width());
        match (inside(row), inside(column)) {
            (Some(row), Some(column)) => code[(column, row)] == Color::Light,
            (None, _) | (_, None) => true,
        }
    };
    // Light modules are drawn and dark ones are left empty, which assumes light text on a dark background. With
    // colors, the code sets both itself.
    let paint = |line: String| if look.colour { format!("\u{1b}[97;40m{line}\u{1b}[0m") } else { line };
    let lines = (0..width).step_by(if look.ascii { 1 } else { 2 }).map(|row| {
        let line = (0..width).map(|column| match look.ascii {
            true if is_light(row, column) => "##",
            true => "  ",
            // The half row below the last row is empty, that is, dark.
            false => match (is_light(row, column), row + 1 < width && is_light(row + 1, column)) {
                (true, true) => "█",
                (true, false) => "▀",
                (false, true) => "▄",
                (false, false) => " ",
            },
        });
        paint(line.collect())
    });
    Some(lines.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::look;

    const ADDRESS: &str = "http://192.168.1.7:4517/#code=0123456789abcdef0123456789abcdef";

    /// Reads the modules of a drawing, including its frame.
    fn modules(drawn: &str, ascii: bool) -> Vec<Vec<bool>> {
        let mut rows = Vec::new();
        for line in drawn.lines() {
            let signs: Vec<char> = line.chars().collect();
            if ascii {
                rows.push(signs.chunks(2).map(|pair| pair[0] == '#').collect());
            } else {
                rows.push(signs.iter().map(|sign| matches!(sign, '█' | '▀')).collect());
                rows.push(signs.iter().map(|sign| matches!(sign, '█' | '▄')).collect());
            }
        }
        rows
    }

    #[test]
    fn utf8_and_ascii_drawings_contain_the_code() {
        let code = QrCode::with_error_correction_level(ADDRESS, EcLevel::L).unwrap();
        for ascii in [false, true] {
            let drawn = draw(ADDRESS, &Look { ascii, ..look() }).unwrap();
            assert_eq!(ascii, drawn.is_ascii());
            let rows = modules(&drawn, ascii);
            for row in 0..code.width() {
                for column in 0..code.width() {
                    let light = code[(column, row)] == Color::Light;
                    assert_eq!(rows[row + FRAME][column + FRAME], light, "{row} {column}");
                }
            }
            assert!(rows[0].iter().chain(&rows[1]).all(|light| *light), "the frame");
        }
    }

    #[test]
    fn narrow_terminal_gets_no_code() {
        assert_eq!(draw(ADDRESS, &Look { width: 30, ..look() }), None);
        assert_eq!(draw(&"x".repeat(5_000), &look()), None);
        let coloured = draw(ADDRESS, &Look { colour: true, ..look() }).unwrap();
        assert!(coloured.lines().all(|line| line.starts_with("\u{1b}[97;40m") && line.ends_with("\u{1b}[0m")));
    }
}
