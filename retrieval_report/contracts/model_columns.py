"""The columns of frames that compare models with each
other, with other evaluators, and with earlier reports.
"""

from retrieval_report.contracts.significance_tests import TESTS

P_VALUES = "\n  ".join(
    f"{name}_p | chance | p ({test.title}) | {test.meaning}, two-sided"
    for name, test in TESTS.items()
)
COMPARED = f"""
comparison: compare
  model_a model_b metric cutoff policy value_a value_b difference
  ci_low | | | lower end of the 95% interval of this difference alone, not adjusted for the number
      of pairs
  ci_high
  {P_VALUES}
  permutation_method | text | Patterns | exact (all patterns), sampled, or normal (of a thousand
      even differences)
  family_p
  bh_p | chance | p (BH) | p-value after Benjamini and Hochberg's correction
  family family_method
  effect_size | signed | Cohen’s d | Cohen's d of the paired differences
  wins | count | A wins | queries that model_a wins
  ties | count | Equal | queries with equal scores
  losses | count | B wins | queries that model_b wins
  paired unpaired difference_std
  tied_queries | count | Tied queries | paired queries whose score depends on tie order
  p_tie p_tie_low p_tie_high p_equal p_tie_method
  truncated_queries | count | Cut queries | paired queries whose score reaches into a tie that the
      end of a list may
      have cut
  pooled

flips: flips
  model_a model_b metric cutoff
  expected_a | number | Expected A | exact mean over all tie orders, model_a
  expected_b | number | Expected B | exact mean over all tie orders, model_b
  shuffled_a | number | Shuffled A | mean over the random draws, model_a
  shuffled_b | number | Shuffled B | mean over the random draws, model_b
  naive_a | number | Naive A | mean with ties in the naive order: that received, unless an option
      names another,
      model_a
  naive_b | number | Naive B | mean with ties in the naive order: that received, unless an option
      names another,
      model_b
  lowest_a | number | Lowest A | mean under the worst tie order, model_a
  lowest_b | number | Lowest B | mean under the worst tie order, model_b
  highest_a | number | Highest A | mean under the best tie order, model_a
  highest_b | number | Highest B | mean under the best tie order, model_b
  value_a | | | mean of model_a to which the verdict refers: over the paired queries, if they were
      compared
  value_b | | | mean of model_b to which the verdict refers
  unpaired disagree
  overlap | flag | Overlap | whether some tie orders put one model ahead and some the other
  difference_std p_tie p_tie_low p_tie_high p_equal p_tie_method pooled family_p family
      family_method verdict

reversals
  model_a model_b metric cutoff
  source | text | Source | what could turn the lead of model_a round; both: new queries, seen in
      one tie order
  varied | text | Varied | what is drawn anew, with the rest as it is
  reversal | chance | Probability | chance that one new draw of the source reverses the two; empty:
      not known
  reversal_low | chance | At least | smallest possible chance, for tie order
  reversal_high | chance | At most | largest possible chance, for tie order
  family_p | | | p-value of the difference, corrected for all pairs, where queries, runs
      or data sets were tested
  verdict | | | whether the lead can be trusted as far as this source goes: safe up to a chance of
      0.05
  votes | count | Votes | other judges, or data sets, that have a mean for both
  votes_against | count | Against | of these, those that order the two the other way
  votes_level | count | Level | of these, those that have the two level
  advice | text | To vary it | what to pass where the data do not vary it

judges
  judge | text | Judge | who judged what is relevant
  model metric cutoff value tie_std lowest highest rank
  own | flag | Own labels | whether the model's scores are this judge's labels, so that it judges
      itself
  abstains | flag | Nothing relevant | whether the judge finds nothing relevant, so that it says
      nothing of the models
  others_rank | tenth | Rank by others | median of its ranks under the other judges

judge_pairs
  model_a model_b metric cutoff
  value_a | | | mean of model_a under the judge of the headline
  value_b | | | mean of model_b under that judge
  difference
  judges | count | Judges | other judges that score both models, find something relevant, and whose
      labels are the scores of neither
  agree | share | Agree | share of them that order the two alike; one that has them level counts
      half; empty:
      the headline has them level, or there is no other judge
  against | text | Against | judges that order them the other way
  level | text | Level | judges that have them level

judge_agreement
  judge_a | text | Judge A | one judge; empty: all judges together
  judge_b | text | Judge B | another judge
  metric cutoff
  models | | | models that both rank
  tau | signed | Kendall’s τ | Kendall's τ-b between their orders of the models
  pairs | count | Shared pairs | queries with an item that both judged; of all judges: that two or
      more judged
  same | share | Same label | share of these with the same label from both
  kappa | signed | Cohen’s κ | agreement on labels beyond chance
  weighted_kappa | signed | Weighted κ | the same, where a disagreement counts with the square of
      its size
  alpha | signed | Krippendorff’s α | the same by ranks of labels (ordinal), of two or of all judges
  label_tau | signed | τ of labels | Kendall's τ-b between their labels, whatever their scales
  note | | | whether their labels are on different scales

replicates: stats.replicate_table
  metric cutoff rank model
  value | | | mean over the replicates, of the queries that all of them have
  tie_std
  std_error | number | ± s.e. | standard error of the mean, with replicates and queries as random
      samples
  ci_low | | | lower end of the 95% interval, with replicates and queries as random samples
  ci_high
  replicate_low | number | Lowest replicate | lowest mean of a replicate
  replicate_high | number | Highest replicate | highest mean of a replicate
  replicates | count | Replicates | runs of the model, such as seeds or folds
  queries | | | queries that all of them have
  unpaired | | | queries that only some of them have, and which are left out
  tie_var | number | Ties (variance) | variance that random tie order adds to a score, exact
  replicate_var | number | Replicates (variance) | variance between replicates
  query_var | number | Queries (variance) | variance between queries
  residual_var | number | Rest (variance) | variance between replicates that differs by query; tie
      order has no
      part in it
  note | | | what cannot be said: one replicate, one query or nothing to compare

replicate_pairs: stats.replicate_pairs
  model_a | | | the model with the higher mean
  model_b | | | the other model
  metric cutoff
  value_a | | | mean of model_a over its replicates
  value_b | | | mean of model_b over its replicates
  difference
  std_error | number | ± s.e. | standard error of the difference, with replicates and queries as
      random samples
  ci_low | | | lower end of the 95% interval, with replicates and queries as random samples
  ci_high
  p | chance | p | p-value of the difference, with replicates and queries as random samples
  family_p | | | p after Holm's correction for all pairs
  seed_reversal | share | Turned by the seed | share of pairs of replicates, one of each model, with
      the other order;
      a level pair counts half
  reversal | chance | Probability | chance that one new replicate of each model reverses the two
  replicates_a | count | Replicates of A | replicates of model_a
  replicates_b | count | Replicates of B | replicates of model_b
  queries | | | queries that all replicates of both have
  unpaired | | | queries that only some have, and which are left out
  verdict | | | safe (reversal up to 0.05), depends on the seed, too few runs (to find any
      difference by permuting them), equal or nothing to compare

datasets: stats.dataset_table
  metric cutoff rank model
  value | | | mean over the data sets of the means over their queries; empty if the model lacks one
  tie_std
  ci_low | | | lower end of the 95% interval, with data sets and queries as random samples
  ci_high
  rank_low | count | Best rank | best rank that the tests of all pairs over the data sets leave open
  rank_high | count | Worst rank | worst rank that they leave open
  datasets | count | Data sets | data sets in which the model has lists
  lacks | text | Lacks | data sets in which it has none

dataset_scores: stats.dataset_scores
  metric cutoff
  dataset | text | Data set | data set of the queries
  rank
  model
  value | | | mean over the queries of the data set; empty if the model has no lists there
  tie_std ci_low ci_high queries

leaderboard: leaderboard
  metric cutoff policy rank model value tie_std lowest highest ci_low ci_high
  tie_rank_low | count | Best by ties | best rank under random tie order alone (95% interval) and, where lists
      are cut, whatever items are missing
  tie_rank_high | count | Worst by ties | worst rank under the same
  query_rank_low | count | Best by queries | best rank that the tests of all pairs leave open: 1 +
      models
      significantly better
  query_rank_high | count | Worst by queries | worst rank that they leave open: models − models
      significantly worse
  queries | | | queries for which all models have a score; all but the tests is computed on them
  unpaired | | | queries left out

tie_ranks: stats.tie_ranks
  metric cutoff policy model value rank
  rank_low | count | Best rank | best rank of the interval
  rank_high | count | Worst rank | worst rank of the interval
  method | text | Found by | normal, exact or bounds

no_worse: stats.no_worse
  model
  baseline | text | Baseline | the model that the others are compared with
  metric cutoff policy
  value | | | mean of the model over the paired queries
  baseline_value | number | Baseline score | mean of the baseline over the paired queries
  difference | | Model − baseline | value − baseline_value
  bound_low | signed | Lower bound | lower confidence bound of the difference
  bound_high | signed | Upper bound | upper confidence bound of the difference
  margin | number | Margin | the largest loss that does not matter, in points
  no_worse_p | chance | p (no worse) | p-value against being worse by the margin or more: the largest
      that cut lists and an unknown R leave open
  worse_p | chance | p (worse) | p-value against being worse by less than the margin, likewise
  verdict | | | no worse, worse, lists are cut, R is not known, nothing to compare or not decided;
      the first two
      hold for all that cut lists and an unknown R leave open
  difference_std
  detectable | number | Detectable | the smallest loss that these queries would show with
      probability 0.8
  queries_needed | count | Queries needed | how many would show, with probability 0.8, that a model
      that loses
      nothing is no worse by the margin
  queries_if_observed | count | Queries at this loss | the same for a model whose true loss is the
      observed one; empty: no number would
  largest_loss | number | Largest loss | the largest loss that a single query can have
  same_lists | flag | Same lists | whether its lists are those of the baseline, so that nothing is
      tested
  paired unpaired

deciding: stats.deciding_queries
  model_a model_b query metric cutoff policy
  value_a | | | score of model_a
  value_b | | | score of model_b
  difference
  lowest | | | the least difference that tie order and, where lists are cut, missing items could show
  highest | | | the largest difference that these could show
  difference_std
  share | share | Share | part of the difference of the means that comes from this query
  decides | flag | Decides | whether the query is in the smallest set without which the winner would
      not be ahead
  order_unsure | flag | May be reversed | whether tie order or, where lists are cut, missing items
      can reverse the difference

estimates: stats.estimate
  model_a
  model_b | | | the model whose mean is taken off that of model_a; empty: the row is about model_a
      alone
  metric cutoff policy
  value | signed | Estimate | what people would find on all queries: by their judgements of some and
      a machine's of all
  std_error | number | ± s.e. | standard error of the estimate under sampling of queries
  ci_low
  ci_high
  human_only | signed | People alone | mean of the queries that people judged
  human_low | number | People from | lower end of its 95% interval
  human_high | number | to | upper end of its 95% interval
  machine_only | signed | Machine alone | mean of all queries by the machine's judgements
  lambda | share | Trust | how far the machine's judgements count (λ), which the queries with both
      decide
  gain | tenth | Gain | as many times more queries people would have to judge for this error without
      the machine
  queries | | | queries that the machine judged
  judged | count | By people | of these, judged by people too

history: stats.history
  metric cutoff
  series | text | Model | model whose versions these are
  version | text | Version | what the pattern finds in the name of the run
  model value tie_std lowest highest ci_low ci_high queries
  difference | signed | Step | value − that of the version before, on the queries of both
  step_p | chance | p (step) | p-value of the step from the version before, corrected for all steps
      by Holm
  p_tie p_tie_high
  marked | flag | Marked | whether neither tie order nor the choice of queries explains the step
  since_first | signed | Since the first | value − that of the first version, on the queries of both
  first_p | chance | p (first) | p-value of that difference, corrected together with p (best)
  best | text | Best before | the earlier version with the highest expected mean
  since_best | signed | Since the best | value − that of this version, on the queries of both
  best_p | chance | p (best) | p-value of that difference, corrected together with p (first)

segments: stats.segment_winners
  segment metric cutoff policy
  queries | | | queries of the segment
  winner | text | Winner | model with the highest mean in the segment
  value | | | its mean
  overall_winner | text | Winner of all | model with the highest mean over all queries
  overall_value | number | Its score here | mean of that model in the segment
  difference | | Winner − overall | winner − overall winner, on the queries of both
  difference_std family_p
  segments_p | chance | p (segments) | family_p after Holm's correction over the segments
  verdict | | | same winner, other winner or not significant

costs: stats.cost_table
  cost | text | Cost | the kind of cost
  metric cutoff policy model
  amount | amount | Amount | what the model costs
  value tie_std lowest highest ci_low ci_high
  front | flag | On the front | whether no other model costs as little and scores as much
  front_in_every_order | flag | In every order | the same, in its worst tie order and the others'
      best
  beaten_by | text | Beaten by | the best-scoring model that beats it; empty on the front

audit: audit
  system version call model
  metric | | | the metric asked for
  cutoff definition
  prints | number | Prints | the mean that it prints; empty, or a range, if its order is unknown and
      decides it; empty if it would raise an error
  prints_low | number | At least | the smallest value that it could print
  prints_high | number | At most | the largest value that it could print
  exact | number | Exact | the exact value of the metric asked for, of the lists as given
  expected | | | exact mean over all tie orders of the system's own definition
  lowest highest tie_std
  off | signed | By tie order | prints − expected: effect of tie order; empty where prints is
  z | tenth | z | effect of tie order, in standard deviations of random tie order
  definition_shift | signed | By definition | expected − exact: effect of its definition
  winner | text | Names as best | model with the highest printed value; if order is open, all that
      could have it, however unlikely that is, joined by 'or'
  exact_winner | text | Best without the accident | model with the highest expected value
  same_winner | flag | Same without ties | whether that model is best by the evaluator's own
      definition averaged over tie orders; empty or open: it could go either way
  order note

conventions: systems.conventions
  definition call order system version
  metric | | | name of the metric
  row_order_up_to | count | Rows up to | lists of up to this many items keep the rows as received
  float32 | flag | Float32 | whether distances are rounded to float32 first, which makes ties
  seen | text | Sees | whose relevant items count: those judged (others: without an item whose id is
      the query's), or those of the list (samples: which come first in it)
  cutoffs | text | Cutoffs | any, whole (lists only) or given (a whole number only)
  binary | flag | Binary | whether it treats relevances as 0 and 1 only
  relevant_from | number | Relevant from | smallest grade that is relevant; empty: the caller
      decides
  positive | text | Scores of 0 | what it does with items whose score is not above 0
  short_lists | flag | Short lists | whether it accepts lists with fewer than k items
  no_relevant | text | Nothing relevant | what a query without a relevant item scores; raise: an
      error
  missing_query | text | No list | what a query without rows scores
  note

changes: report.compare_reports
  model metric cutoff policy
  before | number | Before | mean of the earlier report
  after | number | After | mean of the later report
  difference | | After − before | after − before
  change | text | Change | same (every digit), changed, new or gone

summary_by: stats.summarise_by
  segment *summary

judged_pairs: stats.pair_verdicts
  *comparison disagree
  significant | flag | Significant | whether family_p is below alpha; empty: not tested
  verdict

comparison_by: stats.compare_by
  segment *comparison
"""
