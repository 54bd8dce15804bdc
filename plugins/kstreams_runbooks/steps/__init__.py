"""Building blocks of the DAGs: the only floor of the package that imports Airflow's task SDK."""
