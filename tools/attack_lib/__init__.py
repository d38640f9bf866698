"""Seeded, bounded campaigns against the program `varnorm`; see docs/reliability.md."""
