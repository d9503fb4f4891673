"""How other evaluators spell measures, in one table: what people paste means what it means there.

docs/metrics.md shows the same table. A depth may be part of a name (``P_10``, ``ndcg_cut.10``,
``map_at_10``); case, hyphens and underscores do not matter.
"""

import re

from retrieval_report.contracts.errors import ParameterError

# here | ir_measures | trec_eval and pytrec_eval | ranx | scikit-learn | torchmetrics
TABLE = """
precision | P, Precision | P_10 | precision | | RetrievalPrecision, retrieval_precision
precision@all | SetP | set_P | | |
recall | R, Recall | recall_10 | recall | | RetrievalRecall, retrieval_recall
recall@all | SetR | set_recall | | |
f1 | | | f1 | |
f1@all | SetF | set_F | | |
hit_rate | Success | success_10 | hit_rate | | RetrievalHitRate, retrieval_hit_rate
r_precision | Rprec, RPrec | Rprec | r-precision | | RetrievalRPrecision, retrieval_r_precision
num_rel_ret | NumRelRet, NumRet(rel=1) | num_rel_ret | hits | |
ap | AP, MAP | map, map_cut_10 | map | average_precision_score, label_ranking_average_precision_score |
ap(denominator=retrieved) | | | | | RetrievalMAP, retrieval_average_precision
rr | RR, MRR | recip_rank | mrr | | RetrievalMRR, retrieval_reciprocal_rank
ndcg | nDCG, NDCG | ndcg, ndcg_cut_10 | ndcg | |
ndcg(gain=exp2) | nDCG(dcg='exp-log2') | | ndcg_burges | |
ndcg(ideal=list) | | | | ndcg_score | RetrievalNormalizedDCG, retrieval_normalized_dcg
dcg | | | dcg | dcg_score |
dcg(gain=exp2) | | | dcg_burges | |
rbp | RBP | | rbp | |
rbp(p=0.95) | RBP(p=0.95) | | rbp.95 | |
err | ERR | | | |
bpref | Bpref, BPref | bpref | bpref | |
"""
# What has no counterpart, and why or what to call instead.
ELSEWHERE = {
    "infAP": "it estimates AP from a sample of judgements; bpref needs no judgement of every item",
    "alpha_nDCG alpha_DCG α_nDCG α_DCG ERR_IA nERR_IA AP_IA MAP_IA P_IA StRecall NRBP nNRBP": (
        "measures of diversity need judgements by subtopic, which no frame here has"
    ),
    "IPrec iprec_at_recall 11pt_avg": (
        "the mean of a largest precision over tie orders has no closed form; lists.recall_curve "
        "gives the mean precision at every recall"
    ),
    "Judged": "the profile has the share of judged items, lists.judgement_coverage that of a list",
    "Hole": (
        "the profile has the share of judged items, lists.judgement_coverage that of a list; the "
        "hole of BEIR and MTEB is 1 minus that share if an item counts as judged wherever any "
        "query has judged it"
    ),
    "nAUC": "it measures how well the scores of a model tell easy queries from hard ones",
    "p_MRR": "it compares two runs of the same queries, not a run with judgements",
    "NumRet(None) NumRet() NumRel num_rel NumQ num_q": (
        "the scores have it: items and n_relevant are columns, queries are rows"
    ),
    "mean_rank mean_r med_r MR MeanRank median_rank MedianRank": (
        "ranks are better where they are smaller; rr has their reciprocal, and expr.first_rank the "
        "expected, best and worst rank of every list"
    ),
    "gm_map gm_bpref": "means over queries are arithmetic",
    "SetAP set_map SetRelP SetP(relative=True) set_relative_P relative_P": (
        "of whole lists as sets there are precision@all, recall@all and f1@all"
    ),
    "BPM SDCG NERR8 NERR9 NERR10 NERR11 INST INSQ": "of models of users there are rbp, err and dcg",
    "Compat": "lists.ranking_similarity compares rankings with each other",
    "AUC ROC_AUC ROCAUC AUROC RetrievalAUROC retrieval_auroc": (
        "thresholds computes the area under the ROC curve (roc_auc) from the distances of all pairs"
    ),
    "Accuracy() RetrievalFallOut retrieval_fall_out G binG utility Rndcg ndcg_rel "
    "Rprec_mult": "nothing here measures the same",
}
DEPTH = re.compile(r"(?!rbp\.)(.+?)(?:_cut|_at)?[._](\d+(?:\.\d+)?)", re.IGNORECASE)
# sentence-transformers writes the data set and the similarity before the name
SIMILARITY = re.compile(
    r"(?:.+_)?(cosine|cos_sim|dot|dot_score|euclidean|manhattan|maxsim)[_-]", re.IGNORECASE
)
NAUC = re.compile(r"nauc_.+", re.IGNORECASE)  # MTEB writes the measure and the confidence behind it
RBP = re.compile(r"rbp(\.\d+)", re.IGNORECASE)  # ranx writes p behind the name


def _letters(name: str) -> str:
    return re.sub(r"[\s_-]", "", name).lower()


def _split(name: str) -> tuple[str, str | None]:
    """Return a name without its depth, and the depth."""
    with_depth = DEPTH.fullmatch(name)
    return (with_depth[1], with_depth[2]) if with_depth else (name, None)


SPELLINGS = {
    "acg": "acg",
    "wap": "wap",
    "apatr": "ap_at_r",
    "mapatr": "ap_at_r",
    "hit": "hit_rate",
    "numret": "num_rel_ret",
    **dict.fromkeys(("rcap", "recallcap", "cappedrecall"), "recall(denominator=min)"),
    **dict.fromkeys(("aptrapezoid", "trapezoidap", "oxfordap"), "ap(interpolation=trapezoid)"),
    # what sentence-transformers, MTEB, BEIR, RecBole and papers print
    **dict.fromkeys(
        ("accuracy", "acc", "topkaccuracy", "topkaccuracyscore", "hr", "hitratio", "cmc"),
        "hit_rate",
    ),
    **dict.fromkeys(("meanreciprocalrank", "reciprocalrank", "mrr"), "rr"),
    "inverseharmonicmeanrank": "rr",  # PyKEEN
    **dict.fromkeys(("meanaverageprecision", "averageprecision"), "ap"),
    **dict.fromkeys(("normalizeddiscountedcumulativegain", "normalizeddcg"), "ndcg"),
    "discountedcumulativegain": "dcg",
    "expectedreciprocalrank": "err",
    "rankbiasedprecision": "rbp",
    "hitrate": "hit_rate",
    "rprecision": "r_precision",
    "fscore": "f1",
} | {
    _letters(_split(name)[0]): ours.strip()
    for ours, others in (row.split("|", 1) for row in TABLE.strip().splitlines())
    for name in re.findall(r"[^\s|,(]+(?:\(.*?\))?", others)
}
NOT_HERE = {_letters(name): why for names, why in ELSEWHERE.items() for name in names.split()}


def spelled(name: str, arguments: str | None) -> tuple[str, str | None, str | None]:
    """Return how a measure is written here, with the arguments and the depth that remain.

    A name that is not known is returned as it is; one that has no counterpart is refused.

    >>> spelled("ndcg_cut.10", None), spelled("RBP", "p=0.8")
    (('ndcg', None, '10'), ('rbp', 'p=0.8', None))
    >>> spelled("NumRet", "rel=1"), spelled("rbp.9", None), spelled("SetP", None)
    (('num_rel_ret', '', None), ('rbp(p=0.9)', None, None), ('precision@all', None, None))
    >>> spelled("accuracy", None), spelled("cosine_mrr_at_10", None), spelled("dot_map", None)
    (('hit_rate', None, None), ('rr', None, '10'), ('ap(denominator=min)', None, None))
    >>> spelled("iprec_at_recall_0.10", None)
    Traceback (most recent call last):
    retrieval_report.ParameterError: measures: 'iprec_at_recall_0.10' is not among the metrics: the
    mean of a largest precision over tie orders has no closed form; lists.recall_curve gives the
    mean precision at every recall
    """
    theirs = SIMILARITY.match(name)
    name = name[theirs.end() :] if theirs else name
    stem, depth = _split(name)
    if theirs and _letters(stem) == "map":
        return "ap(denominator=min)", arguments, depth
    stem = "nAUC" if NAUC.fullmatch(name) else stem
    with_p = RBP.fullmatch(name)
    if with_p:
        return f"rbp(p=0{with_p[1]})", arguments, None
    readings = (f"{name}({arguments})", "", None), (name, arguments, None), (stem, arguments, depth)
    for text, remaining, at in readings:
        key = _letters(text)
        if key in NOT_HERE:
            raise ParameterError(f"measures: {name!r} is not among the metrics: {NOT_HERE[key]}")
        if key in SPELLINGS:
            return SPELLINGS[key], remaining, at
    return name, arguments, None
