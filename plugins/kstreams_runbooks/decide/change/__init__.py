"""A change judged: which rules fire, what they cost, and which runbook covers all of them."""
