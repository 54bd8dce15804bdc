"""The steps of `plan_change`."""
