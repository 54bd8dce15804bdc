"""Pure decisions: values in, a verdict or a plan out. No IO, no clock, no Airflow, no Spark."""
