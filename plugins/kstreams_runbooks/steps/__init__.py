"""Building blocks of the DAGs: the only place of the package that knows Airflow."""
