"""Judgement of a change: the rules that fire, their cost, and the runbook that covers all of them."""
