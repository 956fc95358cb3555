"""Answers in the shapes of providers: OpenAI, Anthropic, MCP. It searches nothing and knows no HTTP."""
