"""Reads again and again, judges and keeps; knows no Airflow."""
