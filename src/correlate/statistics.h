// Intervals of shares and times that were estimated from samples; all 95 %, all deterministic.
//
// Models and sources:
// - One span: n looks of a jittered timer. Wilson's score interval (E. B. Wilson, JASA 22, 1927;
// the
//   choice of Brown, Cai and DasGupta, Statistical Science 16, 2001), taken at an effective n. With
//   no hit at all, or hits only, the exact bound 1 - 0.025^(1/n) of Clopper and Pearson (Biometrika
//   26, 1934), which is the "3.7 periods" that a span without samples may have used.
// - Effective n: samples of one thread with the same stack closer than half a period are one look
//   (a late timer delivers them in a burst) and count once.
// - Many spans: the span is the unit, as samples of one span are alike. The share is a ratio of two
//   sums over spans; its variance is the closed form of W. G. Cochran, Sampling Techniques (1977),
//   section 6.4. Wilson's interval is taken at n = p(1-p)/variance (the design effect of L. Kish,
//   Survey Sampling, 1965) with Student's t for few spans, and never at more than the samples' n.
#pragma once

#include <cstdint>
#include <span>

namespace hotspan::correlate {

struct ShareInterval {
  double share = 0;
  double low = 0;
  double high = 1;
};

// Of `hits` among `n` looks; both may be fractional. n <= 0 gives [0, 1].
ShareInterval WilsonInterval(double hits, double n, double z = 1.959964);

// Student's t at 97.5 % for `degrees` of freedom, by Cornish and Fisher's expansion (exact to 1 %
// from 2 degrees on).
double StudentT975(double degrees);

// Of one sum over spans in another: part[i] of whole[i]. `samples_n` is how many independent looks
// there were over all spans.
ShareInterval ClusterInterval(std::span<const double> part, std::span<const double> whole,
                              double samples_n);

// Of a mean over spans (same source; the simple mean with Student's t). Never below 0.
struct MeanInterval {
  double mean = 0;
  double low = 0;
  double high = 0;
};
MeanInterval ClusterMean(std::span<const double> values);

}  // namespace hotspan::correlate
