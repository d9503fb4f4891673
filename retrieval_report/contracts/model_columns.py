"""The columns of frames that compare models with each
other, with other evaluators, and with earlier reports.
"""

from retrieval_report.contracts.significance_tests import TESTS

P_VALUES = "\n  ".join(
    f"{name}_p | chance | p ({title}) | {meaning}, two-sided"
    for name, (title, meaning) in TESTS.items()
)
COMPARED = f"""
comparison: compare
  model_a model_b metric cutoff policy value_a value_b difference
  ci_low | | | lower end of the 95% interval of this difference alone, not adjusted for the number
      of pairs
  ci_high
  {P_VALUES}
  permutation_method | text | Patterns | patterns of signs behind p (permutation): exact (all of
      them), sampled, or normal (from a thousand even differences on)
  family_p
  bh_p | chance | p (BH) | p-value after Benjamini and Hochberg's correction
  family family_method
  effect_size | signed | Cohen’s d | Cohen's d of the paired differences
  wins | count | A wins | number of queries that model_a wins
  ties | count | Equal | number of queries with equal scores
  losses | count | B wins | number of queries that model_b wins
  paired unpaired difference_std
  tied_queries | count | Tied queries | paired queries whose score depends on tie order
  p_tie p_tie_low p_tie_high p_equal p_tie_method
  truncated_queries | count | Cut queries | paired queries whose score depends on items that may be
      missing after the end of a list
  pooled

flips: flips
  model_a model_b metric cutoff
  expected_a | number | Expected A | mean over all tie orders, model_a; an estimate if lists may be cut
  expected_b | number | Expected B | mean over all tie orders, model_b; an estimate if lists may be cut
  shuffled_a | number | Shuffled A | mean over the random draws, model_a
  shuffled_b | number | Shuffled B | mean over the random draws, model_b
  naive_a | number | Naive A | mean of model_a with ties in the naive order: the order received,
      unless an option names another
  naive_b | number | Naive B | mean of model_b with ties in the naive order: the order received,
      unless an option names another
  lowest_a | number | Lowest A | mean under the worst tie order, model_a
  lowest_b | number | Lowest B | mean under the worst tie order, model_b
  highest_a | number | Highest A | mean under the best tie order, model_a
  highest_b | number | Highest B | mean under the best tie order, model_b
  value_a | | | mean of model_a that the verdict is about: over the paired queries, if the two were
      compared
  value_b | | | mean of model_b that the verdict is about
  unpaired disagree
  overlap | flag | Overlap | whether some tie orders put one model ahead and some the other
  difference_std p_tie p_tie_low p_tie_high p_equal p_tie_method pooled family_p family
      family_method verdict

reversals
  model_a model_b metric cutoff
  source | text | Source | what could reverse the lead of model_a; 'both' means new queries, seen in
      one tie order
  varied | text | Varied | what is drawn again while the rest stays
  reversal | chance | Probability | chance that one new draw of the source puts the other model
      ahead; empty: not known
  reversal_low | chance | At least | smallest possible chance, for tie order
  reversal_high | chance | At most | largest possible chance, for tie order
  family_p | | | p-value of the difference, corrected for all pairs, where queries, runs
      or data sets were tested
  verdict | | | whether the lead can be trusted as far as this source goes: safe up to a chance of
      0.05
  votes | count | Votes | number of other judges, or data sets, with a mean for both models
  votes_against | count | Against | how many of them put the other model ahead
  votes_level | count | Level | under how many of them the two are level
  advice | text | To vary it | what to pass if the data do not vary the source

judges
  judge | text | Judge | who judged what is relevant
  model metric cutoff value tie_std lowest highest rank
  own | flag | Own labels | whether the model's scores are this judge's labels; the model then
      judges itself
  abstains | flag | Nothing relevant | whether the judge finds nothing relevant; its means then say
      nothing about the models
  others_rank | tenth | Rank by others | median of its ranks under the other judges

judge_pairs
  model_a model_b metric cutoff
  value_a | | | mean of model_a under the judge of the headline
  value_b | | | mean of model_b under that judge
  difference
  judges | count | Judges | number of other judges that score both models, find something relevant,
      and are neither of the two models
  agree | share | Agree | share of these judges that order the two as the headline does; a judge
      under whom they are level counts half; empty: they are level in the headline, or there is no
      other judge
  against | text | Against | judges that order them the other way
  level | text | Level | judges under whom they are level

judge_agreement
  judge_a | text | Judge A | one judge; empty: all judges together
  judge_b | text | Judge B | another judge
  metric cutoff
  models | | | number of models that both rank
  tau | signed | Kendall’s τ | Kendall's τ-b between their orders of the models
  pairs | count | Shared pairs | pairs of a query and an item that both judged; in the row of all
      judges, that two or more judged
  same | share | Same label | share of these pairs with the same label from both
  kappa | signed | Cohen’s κ | agreement on labels beyond chance
  weighted_kappa | signed | Weighted κ | the same, with every disagreement weighted by the square of
      its size
  alpha | signed | Krippendorff’s α | the same by ranks of labels (ordinal), for two judges or all
  label_tau | signed | τ of labels | Kendall's τ-b between their labels, whatever their scales
  note | | | whether their labels are on different scales

replicates: stats.replicate_table
  metric cutoff rank model
  value | | | mean over the replicates, on the queries that all of them have
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
  residual_var | number | Rest (variance) | variance between replicates that differs by query,
      without that of tie order
  note | | | why no interval can be given: one replicate, one query or nothing to compare

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
  seed_reversal | share | Turned by the seed | share of the pairs of replicates, one of each model,
      that order the two the other way; a level pair counts half
  reversal | chance | Probability | chance that one new replicate of each model reverses the two
  replicates_a | count | Replicates of A | replicates of model_a
  replicates_b | count | Replicates of B | replicates of model_b
  queries | | | queries that all replicates of both have
  unpaired | | | queries that only some have, and which are left out
  verdict | | | safe (reversal up to 0.05), depends on the seed, too few runs (permuting them could
      not show any difference), equal or nothing to compare

datasets: stats.dataset_table
  metric cutoff rank model
  value | | | mean over the data sets of the means over their queries; empty if the model lacks one
  tie_std
  ci_low | | | lower end of the 95% interval, with data sets and queries as random samples
  ci_high
  rank_low | count | Best rank | best rank that the tests of all pairs over the data sets leave open
  rank_high | count | Worst rank | worst rank that they leave open
  datasets | count | Data sets | number of data sets in which the model has lists
  lacks | text | Lacks | data sets in which the model has no lists

dataset_scores: stats.dataset_scores
  metric cutoff
  dataset | text | Data set | data set of the queries
  rank
  model
  value | | | mean over the queries of the data set; empty if the model has no lists there
  tie_std ci_low ci_high queries

leaderboard: leaderboard
  metric cutoff policy rank model value tie_std lowest highest ci_low ci_high
  tie_rank_low | count | Best by ties | best rank under random tie order alone (95% interval); if
      lists are cut, it holds whatever items are missing
  tie_rank_high | count | Worst by ties | worst rank under random tie order alone, likewise;
      here models that are level in every order take a rank each, where tables let them share one
  query_rank_low | count | Best by queries | best rank that the tests of all pairs leave open: 1 +
      the number of significantly better models
  query_rank_high | count | Worst by queries | worst rank that they leave open: the number of models
      − that of significantly worse ones; copies count here, and not in tables, which show them in
      one row
  queries | | | number of queries that every model has a score for; everything but the tests uses
      only these
  unpaired | | | number of queries left out

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
  difference | | Model − baseline | mean of the model minus that of the baseline
  bound_low | signed | Lower bound | lower confidence bound of the difference; it allows for rare
      losses that these queries missed, so it may lie below the 95% interval of the pair
  bound_high | signed | Upper bound | upper confidence bound of the difference
  margin | number | Margin | the largest loss that does not matter, in points
  no_worse_p | chance | p (no worse) | p-value of the test for "no worse": it is small if a loss of
      the margin or more is implausible; the largest that cut lists and an unknown R leave open
  worse_p | chance | p (worse) | p-value of the test for "worse": it is small if a loss of less than
      the margin is implausible; likewise the largest
  verdict | | | no worse, worse, at random (within the margin, but its lists suit other queries as
      well or are ordered as if by chance), lists are cut, R is not known, nothing to compare, not
      significant over runs (other runs might not give it) or not decided; the first two hold
      whatever items cut lists lack and however large an unknown R is
  difference_std
  detectable | number | Detectable | the smallest loss that these queries would show with
      probability 0.8
  queries_needed | count | Queries if nothing is lost | number of queries that would show, with probability 0.8,
      that a model without any loss is no worse; tables have it only where these do not decide
  queries_if_observed | count | Queries as observed | the same if the true difference is the
      observed one; empty: no number of queries would, also where cut lists leave too much open
  largest_loss | number | Largest loss | the largest loss that a single query can have
  same_lists | flag | Same lists | whether its lists equal those of the baseline; nothing is then
      tested
  paired unpaired

deciding: stats.deciding_queries
  model_a model_b query metric cutoff policy
  value_a | | | score of model_a
  value_b | | | score of model_b
  difference | | | score of model_a minus that of model_b for this query
  lowest | | | the smallest difference that tie order and, in cut lists, missing items could give
  highest | | | the largest difference that they could give
  difference_std
  share | share | Share | part of the difference of the means that comes from this query
  decides | flag | Decides | whether the query is in the smallest set without whose differences the
      winner would not be ahead; of several such sets, that of the largest differences
  order_unsure | flag | May be reversed | whether tie order or, in cut lists, missing items can
      reverse the difference

estimates: stats.estimate
  model_a
  model_b | | | the model whose mean is subtracted from that of model_a; empty: the row is about
      model_a alone
  metric cutoff policy
  value | signed | Estimate | the mean or difference if people had judged all queries, estimated
      from their judgements of some and a machine's of all
  std_error | number | ± s.e. | standard error of the estimate under sampling of queries
  ci_low
  ci_high
  human_only | number | People alone | mean or difference over the queries that people judged (and
      the machine, too)
  human_low | number | People from | lower end of its 95% interval
  human_high | number | to | upper end of its 95% interval
  machine_only | number | Machine alone | mean or difference over all queries by the machine's judgements
  lambda | share | Trust | weight of the machine's judgements (λ), found from the queries that both
      judged
  gain | tenth | Gain | how many times as many queries people would have to judge for this error
      without the machine
  queries | | | number of queries that the machine judged
  judged | count | By people | how many of them people judged too

history: stats.history
  metric cutoff
  series | text | Model | model whose versions these are
  version | text | Version | the version that the pattern finds in the name of the run
  model value tie_std lowest highest ci_low ci_high queries
  difference | signed | Step | value minus that of the version before, on the queries of both
  step_p | chance | p (step) | p-value of the step from the version before, corrected by Holm for
      all steps that are tested
  p_tie | | | probability that a random tie order turns the step from the version before around;
      'level' if the expected means are equal
  p_tie_high
  marked | flag | Marked | whether neither tie order nor the choice of queries explains the step;
      empty: not known, as of lists that may be cut
  since_first | signed | Since the first | value minus that of the first version, on the queries of
      both; empty for the first two versions, of which the second has it as its difference
  first_p | chance | p (first) | p-value of that difference, corrected by Holm for all comparisons
      with the first and with the best version; empty up to the second version, whose step step_p tests
  best | text | Best before | the earlier version with the highest expected mean, from the third
      version on
  since_best | signed | Since the best | value minus that of the best version before, on the queries
      of both
  best_p | chance | p (best) | p-value of that difference, corrected by Holm for the same comparisons
      as first_p

segments: stats.segment_winners
  segment metric cutoff policy
  queries | | | number of queries in the segment
  winner | text | Winner | model with the highest mean in the segment
  value | | | mean of this winner in the segment
  overall_winner | text | Winner of all | model with the highest mean over all queries
  overall_value | number | Its score here | mean of that model in the segment
  difference | | Winner − overall | how far the winner of the segment is ahead of the overall
      winner, on the queries of both
  difference_std family_p
  segments_p | chance | p (segments) | family_p after Holm's correction over the segments
  verdict | | | same winner, other winner, not significant, no score of any model, or why the
      significant lead of another winner is not safe

costs: stats.cost_table
  cost | text | Cost | the kind of cost
  metric cutoff policy model
  amount | amount | Amount | what the model costs
  value tie_std lowest highest ci_low ci_high
  front | flag | On the front | whether no other model costs as little and scores as much; nor, of
      the baseline, costs less and is decided to be no worse
  front_in_every_order | flag | In every order | whether that holds even in the model's worst tie
      order and the best of all others
  beaten_by | text | In its place | the model with the highest score among those that keep it from
      the front; empty on the front

audit: audit
  system version call model
  metric | | | the metric that was chosen
  cutoff definition
  prints | number | Prints | the mean that the evaluator prints; a range, or empty, if its tie order
      is unknown and matters; empty if it would stop with an error
  prints_low | number | At least | the smallest value that it could print
  prints_high | number | At most | the largest value that it could print
  exact | number | Exact | the exact value of the chosen metric, of the lists as given
  expected | | | exact mean over all tie orders of the evaluator's own definition
  lowest | | | the smallest mean over all orders of the ties received; an evaluator that first rounds
      to float32 makes new ties, and may print less
  highest | | | the largest mean over all orders of the ties received; after rounding it may print more
  tie_std
  off | signed | By tie order | prints − expected: effect of tie order, and of
      rounding to float32 if the evaluator rounds; empty if prints is empty
  z | tenth | z | effect of tie order, in standard deviations of random tie order
  definition_shift | signed | By definition | expected − exact: effect of its definition
  winner | text | Names as best | model with the highest printed value; if the tie order is unknown,
      all models that could have it, however unlikely that is, joined by 'or'; of three or more
      the terminal prints how many
  exact_winner | text | Best without the accident | model with the highest expected value
  same_winner | flag | Same without ties | whether those named as best are just those that are best on
      average over all tie orders; also no if only one of several that are level is named; empty, or open:
      it could be either
  order note

conventions: systems.conventions
  definition call order system version
  metric | | | name of the metric
  row_order_up_to | count | Rows up to | lists of up to this many items keep the rows as received
  float32 | flag | Float32 | whether distances are rounded to float32 first, which makes ties
  seen | text | Sees | which relevant items count: all judged ones (others: except an item with the
      id of the query), or those in the list (samples: the relevant items come first in it)
  cutoffs | text | Cutoffs | any, whole (only complete lists) or given (only a whole number)
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
