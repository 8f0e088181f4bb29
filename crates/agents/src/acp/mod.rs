//! Any agent that speaks the Agent Client Protocol on its standard input and output.
