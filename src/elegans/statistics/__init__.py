"""One interval type, and every way of computing one: rates, means, resampling, fits."""

from elegans.statistics.fits import intraclass as intraclass
from elegans.statistics.fits import log_slope as log_slope
from elegans.statistics.fits import success_threshold as success_threshold
from elegans.statistics.interval import Interval as Interval
from elegans.statistics.interval import bernstein_mean as bernstein_mean
from elegans.statistics.interval import highest as highest
from elegans.statistics.interval import hoeffding_radius as hoeffding_radius
from elegans.statistics.interval import hoeffding_samples as hoeffding_samples
from elegans.statistics.interval import in_words as in_words
from elegans.statistics.interval import lowest as lowest
from elegans.statistics.interval import normal_mean as normal_mean
from elegans.statistics.interval import wilson as wilson
from elegans.statistics.resampling import Correlation as Correlation
from elegans.statistics.resampling import Paired as Paired
from elegans.statistics.resampling import bootstrap as bootstrap
from elegans.statistics.resampling import bootstrap_clustered as bootstrap_clustered
from elegans.statistics.resampling import censored_median as censored_median
from elegans.statistics.resampling import paired as paired
from elegans.statistics.resampling import spearman as spearman
