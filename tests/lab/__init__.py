"""The real stack on one machine: broker, application, traffic and Airflow under one supervisord, for demo and tests."""
