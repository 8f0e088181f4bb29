//! The handshake: from a new process to a session that accepts prompts, and the responses to Sayso's own requests.

use sayso_core::limits;
use sayso_core::texts;
use serde_json::json;
use serde_json::value::RawValue;

use super::state::{AcpPhase, AcpRequest, AcpState, Agent};
use crate::json::Object;
use crate::json_rpc::{CANCELLED, Fault, Id};
use crate::out::Out;
use crate::translator::{AgentEvent, Launch};

/// The protocol version that Sayso implements.
const PROTOCOL: &str = "1";
/// JSON-RPC error code: the person has to sign in first.
const AUTH_REQUIRED: i64 = -32000;

const PAST_IS_LOST: &str = "The agent cannot resume its session. It starts a new one without the earlier conversation.";

impl AcpState {
    /// Starts the process and sends `initialize`.
    pub(super) fn launch(&mut self, out: &mut Out) {
        self.forget_process();
        self.phase = AcpPhase::Starting;
        out.launch(Launch { directory: self.wanted.project.clone(), ..Launch::default() });
        let extension = json!({ "sessionRequestQuestion": true });
        let mut capabilities = json!({
            "fs": { "readTextFile": false, "writeTextFile": false },
            "terminal": false,
            "elicitation": { "url": {} },
        });
        // Without these capabilities, an agent does not offer its question tool to the model.
        if self.wanted.questions {
            capabilities["elicitation"]["form"] = json!({});
            capabilities["_meta"] = json!({ "sandboxagent": extension, "extensions": extension });
        }
        let params = json!({
            "protocolVersion": 1,
            "clientCapabilities": capabilities,
            "clientInfo": { "name": "sayso", "title": "Sayso", "version": env!("CARGO_PKG_VERSION") },
        });
        self.requests.send(AcpRequest::Initialize, "initialize", &params, out);
    }

    /// Handles the response to one of Sayso's requests.
    pub(super) fn response(&mut self, id: &Id, outcome: Result<Option<&RawValue>, Fault>, out: &mut Out) {
        let Some(call) = self.requests.take(id) else { return self.handle_foreign_response(outcome, out) };
        let result = outcome.map(|result| result.and_then(Object::of).unwrap_or_default());
        match (call, result) {
            (AcpRequest::Initialize, Ok(result)) => self.handle_initialized(&result, out),
            (AcpRequest::NewSession | AcpRequest::ResumeSession | AcpRequest::LoadSession, Ok(result)) => {
                self.session_opened(&result, out)
            }
            (AcpRequest::ResumeSession, Err(fault)) if fault.code != AUTH_REQUIRED && self.agent.load => self.load_session(out),
            (AcpRequest::ResumeSession | AcpRequest::LoadSession, Err(fault)) if fault.code != AUTH_REQUIRED => {
                self.start_new_session(out)
            }
            (
                AcpRequest::Initialize | AcpRequest::NewSession | AcpRequest::ResumeSession | AcpRequest::LoadSession,
                Err(fault),
            ) => {
                let what = self.describe_fault(&fault);
                self.abort_start(&format!("the agent did not open a session: {what}"), out);
            }
            (AcpRequest::SetMode(mode), Ok(_)) => {
                self.agent.mode = Some(mode.clone());
                self.configured(Some(mode), None, out);
            }
            (AcpRequest::SetModel(model), Ok(_)) => self.configured(None, Some(model), out),
            (AcpRequest::SetMode(wish) | AcpRequest::SetModel(wish), Err(fault)) => {
                out.event(AgentEvent::Notice(format!("The agent did not change to `{wish}`: {}", self.describe_fault(&fault))));
                self.finish_settling(out);
            }
            (AcpRequest::Prompt, Ok(result)) => self.end_turn(result.text("stopReason").as_deref(), out),
            (AcpRequest::Prompt, Err(fault)) => {
                if fault.code != i64::from(CANCELLED) {
                    out.event(AgentEvent::Error(format!("The agent failed: {}", self.describe_fault(&fault))));
                }
                self.end_turn(None, out);
            }
            (AcpRequest::CloseSession, Ok(_) | Err(_)) => {}
        }
    }

    /// Handles a response to a request that was sent before this translator existed. Only the end of a turn matters.
    fn handle_foreign_response(&mut self, outcome: Result<Option<&RawValue>, Fault>, out: &mut Out) {
        let result = outcome.ok().flatten().and_then(Object::of).unwrap_or_default();
        if let (Some(reason), Some(turn)) = (result.text("stopReason"), &self.turn)
            && turn.call.is_none()
        {
            self.end_turn(Some(&reason), out);
        }
    }

    fn handle_initialized(&mut self, result: &Object<'_>, out: &mut Out) {
        if let Some(version) = result.get("protocolVersion").filter(|version| version.get() != PROTOCOL) {
            let version = limits::head(version.get(), 20);
            return self.abort_start(&format!("the agent speaks version {version} of the protocol, Sayso speaks version 1"), out);
        }
        let capabilities = result.object("agentCapabilities").unwrap_or_default();
        let of_session = capabilities.object("sessionCapabilities").unwrap_or_default();
        let logins = result.list("authMethods").unwrap_or_default().into_iter().filter_map(Object::of);
        let logins = logins.filter_map(|login| {
            let name = login.non_blank_text("name").or_else(|| login.non_blank_text("id"))?;
            let how = login.non_blank_text("description").map(|how| format!(" ({how})")).unwrap_or_default();
            Some(limits::head(&format!("{name}{how}"), limits::NAME).to_owned())
        });
        self.agent = Agent {
            session: self.agent.session.take(),
            load: capabilities.is_true("loadSession"),
            resume: of_session.object("resume").is_some(),
            close: of_session.object("close").is_some(),
            logins: logins.take(8).collect(),
            mode: None,
            mode_option: None,
            model_option: None,
        };
        if self.agent.session.is_none() {
            self.requests.send(AcpRequest::NewSession, "session/new", &self.place(), out);
        } else if self.agent.resume {
            self.requests.send(AcpRequest::ResumeSession, "session/resume", &self.place(), out);
        } else if self.agent.load {
            self.load_session(out);
        } else {
            self.start_new_session(out);
        }
    }

    fn place(&self) -> serde_json::Value {
        let mut place = json!({ "cwd": self.wanted.project, "mcpServers": [] });
        if let Some(session) = &self.agent.session {
            place["sessionId"] = json!(session);
        }
        place
    }

    fn load_session(&mut self, out: &mut Out) {
        self.phase = AcpPhase::Replaying;
        self.requests.send(AcpRequest::LoadSession, "session/load", &self.place(), out);
    }

    fn start_new_session(&mut self, out: &mut Out) {
        self.phase = AcpPhase::Starting;
        self.agent.session = None;
        out.event(AgentEvent::Notice(PAST_IS_LOST.to_owned()));
        self.requests.send(AcpRequest::NewSession, "session/new", &self.place(), out);
    }

    fn session_opened(&mut self, result: &Object<'_>, out: &mut Out) {
        self.agent.session = result.non_blank_text("sessionId").or_else(|| self.agent.session.take());
        if self.agent.session.as_ref().is_none_or(|session| session.len() > limits::TEXT) {
            self.agent.session = None;
            return self.abort_start("the agent opened a session without an id", out);
        }
        self.phase = AcpPhase::Settling;
        self.tools.clear();
        self.set_mode(result, out);
        self.set_model(result, out);
        self.finish_settling(out);
    }

    /// Requests the wanted permission mode by its exact name.
    fn set_mode(&mut self, result: &Object<'_>, out: &mut Out) {
        let modes = result.object("modes").unwrap_or_default();
        let offered = ids(&modes, "availableModes", "id");
        let option = config_option(result, "mode");
        let listed = result.object("modes").is_some();
        self.agent.mode_option = option.as_ref().filter(|_| !listed).and_then(|option| option.text("id"));
        let current = modes.text("currentModeId").or_else(|| option.as_ref()?.text("currentValue"));
        let current = current.map(|current| limits::head(&current, limits::NAME).to_owned());
        self.agent.mode.clone_from(&current);
        let wish = self.wanted.mode.clone();
        if wish.is_empty() || current.as_ref() == Some(&wish) {
            return;
        }
        let session = self.agent.session.clone();
        if offered.contains(&wish) {
            let params = json!({ "sessionId": session, "modeId": wish });
            self.requests.send(AcpRequest::SetMode(wish), "session/set_mode", &params, out);
        } else if let Some(params) = option.and_then(|option| self.option_to(&option, &wish)) {
            self.requests.send(AcpRequest::SetMode(wish), "session/set_config_option", &params, out);
        } else if wish != "default" {
            let stays = current.map(|current| format!(" It stays in `{current}`.")).unwrap_or_default();
            out.event(AgentEvent::Notice(format!("The agent has no permission mode `{wish}`.{stays}")));
        }
    }

    fn set_model(&mut self, result: &Object<'_>, out: &mut Out) {
        let option = config_option(result, "model");
        self.agent.model_option = option.as_ref().and_then(|option| option.text("id"));
        let Some(wish) = self.wanted.model.clone() else { return };
        let models = result.object("models").unwrap_or_default();
        let current = models.text("currentModelId").or_else(|| option.as_ref()?.text("currentValue"));
        if current.as_ref() == Some(&wish) {
            return;
        }
        if let Some(params) = option.and_then(|option| self.option_to(&option, &wish)) {
            self.requests.send(AcpRequest::SetModel(wish), "session/set_config_option", &params, out);
        } else if ids(&models, "availableModels", "modelId").contains(&wish) {
            let params = json!({ "sessionId": self.agent.session, "modelId": wish });
            self.requests.send(AcpRequest::SetModel(wish), "session/set_model", &params, out);
        } else {
            let stays = current.map(|current| format!(" It stays with `{current}`.")).unwrap_or_default();
            out.event(AgentEvent::Notice(format!("The agent offers no model `{wish}`.{stays}")));
        }
    }

    /// Changes the permission mode and the model of a running session. A session that is still starting is opened with
    /// the new values.
    pub(super) fn configure(&mut self, mode: Option<String>, model: Option<String>, out: &mut Out) {
        if self.phase != AcpPhase::Ready {
            self.wanted.mode = mode.clone().unwrap_or_else(|| self.wanted.mode.clone());
            self.wanted.model = model.clone().or_else(|| self.wanted.model.clone());
            return out.event(AgentEvent::Configured { permission_mode: mode, model });
        }
        let session = self.agent.session.clone();
        if let Some(mode) = mode {
            let (method, params) = match &self.agent.mode_option {
                Some(option) => ("session/set_config_option", json!({ "sessionId": session, "configId": option, "value": mode })),
                None => ("session/set_mode", json!({ "sessionId": session, "modeId": mode })),
            };
            self.requests.send(AcpRequest::SetMode(mode), method, &params, out);
        }
        if let Some(model) = model {
            let (method, params) = match &self.agent.model_option {
                Some(option) => {
                    ("session/set_config_option", json!({ "sessionId": session, "configId": option, "value": model }))
                }
                None => ("session/set_model", json!({ "sessionId": session, "modelId": model })),
            };
            self.requests.send(AcpRequest::SetModel(model), method, &params, out);
        }
    }

    /// Records that the agent changed its mode or model, either for the start of the session or because a person
    /// requested the change.
    fn configured(&mut self, permission_mode: Option<String>, model: Option<String>, out: &mut Out) {
        if self.phase == AcpPhase::Ready {
            out.event(AgentEvent::Configured { permission_mode, model });
        }
        self.finish_settling(out);
    }

    /// The request parameters that set `option` to the value named `wish`, if the option offers that value.
    fn option_to(&self, option: &Object<'_>, wish: &str) -> Option<serde_json::Value> {
        // Values can be nested in groups.
        let listed = option.list("options").unwrap_or_default().into_iter().filter_map(Object::of);
        let grouped = listed.flat_map(|entry| {
            let inner = entry.list("options").unwrap_or_default().into_iter().filter_map(Object::of).collect::<Vec<_>>();
            if inner.is_empty() { vec![entry] } else { inner }
        });
        let offered = grouped.filter_map(|entry| entry.text("value")).any(|value| value == wish);
        let id = option.text("id")?;
        offered.then(|| json!({ "sessionId": self.agent.session, "configId": id, "value": wish }))
    }

    /// Continues the start once mode and model are set.
    pub(super) fn finish_settling(&mut self, out: &mut Out) {
        let busy = self.requests.waiting().any(|call| matches!(call, AcpRequest::SetMode(_) | AcpRequest::SetModel(_)));
        if self.phase != AcpPhase::Settling || busy {
            return;
        }
        self.phase = AcpPhase::Ready;
        if self.queue.is_empty() {
            // Without a prompt, `TurnEnded` is what reports that the session accepts messages.
            out.event(AgentEvent::TurnEnded);
        }
        self.send_next_prompt(out);
    }

    /// Ends the turn for `reason`, the protocol's stop reason.
    fn end_turn(&mut self, reason: Option<&str>, out: &mut Out) {
        self.finish_messages(None, out);
        match reason {
            Some("refusal") => out.event(AgentEvent::Notice("The agent refused to continue.".to_owned())),
            Some("max_tokens") => out.event(AgentEvent::Notice("The agent stopped: it reached its limit of tokens.".to_owned())),
            Some("max_turn_requests") => {
                out.event(AgentEvent::Notice("The agent stopped: it reached its limit of requests in one turn.".to_owned()));
            }
            Some("cancelled") => self.withdraw_all(texts::WITHDRAWN_INTERRUPTED, out),
            Some(_) | None => {}
        }
        self.turn = None;
        self.tools.clear();
        self.answered.clear();
        out.event(AgentEvent::TurnEnded);
        self.send_next_prompt(out);
    }

    /// An error as text for a person, with the next step.
    fn describe_fault(&self, fault: &Fault) -> String {
        if fault.code != AUTH_REQUIRED {
            return fault.in_words();
        }
        let ways = if self.agent.logins.is_empty() { String::new() } else { format!(": {}", self.agent.logins.join("; ")) };
        format!(
            "you are not signed in to it ({}). Sign in with the agent's own command{ways}. Then start again.",
            fault.message_or_default()
        )
    }

    /// Ends a session whose start failed.
    fn abort_start(&mut self, reason: &str, out: &mut Out) {
        out.event(AgentEvent::Error(format!("{}{}.", reason[..1].to_uppercase(), reason[1..].trim_end_matches('.'))));
        let resumable = self.can_resume();
        self.phase = AcpPhase::Down;
        self.forget_process();
        out.stop();
        out.event(AgentEvent::Ended { reason: reason.to_owned(), failed: true, resumable });
    }

    /// Whether the agent can resume this session in a new process.
    pub(super) fn can_resume(&self) -> bool {
        self.agent.session.is_some() && (self.agent.load || self.agent.resume)
    }
}

fn ids(object: &Object<'_>, list: &str, id: &str) -> Vec<String> {
    object.list(list).unwrap_or_default().into_iter().filter_map(|raw| Object::of(raw)?.text(id)).collect()
}

fn config_option<'a>(result: &Object<'a>, name: &str) -> Option<Object<'a>> {
    let options = result.list("configOptions")?.into_iter().filter_map(Object::of);
    let mut named = options.filter(|option| option.text("category").or_else(|| option.text("id")).as_deref() == Some(name));
    named.next()
}
