"""Long work: interrupts by signals, progress lines, and packages that only some need."""
