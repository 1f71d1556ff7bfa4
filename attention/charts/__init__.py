"""Charts, one file per topic. A chart function takes data and returns a figure; it does not show or save it."""
