use clap::{CommandFactory as _, FromArgMatches as _};

use super::help::GROUPS;
use super::*;

fn parse(line: &str) -> Result<Args, clap::Error> {
    let words = std::iter::once("sayso").chain(line.split_whitespace());
    Args::from_arg_matches(&command().try_get_matches_from(words)?)
}

fn parse_command(line: &str) -> CliCommand {
    parse(line).unwrap_or_else(|error| panic!("{line}: {error}")).command.unwrap()
}

#[test]
fn parser_passes_debug_assertions_of_clap() {
    command().debug_assert();
}

#[test]
fn each_command_has_one_group_and_one_line_of_help() {
    let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    let mut all: Vec<String> = Args::command().get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    grouped.sort_unstable();
    all.sort_unstable();
    assert_eq!(grouped, all);
    for sub in Args::command().get_subcommands() {
        let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
        assert!(!about.is_empty() && about.len() <= 60 && !about.ends_with('.'), "{}: {about}", sub.get_name());
        assert!(!sub.is_hide_set(), "{}", sub.get_name());
    }
}

#[test]
fn help_matches_snapshots() {
    insta::assert_snapshot!("help", command().term_width(100).render_help().to_string());
    let mut command = command();
    for name in ["ask", "answer", "policy", "phone", "serve", "service", "sessions", "token", "workflow"] {
        let sub = command.find_subcommand_mut(name).unwrap().clone().term_width(100);
        insta::assert_snapshot!(format!("help_{name}"), sub.bin_name(format!("sayso {name}")).render_help().to_string());
    }
}

#[test]
fn valid_command_lines_parse_to_their_arguments() {
    assert_eq!(parse("").unwrap(), Args { json: false, data_dir: None, command: None });
    let args = parse("ls --json --data-dir /x").unwrap();
    assert_eq!((args.json, args.data_dir), (true, Some("/x".into())));
    assert_eq!(parse_command("list --all"), parse_command("ls --all"));
    let CliCommand::Answer(answer) = parse_command("answer 4f2a SQLite 2 --note later") else { panic!() };
    assert_eq!(
        (answer.id.as_str(), answer.values.as_slice(), answer.note.as_deref()),
        ("4f2a", &["SQLite".to_owned(), "2".to_owned()][..], Some("later"))
    );
    let CliCommand::Deny(no) = parse_command("deny 4f2a -m no --stop") else { panic!() };
    assert_eq!(no, RefuseArgs { id: "4f2a".into(), message: Some("no".into()), stop: true });
    assert_eq!(
        parse_command("snooze 4f2a 30m"),
        CliCommand::Snooze { id: "4f2a".into(), time: OnOff::For("30m".parse().unwrap()) }
    );
    assert_eq!(parse_command("snooze 4f2a off"), CliCommand::Snooze { id: "4f2a".into(), time: OnOff::Off });
    assert_eq!(parse_command("away"), CliCommand::Away { time: None });
    assert_eq!(parse_command("away off"), CliCommand::Away { time: Some(OnOff::Off) });
    let allow = CliCommand::Allow {
        command: vec!["cargo".into(), "test".into(), "*".into()],
        time: "1h".parse().unwrap(),
        project: None,
    };
    assert_eq!(parse_command("allow cargo test * --for 1h"), allow);
    assert_eq!(parse_command("sessions"), CliCommand::Sessions { action: None, all: false });
    assert_eq!(
        parse_command("serve --listen 127.0.0.1:0"),
        CliCommand::Serve(ServeArgs { listen: Some("127.0.0.1:0".parse().unwrap()), ..ServeArgs::default() })
    );
    assert_eq!(parse_command("status --line"), CliCommand::Status { line: true });
    assert_eq!(parse_command("logs -f"), CliCommand::Logs(LogsArgs { ask: None, follow: true, lines: 100 }));
    assert_eq!(
        parse_command("logs --ask 4f2a -n 5"),
        CliCommand::Logs(LogsArgs { ask: Some("4f2a".into()), follow: false, lines: 5 })
    );
    let CliCommand::Ask(ask) = parse_command("ask Which? --option A --option B --multiple --timeout 10m --label a=b") else {
        panic!()
    };
    assert_eq!((ask.options.len(), ask.multiple, ask.labels[0].value.as_str()), (2, true, "b"));
}

#[test]
fn invalid_command_lines_are_usage_errors() {
    for line in [
        "nonsense",
        "answer",
        "answer 4f2a x --answers []",
        "allow",
        "allow x",
        "snooze 4f2a",
        "snooze 4f2a soon",
        "away tomorrow",
        "ask",
        "ask x --multiple",
        "ask x --secret --option a",
        "ask x --approval ls --option a",
        "start",
        "history -n 0",
        "token create ada",
        "token create ada --role king",
        "policy test",
        "start mock hi --label x",
        "serve --listen here",
        "serve --tls-cert c.pem",
        "phone --close --yes",
        "service",
        "uninstall --yes --dry-run",
    ] {
        let error = parse(line).expect_err(line);
        assert_eq!(error.exit_code(), 2, "{line}");
    }
}
