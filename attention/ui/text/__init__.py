"""The words of pages, one file per page, as templates with named fields: `start`."""
