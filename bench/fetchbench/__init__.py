"""The parts of bench/fetch: what it measures, on which servers, with which tools."""
