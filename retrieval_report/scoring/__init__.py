"""Turn judged rankings into scores: one join, one layout, one scorer."""
