"""Long work: interrupts by signals, and progress lines."""
