"""The detector in the manner of other packages: `varnorm.adapters.pyod`, `varnorm.adapters.aeon`. Each needs its package."""
