"""Airflow's public REST API, as a terminal and a CI use it: trigger a runbook, wait for its end, see what is open."""
