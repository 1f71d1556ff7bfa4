"""Data to figure, one file a topic. A chart function takes data and returns a figure; it shows and saves nothing."""
