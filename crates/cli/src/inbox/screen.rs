//! Takes over the terminal, draws on it, and restores it in all cases.

use std::io::{self, Stdout, Write};
use std::panic::PanicHookInfo;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::execute;
use crossterm::terminal::{Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui_core::terminal::Terminal;
use ratatui_crossterm::CrosstermBackend;

use super::model::Model;
use super::view::{self, Kept};
use crate::output::Look;

/// Limit for encoded clipboard text, in bytes. Terminals accept no more, and some accept less.
const CLIPBOARD: usize = 70 * 1024;

/// True while the terminal must be restored.
static TAKEN: AtomicBool = AtomicBool::new(false);
static PANICS: Once = Once::new();

/// The terminal while the inbox owns it. Restored on drop.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    kept: Kept,
    look: Look,
    /// The number of pending asks in the title, if the title was set.
    titled: Option<usize>,
    /// True if the terminal was asked to report repeats and releases of keys.
    key_kinds: bool,
}

/// Kitty keyboard protocol: saves the current settings, which `KEYS_AS_BEFORE` restores. Other terminals ignore these
/// sequences.
const KEEP_KEYS: &str = "\u{1b}[>0u";
const KEYS_AS_BEFORE: &str = "\u{1b}[<1u";
/// Report all keys as sequences with their kind: press, repeat or release.
const KEY_KINDS: &str = "\u{1b}[=15;1u";
/// Report keys as text, so that dead keys and input methods work.
const KEYS_AS_TEXT: &str = "\u{1b}[=0;1u";

impl Screen {
    /// Takes over the terminal.
    pub(super) fn take_over(look: Look) -> io::Result<Self> {
        // Restore the terminal before a panic message is printed.
        PANICS.call_once(|| {
            std::panic::set_hook(after(give_back, std::panic::take_hook()));
        });
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        let mut screen = Self { terminal, kept: Kept::default(), look, titled: None, key_kinds: false };
        screen.resume()?;
        Ok(screen)
    }

    /// Takes over the terminal again after `pause`.
    pub(super) fn resume(&mut self) -> io::Result<()> {
        TAKEN.store(true, Ordering::Release);
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste)?;
        self.write_sequence(KEEP_KEYS)?;
        (self.titled, self.key_kinds) = (None, false);
        self.redraw()
    }

    /// Restores the terminal temporarily.
    pub(super) fn pause(&mut self) {
        give_back();
    }

    /// Clears the screen, so that the next drawing is complete.
    pub(super) fn redraw(&mut self) -> io::Result<()> {
        // `Terminal::clear` queries the cursor position, which some terminals do not answer.
        execute!(io::stdout(), Clear(ClearType::All))?;
        self.terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        self.terminal.hide_cursor()
    }

    pub(super) fn draw(&mut self, model: &mut Model) -> io::Result<()> {
        let Self { terminal, kept, look, .. } = self;
        let mut measured = model.measured;
        terminal.draw(|frame| measured = view::draw(frame, model, look, kept))?;
        model.measured = measured;
        let key_kinds = model.field().is_none();
        if self.key_kinds != key_kinds {
            self.write_sequence(if key_kinds { KEY_KINDS } else { KEYS_AS_TEXT })?;
            self.key_kinds = key_kinds;
        }
        let waiting = model.waiting();
        if model.settings.title && model.is_loaded() && self.titled != Some(waiting) {
            // The terminal saves the old title, which is restored at the end.
            let keep = if self.titled.is_none() { "\u{1b}[22;2t" } else { "" };
            let title = if waiting == 0 { "Sayso".to_owned() } else { format!("({waiting}) Sayso") };
            self.write_sequence(&format!("{keep}\u{1b}]2;{title}\u{7}"))?;
            self.titled = Some(waiting);
        }
        Ok(())
    }

    pub(super) fn bell(&self) -> io::Result<()> {
        self.write_sequence("\u{7}")
    }

    /// Copies text to the clipboard of the person's terminal, also over ssh. Returns false if the text is too long.
    pub(super) fn copy(&self, text: &str) -> io::Result<bool> {
        let encoded = STANDARD.encode(text);
        if encoded.len() > CLIPBOARD {
            return Ok(false);
        }
        self.write_sequence(&format!("\u{1b}]52;c;{encoded}\u{7}")).map(|()| true)
    }

    fn write_sequence(&self, sequence: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(sequence.as_bytes())?;
        out.flush()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// A panic hook.
type Told = Box<dyn Fn(&PanicHookInfo<'_>) + Send + Sync>;

/// Returns a panic hook that calls `first` before `told`.
fn after(first: impl Fn() + Send + Sync + 'static, told: Told) -> Told {
    Box::new(move |panic| {
        first();
        told(panic);
    })
}

/// Restores the terminal, at most once.
fn give_back() {
    if !TAKEN.swap(false, Ordering::AcqRel) {
        return;
    }
    let mut out = io::stdout();
    // If this fails, the terminal is gone.
    let _ = out.write_all(KEYS_AS_BEFORE.as_bytes());
    let _ = execute!(out, DisableBracketedPaste, LeaveAlternateScreen, crossterm::cursor::Show);
    let _ = out.write_all(b"\x1b[23;2t").and_then(|()| out.flush());
    let _ = disable_raw_mode();
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// The terminal must be restored before the panic message is printed, so that the message stays visible.
    #[test]
    fn panic_hook_restores_the_terminal_before_the_message() {
        let said: Arc<Mutex<Vec<String>>> = Arc::default();
        let say = |what: &str| {
            let (said, what, here) = (Arc::clone(&said), what.to_owned(), std::thread::current().id());
            move || {
                // Other tests of this program may panic at the same time in other threads.
                if std::thread::current().id() == here {
                    said.lock().unwrap().push(what.clone());
                }
            }
        };
        let tell = say("told");
        let before = std::panic::take_hook();
        std::panic::set_hook(after(say("given back"), Box::new(move |_| tell())));
        let caught = std::panic::catch_unwind(|| panic!("of the test"));
        std::panic::set_hook(before);
        assert!(caught.is_err());
        assert_eq!(*said.lock().unwrap(), ["given back", "told"]);
    }
}
