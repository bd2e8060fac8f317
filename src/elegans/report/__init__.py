"""Results of studies: claims, bundles, figures and pages."""
