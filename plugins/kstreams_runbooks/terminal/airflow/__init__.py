"""Airflow's public REST API, for a terminal and a CI: trigger a runbook, wait for its end, list open runs."""
