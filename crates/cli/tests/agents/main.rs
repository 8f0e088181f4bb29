//! The product with real agents: what a person decides in Sayso reaches the model behind the agent.
//!
//! The agents are the real programs; the model is a mock on loopback that says what its script says
//! and keeps what it is sent. That record is the proof. It runs only without a network:
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
