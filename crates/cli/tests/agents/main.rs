//! Tests with real agents: a decision in Sayso reaches the model behind the agent.
//!
//! The agents are the real programs. The model is a mock on loopback that follows a script and records all requests;
//! this record is the evidence. The tests run only without a network:
//!
//! ```text
//! scripts/agents.sh
//! scripts/agents.sh mcp
//! scripts/isolated.sh cargo test --offline --package sayso --test agents
//! ```

mod acp;
mod attached;
mod claude;
mod codex;
mod codex_own;
mod editor;
mod hooks;
mod mcp;
mod mcp_peers;
mod opencode;
mod workflow;
mod world;
