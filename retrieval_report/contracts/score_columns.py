"""The columns of frames about lists and scores, and of input frames."""

# First what is passed in; a frame that was read has these columns too. "board" has a row for every
# model: what tables for reading make of a summary. "facts" is what the dashboard says of the frames
# that it holds; "coverage" and "recall_curve" are means over the queries.
SCORED = """
rankings: read_rankings from_labels collapse
  given_model query item distance score
  relevance? | | | graded relevance, at least 0; may come from judgements instead
  mask given_weight row

counts: count_ties codes.count_codes
  given_model query distance score relevance
  count | count integer | Count | how many items share model, query, distance and relevance
  retrieved? | flag boolean | Retrieved | false: relevant items of the query that only other models
      retrieved; they have no distance, and make R known for several models
  truncated? | text word | Lists are | how the lists of the model end: no (they hold all items),
      between_ties or within_tie; null: not known

judgements: read_judgements lists.neighbour_judgements
  query
  item | | | the judged item
  relevance

query_facts: read_queries codes.count_relevant
  query
  label? | text label | Label | class of the query, for macro means
  weight? | text weight | Weight | weight of the query, for weighted means
  n_relevant? | count integer | Relevant | relevant items of the query, retrieved or not
  n_relevant_from? | count integer | Counted from | the relevance from which on n_relevant counts;
      at other levels, R is that of the items known

labels
  item
  label | text label | Label | class of the item

scores: evaluate evaluate_to rescored systems.evaluate_like codes.radius_scores
    lists.judgement_coverage lists.recall_curve
  model query metric cutoff policy
  value | | | the score; empty if the query was left out
  std | | | standard deviation of the score under random tie order; empty for naive, best and worst
      scores, and for truncated ones
  items | count | Items | number of items in the list
  n_relevant | | | R, the relevant items of the query: all judged ones, n_relevant of the frame of
      queries, or those that the models retrieved (see pooled); empty: this query has no judgements
  truncated pooled

summary: summarise
  model metric cutoff policy value tie_std lowest highest query_se ci_low ci_high queries
      no_relevant missing
  unjudged truncated_share pooled

board
  model metric cutoff measure expected tie_std naive naive_error shuffled lowest highest
      truncated_share query_se
  ci_low ci_high interval queries no_relevant missing unjudged rank
  shuffled_range | text | Shuffled, 5–95% | what one random tie order prints: from the 5th to the
      95th percentile of the mean over the queries; ≈ if only drawn orders say so
  tie_ranks | text | Ranks by ties, 95% | ranks that random tie order alone gives the model (95%
      interval of drawn normal means, of which no two are exactly level); models that are level in every
      order share them; if lists are cut, they hold whatever items are missing
  query_ranks | text | Ranks by queries | ranks that the tests over the queries leave open (for means
      over runs, those over queries and runs); models that share a row are not set against each other
  cost_amount | amount | Cost | what the model costs, by the first kind of cost
  answered | text | Answered | how many of the judged queries the model has a list for
  counts | text | A wins – Equal – B wins | number of queries that model_a wins, that are equal, and
      that model_b wins

shuffled: shuffled_means
  model metric cutoff
  draw | count | Draw | number of the random order, from 0
  value | | | mean over the queries under this order

three_scores
  model metric cutoff expected
  tie_std | | | exact standard deviation of the mean under random tie order; empty where lists may
      be cut
  order_low | number | 5% | 5th percentile of what one random tie order prints, the mean over the
      queries
  order_high | number | 95% | 95th percentile of the same
  order_method | text | Found by | how the percentiles were found: exact (the distribution of the
      mean), normal (from its exact mean and deviation, within the bounds) or drawn (from the
      deviation of the drawn orders, where lists may be cut and no other is known)
  lowest highest shuffled
  shuffled_std | number | ± drawn | standard deviation of the mean over the drawn orders
  first_order | number | First order | mean over the queries under the first drawn order: what a
      system that breaks ties at random prints once
  orders | count | Orders | random orders drawn
  naive
  off_by | signed | Naive is off by | naive − expected
  expected_rank | count | Rank, expected | rank by the expected score; models with equal scores
      share a rank
  shuffled_rank | count | Rank, one order | rank by the first drawn order; models with identical
      lists share it
  naive_rank | count | Rank, naive | rank by the naive score
  rank_can_change | flag | Some order changes the rank | whether some tie order, of cut lists one of the
      items given, gives the model another rank, however improbable that is; empty where items that
      may be missing could make it level with another model, and no known order does so
  copy_of | text | Copy of | the first model by name with the same lists and, by this
      measure, the same naive score, whose drawn orders stand in this row, too; empty if there is
      none

by_cutoff
  *three_scores

winners
  metric cutoff
  winner | text | Winner | model with the best expected mean; a = b if several are level
  naive_winner | text | Naive winner | model with the best naive mean; a = b if several are level
  orders | count | Orders | random orders drawn
  agreeing | count | Orders that agree | drawn orders in which an exact winner is first
  agreeing_chance | chance | Chance to agree | probability that a random order agrees, drawn for
      each model on its own, and once for those that share a row; empty where lists may be cut
  agreeing_method | text | Found by | exact (the distributions of the means), normal (from exact
      moments; as near as p_tie where only two models can come first) or drawn (lists may be cut,
      so that there are only the drawn orders)

queries: lists.query_table
  model query metric cutoff naive
  expected | | | mean of the score over all tie orders; an estimate if lists may be cut
  lowest highest std
  spread | number | Spread | highest − lowest
  naive_error truncated

profile: tie_profile
  model cutoff
  queries | | | lists with an item
  cut_share | share | Cut a tie | share of the lists whose cutoff splits a tie, as far as they show
  mixed_share | share | Mixed cut ties | share of the split ties whose items differ in relevance
      grade, so that their order changes scores that count grades
  ends_in_cut_tie | share | May end in a cut tie | share of the lists whose cutoff reaches into a last
      tie that the end of the list may have cut
  tie_median | tenth | Median tie | number of items in the ties that reach into the top k: median
  tie_p90 | tenth | 90th percentile | number of items in the ties that reach into the top k: 90th
      percentile
  tie_max | count | Largest tie | number of items in the largest tie that reaches into the top k
  tied_items | share | Tied items | share of the top k that shares its distance with another item
  mixed_items | share | In mixed ties | share of the top k that lies in a tie of different
      relevance grades
  items | tenth | Items | length of the lists (median)
  distances | tenth | Distinct values | different distances or scores in a list (median)
  bits | tenth | Bits | bits of information that distances give about the order (median)
  near_ties | share | Near ties | share of the gaps between neighbours that are no larger than
      rounding errors

health
  model | | | the model; empty: all of them
  finding | text | Finding | the kind of fault that the data may have: no list, other queries, no
      match, nothing relevant, other ids, spelling, judged ids, unjudged lists, reversed, printed ranks, same
      list, own item, wrong queries, shifted ids, unrelated, one tie, random order, grades, copied judgements,
      no relevant item, repeated judgements, fine judgements
  serious | flag | Serious | whether the fault alone would decide a comparison; the model then gets
      no verdict
  affected | count | Affected | how many queries, lists, items or judgements it affects
  total | count | Of | how many there are in all, or of those that were looked at
  example | text | Example | what shows the fault, or what follows from it
  message | text | Message | the finding as a sentence

hints: tie_hints
  model | | | the model; empty: all of them
  hint | text | Hint | the kind of oddity
  value | | | the number that the hint is based on
  message | text | Message | the hint as a sentence

grading_scale: lists.grading_scale
  model metric cutoff
  grades | count | Grades | different scores that the model gives
  value highest
  could_gain | number | Could gain | the most that a finer scale could add: highest − score
  coarser_grades | count | Merged grades | number of grades after every two neighbours are merged
  coarser | number | Score of merged grades | mean score with the merged grades
  scale_gain | signed | Gained by the scale | how much merging would lose: score − score of merged
      grades
  queries

truncation: truncated_lists
  model cutoff
  truncated | text | The lists | how the lists are treated: they hold all items (no), are cut after a whole
      tie (between_ties: items may follow), or within a tie (within_tie: items may also be missing from
      their last tie)
  reason | text | Because | the option or the proof behind this; 'not known' if there is neither
  lists | count | Lists | lists with an item
  shortest | count | Shortest | items of the shortest list
  longest | count | Longest | items of the longest list
  open_share | share | Open | share of the lists where the cutoff reaches items that may be missing;
      if it is 0, they are deep enough
  sufficient_depth | count | Depth enough | number of items per query that would probably have been
      enough: the cutoff plus four times the largest tie seen, without lists that are a single
      tie; empty: nothing is open, or it cannot be estimated

ties_at_cutoff: lists.ties_at_cutoff
  model query
  first | count | From rank | first rank of the tie
  last | count | To rank | last rank of the tie
  size | count | Items in the tie | number of items in the tie
  inside | count | Counted | how many of them come before the cutoff; chance decides which ones
  relevant | count | Relevant in it | number of relevant items in the tie
  mixed | flag | Mixed | whether its items differ in relevance grade

tie_groups: lists.tie_groups lists.ranking_ties
  given_model query item distance score relevance mask given_weight row
  rank? | | | rank in the order received, from 1
  tie | count | Tie | number of the tie in its list, from 1
  tie_start | count | From rank | first rank of the tie
  tie_size | count | Items in the tie | number of items in the tie
  tie_relevant | count | Relevant in it | number of relevant items in the tie
  text? | text | Text | content of the item, if a file of items was given
  image? | text | Picture | the item as a data: address, if a file of items was given

side_by_side: lists.side_by_side
  *tie_groups
  ranks | text | Ranks | ranks that the item can have under some tie order; a bracket holds items
      that tie
  other_ranks | text | Other list | ranks of the same item in the other list

score_distribution: lists.score_distribution
  value | | | a score that some tie order gives the list
  probability | chance | Probability | share of all tie orders that give this score
  method | text | Found by | exact (from all orders that differ) or draws (from random ones)
  orders | count | Orders | orders that the metric distinguishes, or that were drawn

distribution
  model metric cutoff
  value | | | a mean that random tie order can give
  probability | chance | Probability | how probable it is, exactly

duplicates: lists.duplicates
  item
  group | text id | Group | the first of the items that are the same
  copies | count | Copies | items of the group
  lists? | count | Lists | in how many lists the items of the group tie, if nothing else is known of
      them

query_weights: lists.query_weights
  model query metric
  weight | number | Weight | weight of the list: Σ w·g / Σ g

radius: codes.evaluate_radius
  model
  radius | text number | Radius | largest distance of the items that count
  precision | number | Precision | relevant items inside / items inside
  recall | number | Recall | relevant items inside / R
  f1 | number | F1 | 2 · relevant items inside / (items inside + R)
  hit_rate | number | Hit rate | share of the queries with a relevant item inside
  queries | | | queries in the means
  empty | share | Empty | share of all queries with no item inside

fingerprint
  frame rows models different_queries counted_items
  distances | count | Distinct values | different distances or scores
  sha256 | text | SHA-256 | SHA-256 of the frame as CSV text in the order received

facts
  frame rows models different_queries counted_items
  columns | text | Columns | names of its columns

coverage
  model metric cutoff
  value | | | judged: share of judged items; rbp_residual: the weight of ranks without a judged
      item, and of those beyond the list or the cutoff; lists are treated as complete
  tie_std | | | standard deviation of the mean under random tie order, exact
  queries

recall_curve
  model
  recall | number | Recall | level of recall, a share of the query's relevant items
  value | | | mean interpolated precision: the best at any rank with at least recall × R + 0.9 hits,
      rounded down as in trec_eval (R: relevant items of the query); all lists are treated as
      complete, even if they may be cut
  tie_std | | | standard deviation of the mean under random tie order, exact
  lowest | | | precision under the worst order inside ties
  highest | | | precision under the best order inside ties
  naive queries

similarity_means
  model_a model_b queries
  none | share | Same | share of the queries with the same ranks and ties
  ties | share | Only ties | share of the queries whose lists some tie order makes the same
  order | share | Other order | share of the queries with the same items in another order
  items | share | Other items | share of the queries with other items
  tau_b rbo_a rbo_low rbo_high

similarity: lists.ranking_similarity
  query
  items_a | count | Items of A | items of the first list
  items_b | count | Items of B | items of the second list
  shared | count | Shared | items of both lists
  change | text | Change | none, ties (some tie order makes the lists equal), order or items
  tau_b rbo_a rbo_low rbo_high

thresholds
  model
  threshold | exact number | Threshold | the largest distance, or the lowest score, that is
      accepted
  tp | amount | TP | accepted pairs that are relevant
  fp | amount | FP | accepted pairs that are not relevant
  tn | amount | TN | other pairs that are not relevant
  fn | amount | FN | other pairs that are relevant
  precision | number | Precision | TP / (TP + FP)
  recall | number | Recall | TP / (TP + FN)
  f1 | number | F1 | 2 TP / (2 TP + FP + FN)
  fpr | number | FPR | FP / (FP + TN)
  npv | number | NPV | TN / (TN + FN)
  accuracy | number | Accuracy | (TP + TN) / all pairs
  tie_std | | | standard deviation of the precision under random tie order

threshold_areas
  model
  roc_auc | number | ROC AUC | chance that a relevant pair is nearer than one that is not relevant;
      equal distances count as half
  roc_auc_low | number | AUC from | lower end of its 95% interval under sampling of queries
  roc_auc_high | number | to | upper end of the 95% interval of ROC AUC
  average_precision | number | AP by thresholds | sum over the thresholds of precision
      times the gain in recall
  average_precision_low | number | AP from | lower end of its 95% interval under sampling of queries
  average_precision_high | number | to | upper end of that interval
  ap | number | AP of one list | average precision of all pairs as one list, mean over all orders of
      tied pairs; empty if only the k nearest items count
  tie_std | | | standard deviation of this AP under random tie order
  relevant_pairs | amount | Relevant pairs | pairs that are relevant; a mean over all orders where
      the k nearest items end in a tie
  all_pairs | amount | All pairs | pairs of a query and one of its items

calibration
  model
  metric | | | the metric by which the threshold is chosen
  at_least | number | At least | the number that the metric has to reach; empty: its highest value
      is chosen
  threshold | exact number | Threshold | distance up to which, or score from which, items are
      accepted; empty: none reaches the number
  strictest | exact number | Strictest | strictest end of the 95% interval of the threshold under
      sampling of queries; empty: nothing is accepted, or there is no threshold
  loosest | exact number | Loosest | loosest end of the 95% interval of the threshold under
      sampling of queries
  value | | | the metric at the threshold
  ci_low ci_high
  precision | number | Precision | precision at the threshold
  recall | number | Recall | recall at the threshold
  f1 | number | F1 | F1 at the threshold
  queries

abstention
  model
  risk | number | Risk | share of the queries that may be answered wrongly
  threshold | exact number | Threshold | distance up to which, or score from which, the nearest
      item is given as the answer; empty: there is none
  bound | number | Bound | the risk that is guaranteed there
  answered | share | Answered | share of the queries that are answered, mean over tie orders
  wrong | share | Answered wrongly | share of the queries that are answered wrongly, mean over tie
      orders
  queries

knn_chances: knn
  model query
  label | text label | Label | true label of the query
  predicted | text label | Predicted | predicted label; empty: the query has no items
  chance | chance | Chance | probability that random tie order predicts this label

knn_accuracy
  model
  value | | Accuracy | share of the queries whose label is predicted, mean over all tie orders
  tie_std
  lowest | | | the lowest value that some tie order gives
  highest | | | the highest value that some tie order gives
  queries

knn_confusion
  model
  label | text label | Label | true label of the queries
  predicted | text label | Predicted | predicted label; empty: the queries have no items
  value | | Queries | how many of the queries are predicted to have the label, mean over all tie
      orders
  tie_std
  lowest | | | the lowest value that some tie order gives
  highest | | | the highest value that some tie order gives

knn_classes
  model
  label | text label | Label | the label that is predicted or missed
  metric | | | precision, recall or f1
  value | | | precision is of the predictions of this label, recall of its queries, F1 of both;
      mean over all tie orders
  tie_std
  lowest | | | the lowest value that some tie order gives
  highest | | | the highest value that some tie order gives
"""
