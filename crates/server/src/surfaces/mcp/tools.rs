//! The implementation of the tools.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, Implementation, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use sayso_agents::claude::PromptCall;
use sayso_api::ask::{Approval, Ask, NewAsk, Question};
use sayso_api::notice::NewNotice;
use sayso_core::ask::AskBody;
use sayso_core::raw::Raw;

use super::arguments::{self, AskUser, GetAnswer, NotifyUser};
use super::asks::{Asks, ToolFailure};
use super::client::ToolCaller;
use super::waiting::patiently;
use super::{definitions, words};

/// How long a question is kept for a caller that disconnected.
const KEEP_QUESTION: &str = "10m";
/// How long an approval is kept: long enough for a restart of the server, and no longer.
const KEEP_APPROVAL: &str = "1m";

const NOT_WAITING: &str = "This call no longer waits. The question stays open for ten minutes: call the tool again with the same \
     questions to continue waiting.";

/// The MCP server: the tools over the asks of a caller.
#[derive(Debug, Clone)]
pub struct Tools<A> {
    asks: A,
    listed: Arc<[Tool]>,
}

impl<A: Asks> Tools<A> {
    /// Creates the tools over these asks.
    pub fn new(asks: A) -> Self {
        Self { asks, listed: definitions::all().into() }
    }

    async fn ask_user(&self, call: ToolInvocation<'_, A>) -> Result<CallToolResult, ToolFailure> {
        let (ask, content) = arguments::read::<AskUser>(call.arguments)?.ask()?;
        let new = call.caller.sign(ask, &("ask", content), KEEP_QUESTION);
        let patience = call.caller.patience();
        match patiently(call.context, outcome(&call.asks, new, patience)).await {
            Some(ask) => Ok(words::result(&ask?)),
            // The ask is kept for the next call.
            None => Ok(words::failure(NOT_WAITING)),
        }
    }

    async fn get_answer(&self, call: ToolInvocation<'_, A>) -> Result<CallToolResult, ToolFailure> {
        let wanted: GetAnswer = arguments::read(call.arguments)?;
        let wait = wanted.wait(call.caller.patience())?;
        match patiently(call.context, await_outcome(&call.asks, &wanted.id, Some(wait))).await {
            Some(ask) => Ok(words::result(&ask?)),
            None => Ok(words::failure(NOT_WAITING)),
        }
    }

    async fn notify_user(&self, call: ToolInvocation<'_, A>) -> Result<CallToolResult, ToolFailure> {
        let NotifyUser { text } = arguments::read(call.arguments)?;
        if text.trim().is_empty() {
            return Err(ToolFailure("text is empty. Pass the message for the person.".to_owned()));
        }
        let agent = call.caller.agent().map(str::to_owned);
        call.asks.notify(NewNotice { text, agent, external: call.caller.session() }).await?;
        Ok(words::text("The user will see it."))
    }

    /// Claude Code reads the text as the decision, so errors become decisions as well.
    async fn approve(&self, call: ToolInvocation<'_, A>) -> CallToolResult {
        let arguments = Raw::of(&call.arguments.unwrap_or_default());
        let said = match PromptCall::read(arguments) {
            Err(why) => PromptCall::refusal(&format!("Sayso could not show this: {why}.")),
            Ok(prompt) => match self.permission(&prompt, call.context, &call.caller, &call.asks).await {
                Ok(said) => said,
                Err(ToolFailure(why)) => PromptCall::refusal(&format!("Nothing was approved: {why}")),
            },
        };
        words::text(said)
    }

    async fn permission(
        &self,
        prompt: &PromptCall,
        context: &RequestContext<RoleServer>,
        caller: &ToolCaller,
        asks: &A,
    ) -> Result<String, ToolFailure> {
        let (mut ask, content, keep) = match &prompt.body {
            AskBody::Question { questions } => {
                let questions: Vec<Question> = questions.iter().map(Question::from).collect();
                let content = Raw::of(&questions);
                (NewAsk { questions: Some(questions), ..NewAsk::default() }, (content, None), KEEP_QUESTION)
            }
            AskBody::Approval(approval) => {
                let approval = Approval::from(approval);
                let content = Raw::of(&(&approval.tool, &approval.input));
                (NewAsk { approval: Some(approval), ..NewAsk::default() }, (content, prompt.tool_use.as_deref()), KEEP_APPROVAL)
            }
            AskBody::Link(_) => return Err(ToolFailure("Links are not approved here.".to_owned())),
        };
        ask.tool_call_id.clone_from(&prompt.tool_use);
        let mut new = caller.sign(ask, &("approve", content), keep);
        let is_approval = new.approval.is_some();
        if is_approval && prompt.tool_use.is_none() {
            // Equal calls at the same time cannot be distinguished, so one approval must not answer both.
            new.dedupe_key = None;
        }
        let id = Box::pin(asks.open(new)).await?.id;
        match patiently(context, await_outcome(asks, &id, None)).await {
            Some(ask) => Ok(prompt.reply(&words::decision(&ask?))),
            None => {
                // An approval must not be given after its caller stopped waiting.
                if is_approval {
                    Box::pin(asks.withdraw(&id)).await;
                }
                Err(ToolFailure("the call was cancelled.".to_owned()))
            }
        }
    }
}

/// One call of a tool.
struct ToolInvocation<'a, A> {
    asks: A,
    caller: ToolCaller,
    arguments: Option<rmcp::model::JsonObject>,
    context: &'a RequestContext<RoleServer>,
}

/// Opens an ask and waits for its outcome, for as long as the client can.
async fn outcome<A: Asks>(asks: &A, new: NewAsk, patience: Option<Duration>) -> Result<Ask, ToolFailure> {
    // Boxed to free the memory for opening before the wait, because many calls may wait for a long time.
    let id = Box::pin(asks.open(new)).await?.id;
    await_outcome(asks, &id, patience).await
}

/// Waits for an outcome and collects it. Returns the pending ask if there is none in time.
async fn await_outcome<A: Asks>(asks: &A, id: &str, patience: Option<Duration>) -> Result<Ask, ToolFailure> {
    let ask = asks.wait(id, patience).await?;
    if ask.outcome.is_none() { Ok(ask) } else { Box::pin(asks.receive(id)).await }
}

impl<A: Asks> ServerHandler for Tools<A> {
    fn get_info(&self) -> ServerConfig {
        // There are no prompts. Clients that list them get an empty list, which requires that prompts are announced.
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_prompts().build())
            .with_server_info(Implementation::new("sayso", env!("CARGO_PKG_VERSION")).with_title("Sayso"))
            .with_instructions(definitions::INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.listed.to_vec()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.listed.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (asks, place) = self.asks.of_call(&context.extensions)?;
        let caller = ToolCaller::new(place, &context);
        let call = ToolInvocation { asks, caller, arguments: request.arguments, context: &context };
        let done = match &*request.name {
            definitions::ASK_USER => Box::pin(self.ask_user(call)).await,
            definitions::GET_ANSWER => Box::pin(self.get_answer(call)).await,
            definitions::NOTIFY_USER => Box::pin(self.notify_user(call)).await,
            definitions::APPROVE => Ok(Box::pin(self.approve(call)).await),
            other => {
                let known = self.listed.iter().map(|tool| &*tool.name).collect::<Vec<_>>().join(", ");
                let other = sayso_core::limits::head(other, 80);
                return Err(ErrorData::invalid_params(format!("there is no tool `{other}`; there are {known}"), None));
            }
        };
        Ok(done.unwrap_or_else(|ToolFailure(why)| words::failure(&why)).into())
    }
}
