"""From judged rankings to scores: one join, one layout, one scorer."""
