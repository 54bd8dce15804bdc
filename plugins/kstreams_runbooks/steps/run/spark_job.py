"""A step that submits a job of `spark_jobs` through an Airflow connection of type spark."""

from collections.abc import Mapping, Sequence
from typing import Any

from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.providers.common.compat.sdk import AirflowException
from airflow.sdk.bases.hook import BaseHook
from airflow.sdk.exceptions import AirflowNotFoundException, AirflowRuntimeError

from kstreams_runbooks.errors import BadInput
from kstreams_runbooks.frames.ranges import OffsetRange
from kstreams_runbooks.steps.run.run import Run
from kstreams_runbooks.watch.spark_job import Submission, answered_by_job, job_file


def no_connection(conn_id: str = SparkSubmitHook.default_conn_name) -> str:
    """The reason why a job cannot be submitted, empty if it can: without a connection the hook would try YARN.

    BadInput for one whose jobs cannot see this worker's files.
    """
    try:
        connection = BaseHook.get_connection(conn_id)
    except (AirflowNotFoundException, AirflowRuntimeError):
        return f"no Airflow connection {conn_id} (type spark)"
    mode = connection.extra_dejson.get("deploy-mode") or "client"
    if mode != "client":
        raise BadInput(
            f"Airflow connection {conn_id}: deploy-mode {mode} (expected client): ranges and result are files of this "
            "worker; correct it, or set another conn_id"
        )
    return ""


class SparkJob(SparkSubmitOperator):
    """The base of a step with a job.

    `conn_id` is an Airflow connection of type spark, deploy mode client: ranges and result are files of this worker.
    """

    def __init__(self, *, job: str, **settings: Any) -> None:
        # Spark's warnings would be above our sentence; a connection or `conf` may set another level.
        conf = {"spark.log.level": "ERROR", **(settings.pop("conf", None) or {})}
        super().__init__(application=str(job_file(job)), conf=conf, **settings)
        self.job = job

    def no_connection(self) -> str:
        """The reason why a job cannot be submitted through this connection, empty if it can."""
        return no_connection(self._conn_id)

    def submitted(
        self, run: Run, ranges: Sequence[OffsetRange], options: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """The job's document; errors as `answered_by_job`."""
        return answered_by_job(self.job, run.kafka, ranges, self._submit, options)

    def _submit(self, made: Submission) -> bool:
        self.application_args, self.py_files, self.jars = list(made.words), made.py_files, made.jars
        self.env_vars = made.environment
        self._hook = self._get_hook()
        try:
            self._hook.submit(self.application)
        except AirflowException:
            return False
        return True
