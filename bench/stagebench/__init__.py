"""The parts of bench/stage: what it stages, on which nodes, beside which tools."""
