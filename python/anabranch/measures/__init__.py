"""What every page calls a number: the engine's tables of measures, causes and keys; labels, units, series over time."""
