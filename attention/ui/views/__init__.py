"""What the pages show: the `view(config)` of each module computes and draws one page."""
