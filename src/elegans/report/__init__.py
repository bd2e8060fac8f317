"""Pictures: figures for paper and pages for the browser."""
