"""What the pages show: each module's `view(config)` computes and draws one page."""
